// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that compute the blocks which the caller lists.
#include "NativeCall.h"
#include "TestRun.h"

#include "posenc/Reference/Accuracy.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct BlockSpec {
  const char *name, *mask, *clauses;
  int64_t queries, keys;
};
} // namespace

static const BlockSpec specs[] = {
    {"plain", "#posenc.full", "", 16, 16},
    {"odd", "#posenc.full", "encode [#posenc.alibi<form = symmetric>]", 7, 13},
    {"causal", "#posenc.causal", "encode [#posenc.rope, #posenc.t5_bias]", 64,
     32},
    {"tall", "#posenc.causal", "", 128, 64},
    {"single", "#posenc.causal", "", 1, 1},
    {"window", "#posenc.window<left = 90, right = 5>", "encode [#posenc.rope]",
     48, 20},
    {"segments", "#posenc.all<[#posenc.causal, #posenc.segments]>", "", 33, 40},
    {"values", "#posenc.full", "encode [#posenc.shaw<max_distance = 8>]", 50,
     10},
    {"sinks", "#posenc.causal", "encode [#posenc.attention_sink]", 32, 32},
    {"linear", "#posenc.causal", "encode [#posenc.linear_attention]", 32, 32},
    {"bf16", "#posenc.causal", "dtype(bf16)", 32, 64},
    {"lengths", "#posenc.causal", "keys(lengths)", 32, 32},
    {"packed", "#posenc.causal", "queries(packed) keys(packed)", 24, 40},
    {"paged", "#posenc.causal", "queries(packed) keys(paged) kv_dtype(f16)", 24,
     24},
    {"ring", "#posenc.window<left = 200>", "keys(ring) encode [#posenc.alibi]",
     24, 24},
};

/// A kernel with a mask and more clauses.
static std::string getText(const BlockSpec &spec, StringRef mask,
                           StringRef blocks) {
  return ("posenc.kernel @listed heads(4) kv_heads(2) head_dim(16) "
          "value_dim(10) mask(" +
          mask + ") " + blocks + " " + spec.clauses)
      .str();
}

static std::string getBlocks(const BlockSpec &spec) {
  return ("blocks(#posenc.block_list<queries = " + Twine(spec.queries) +
          ", keys = " + Twine(spec.keys) + ">)")
      .str();
}

static std::string check(const LoadedKernel &kernel, ArrayRef<int64_t> sizes) {
  NativeCall call;
  call.wantLse = kernel.spec->getKernel().exportsLse();
  return checkNative(kernel,
                     makeInputs(kernel.spec->getKernel(),
                                {sizes[0], 4, 2, sizes[1], sizes[2], 16, 10},
                                8),
                     call);
}

/// The lists of a call that leaves nothing out.
static void listAll(const BlockSpec &spec, ReferenceInputs &inputs) {
  int64_t rows = (inputs.q.shape[2] + spec.queries - 1) / spec.queries;
  int64_t columns = (inputs.k.shape[2] + spec.keys - 1) / spec.keys;
  IntTensor offsets{{1, 1, rows + 1}, {0}}, indices{{rows * columns}, {}};
  for (int64_t row = 0; row < rows; ++row) {
    offsets.data.push_back((row + 1) * columns);
    for (int64_t column = 0; column < columns; ++column)
      indices.data.push_back(column);
  }
  inputs.positions["blocks.offsets"] = offsets;
  inputs.positions["blocks.indices"] = indices;
}

/// What the lists show, as an operand with a number for each pair.
static RealTensor makeMask(const BlockSpec &spec,
                           const ReferenceInputs &inputs) {
  const IntTensor &offsets = inputs.positions.find("blocks.offsets")->second;
  const IntTensor &indices = inputs.positions.find("blocks.indices")->second;
  int64_t heads = offsets.shape[1], width = offsets.shape[2],
          queries = inputs.q.shape[2], keys = inputs.k.shape[2];
  RealTensor mask{{heads, queries, keys}, {}};
  mask.data.assign(heads * queries * keys, 0);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < queries; ++i) {
      int64_t row = h * width + i / spec.queries;
      for (int64_t at = offsets.data[row]; at < offsets.data[row + 1]; ++at)
        for (int64_t j = indices.data[at] * spec.keys;
             j < std::min(keys, (indices.data[at] + 1) * spec.keys); ++j)
          mask.data[(h * queries + i) * keys + j] = 1;
    }
  return mask;
}

