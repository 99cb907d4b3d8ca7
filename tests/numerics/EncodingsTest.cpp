// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of every named encoding, scaling law and mask against the reference.
#include "NativeCall.h"
#include "TestRun.h"

#include "support/EncodingList.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static constexpr int64_t heads = 4, headDim = 16;

/// With what the line leaves to us.
static std::string makeText(StringRef clauses, bool isBF16) {
  std::string text = ("posenc.kernel @named heads(" + Twine(heads) +
                      ") head_dim(" + Twine(headDim) + ") ")
                         .str();
  if (!clauses.contains("kv_heads("))
    text += "kv_heads(2) ";
  if (!clauses.contains("value_dim("))
    text += "value_dim(10) ";
  if (isBF16 && !clauses.contains("dtype("))
    text += "dtype(bf16) ";
  return text + clauses.str();
}

static std::string checkSize(const LoadedKernel &kernel, int64_t queryLen,
                             int64_t keyLen) {
  KernelOp op = kernel.spec->getKernel();
  NativeCall call;
  call.prepared = queryLen == 3;
  call.wantLse = op.exportsLse();
  if (queryLen == 100)
    call.arrangement = Arrangement::Padded;
  return checkNative(kernel,
                     makeInputs(op,
                                {2, heads, op.getNumKvHeads(), queryLen, keyLen,
                                 headDim, op.getValueSize()},
                                9, 0.5),
                     call);
}

void posenc::numerics::testEncodings(TestRun &run, ArrayRef<std::string> isas,
                                     bool full) {
  // One token, and lengths beside those of tiles and blocks.
  static constexpr int64_t sizes[][2] = {{1, 1},     {3, 70},  {53, 53},
                                         {100, 130}, {70, 37}, {2, 700}};
  std::vector<std::string> lines = readEncodingList(POSENC_NUMERICS_ENCODINGS);
  std::vector<std::string> sets(isas);
  std::optional<std::string> pairs = findPairSet(run);
  if (pairs)
    sets.push_back(*pairs);
  for (auto [index, clauses] : enumerate(lines))
    for (auto [place, isa] : enumerate(sets)) {
      // One instruction set each, unless all are asked for.
      if (!full && index % sets.size() != place)
        continue;
      LoadedKernel kernel;
      for (auto [queryLen, keyLen] : sizes)
        runGuarded(run,
                   ("encodings/" + isa + "/Lq=" + Twine(queryLen) +
                    "/Lk=" + Twine(keyLen) + "/" + clauses)
                       .str(),
                   [&, &isa = isa, &clauses = clauses, queryLen = queryLen,
                    keyLen = keyLen]() -> std::string {
                     if (std::string problem = kernel.loadOnce(
                             makeText(clauses, isa == pairs), isa);
                         !problem.empty())
                       return problem;
                     // Queries that look themselves up among the keys are no
                     // more than these.
                     if (queryLen > keyLen &&
                         kernel.spec->getKernel().looksUpQueriesAmongKeys())
                       return "";
                     return checkSize(kernel, queryLen, keyLen);
                   });
    }
}