static std::string compareWith(const LoadedKernel &kernel, StringRef other,
                               ReferenceInputs inputs,
                               const ReferenceInputs &others) {
  NativeResults results;
  NativeCall call;
  if (std::string problem = callNative(kernel, inputs, call, results);
      !problem.empty())
    return problem;
  ReferenceOutputs wanted = evaluate(Spec(other).getKernel(), others);
  ReferenceOutputs listed = evaluate(kernel.spec->getKernel(), inputs);
  if (std::string problem = compareAll(listed, wanted, 0); !problem.empty())
    return "the references differ: " + problem;
  if (Accuracy o = measureOutput(wanted, results.o, kernel.getRounding());
      !o.isAccurate())
    return o.describe("o");
  Accuracy lse = measureLse(wanted, results.lse);
  return lse.isAccurate() ? "" : lse.describe("lse");
}

/// All blocks are what no list is; a list is what an operand for each pair is.
static void testMeanings(TestRun &run, const std::string &isa) {
  for (const BlockSpec &spec : {specs[1], specs[2], specs[5]}) {
    LoadedKernel kernel;
    for (bool isFull : {false, true})
      run.test(
          "blocks/" + isa + "/" + spec.name +
              (isFull ? "/full" : "/as_operand"),
          [&]() -> std::string {
            if (std::string problem = kernel.loadOnce(
                    getText(spec, spec.mask, getBlocks(spec)), isa);
                !problem.empty())
              return problem;
            ReferenceInputs inputs = makeInputs(kernel.spec->getKernel(),
                                                {2, 4, 2, 150, 310, 16, 10}, 8);
            if (isFull) {
              listAll(spec, inputs);
              return compareWith(kernel, getText(spec, spec.mask, ""), inputs,
                                 inputs);
            }
            ReferenceInputs masked = inputs;
            masked.tables["mask"] = makeMask(spec, inputs);
            std::string both =
                ("#posenc.all<[" + Twine(spec.mask) + ", #posenc.dense_mask]>")
                    .str();
            return compareWith(kernel, getText(spec, both, ""), inputs, masked);
          });
  }
}

/// Blocks of long heads whose copies would be too large: each is cut.
static void testCut(TestRun &run, const std::string &isa) {
  runGuarded(run, "blocks/" + isa + "/cut", [&]() -> std::string {
    LoadedKernel kernel;
    std::string problem = kernel.load(
        "posenc.kernel @cut heads(4) kv_heads(2) head_dim(256) dtype(bf16) "
        "mask(#posenc.causal) "
        "blocks(#posenc.block_list<queries = 64, keys = 60>)",
        isa);
    if (!problem.empty())
      return problem;
    return checkNative(
        kernel,
        makeInputs(kernel.spec->getKernel(), {1, 4, 2, 90, 310, 256, 256}, 8),
        {});
  });
}

void posenc::numerics::testBlocks(TestRun &run, ArrayRef<std::string> isas,
                                  bool full) {
  static constexpr int64_t sizes[][3] = {
      {1, 1, 1}, {2, 53, 300}, {3, 5, 900}, {1, 300, 300}, {1, 2, 4000}};
  for (auto [place, isa] : enumerate(isas)) {
    for (auto [index, spec] : enumerate(specs)) {
      // One instruction set each, unless all are asked for.
      if (!full && index % isas.size() != place)
        continue;
      LoadedKernel kernel;
      for (ArrayRef<int64_t> size : sizes)
        runGuarded(run,
                   ("blocks/" + isa + "/" + Twine(spec.name) +
                    "/B=" + Twine(size[0]) + "/Lq=" + Twine(size[1]) +
                    "/Lk=" + Twine(size[2]))
                       .str(),
                   [&, &spec = spec, &isa = isa]() -> std::string {
                     if (std::string problem = kernel.loadOnce(
                             getText(spec, spec.mask, getBlocks(spec)), isa);
                         !problem.empty())
                       return problem;
                     return check(kernel, size);
                   });
    }
    testMeanings(run, isa);
    testCut(run, isa);
  }
}
