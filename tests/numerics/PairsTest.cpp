// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of bf16 that multiply pairs of numbers at once.
#include "NativeCall.h"
#include "TestRun.h"

#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct PairSpec {
  const char *name;
  int64_t heads, kvHeads, headDim, valueDim;
  const char *clauses;
};
} // namespace

// Heads of 10 and of 34 channels end in a part of a
// vector; value columns fill no register tile, or leave one. Masks and runs of
// keys begin at odd keys.
static constexpr PairSpec specs[] = {
    {"plain", 2, 2, 128, 128, ""},
    {"plain64", 2, 1, 64, 64, ""},
    {"head_of_34", 2, 2, 34, 128, ""},
    {"odd_value", 2, 2, 64, 33, ""},
    {"small", 3, 1, 10, 6, "mask(#posenc.causal)"},
    {"one_channel", 2, 2, 2, 1, ""},
    {"causal", 4, 2, 64, 64, "mask(#posenc.causal)"},
    {"top_left", 2, 2, 64, 40, "mask(#posenc.causal<top_left>)"},
    {"window", 2, 2, 64, 64, "mask(#posenc.window<left = 101, right = 0>)"},
    {"both_sides", 2, 2, 64, 64, "mask(#posenc.window<left = 33, right = 77>)"},
    {"chunk", 2, 2, 64, 64, "mask(#posenc.chunk<size = 67>)"},
    {"segments", 2, 2, 64, 64, "mask(#posenc.segments)"},
    {"dense_mask", 2, 2, 64, 64, "encode [#posenc.dense_bias]"},
    {"blocks", 2, 2, 64, 64,
     "mask(#posenc.causal) blocks(#posenc.block_list<queries = 64, keys = "
     "28>)"},
    {"long_blocks", 2, 2, 64, 64,
     "blocks(#posenc.block_list<queries = 64, keys = 384>)"},
    {"large_scale", 2, 2, 64, 64, "scale(2.5)"},
    {"negative_scale", 2, 2, 64, 64, "scale(-0.5) mask(#posenc.causal)"},
    {"no_scale", 2, 2, 16, 16, "scale(1.0)"},
    {"lengths", 2, 2, 64, 64, "keys(lengths)"},
    {"packed", 4, 2, 64, 64,
     "queries(packed) keys(packed) mask(#posenc.causal)"},
    {"paged", 4, 2, 64, 64, "keys(paged) mask(#posenc.causal)"},
    {"paged_rope", 4, 2, 64, 64,
     "queries(packed) keys(paged) mask(#posenc.causal) encode [#posenc.rope]"},
    {"rope", 4, 2, 128, 64, "mask(#posenc.causal) encode [#posenc.rope]"},
    {"partial_rope", 2, 2, 64, 64,
     "encode [#posenc.rope<dims = 32, pairing = interleaved>]"},
    {"alibi", 4, 4, 64, 64, "mask(#posenc.causal) encode [#posenc.alibi]"},
    {"softcap", 2, 2, 64, 64, "encode [#posenc.softcap<cap = 20.0>]"},
    {"sinks", 2, 2, 64, 64,
     "mask(#posenc.causal) encode [#posenc.attention_sink]"},
    {"fox", 2, 2, 64, 64, "mask(#posenc.causal) encode [#posenc.fox]"},
    {"shaw", 2, 2, 64, 64, "encode [#posenc.shaw<max_distance = 8>]"},
    {"shaw_keys", 2, 2, 64, 64,
     "encode [#posenc.shaw<max_distance = 8, values = off>]"},
    {"stick_breaking", 2, 2, 64, 64,
     "mask(#posenc.causal) encode [#posenc.stick_breaking]"},
    {"rerope", 2, 2, 64, 64,
     "mask(#posenc.causal) encode [#posenc.rerope<window = 100>]"},
    {"dropout", 2, 2, 64, 64, "dropout(0.3)"},
};

static std::string makeText(const PairSpec &spec) {
  return ("posenc.kernel @pairs heads(" + Twine(spec.heads) + ") kv_heads(" +
          Twine(spec.kvHeads) + ") head_dim(" + Twine(spec.headDim) +
          ") value_dim(" + Twine(spec.valueDim) + ") dtype(bf16) " +
          spec.clauses)
      .str();
}

static std::string checkSize(const LoadedKernel &kernel, int64_t queryLen,
                             int64_t keyLen, posenc_pool *pool) {
  KernelOp op = kernel.spec->getKernel();
  if (queryLen > keyLen && op.looksUpQueriesAmongKeys())
    return "";
  NativeCall call;
  call.wantLse = op.exportsLse();
  call.prepared = queryLen == 49;
  call.pool = keyLen > 600 ? pool : nullptr;
  if (queryLen % 2 != 0)
    call.arrangement = Arrangement::Padded;
  Extents extents = {2,
                     static_cast<int64_t>(op.getHeads()),
                     op.getNumKvHeads(),
                     queryLen,
                     keyLen,
                     static_cast<int64_t>(op.getHeadDim()),
                     op.getValueSize()};
  return checkNative(kernel, makeInputs(op, extents, 11), call);
}

void posenc::numerics::testPairs(TestRun &run) {
  std::optional<std::string> isa = findPairSet(run);
  if (!isa)
    return;
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(2, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  // Few queries have a plan without pairs.
  static constexpr int64_t sizes[][2] = {
      {3, 1},    {17, 1},    {1, 33},   {31, 32},   {48, 255}, {49, 256},
      {96, 257}, {100, 513}, {130, 61}, {300, 300}, {33, 2501}};
  for (const PairSpec &spec : specs) {
    LoadedKernel kernel;
    for (auto [queryLen, keyLen] : sizes)
      runGuarded(run,
                 ("pairs/" + Twine(spec.name) + "/Lq=" + Twine(queryLen) +
                  "/Lk=" + Twine(keyLen))
                     .str(),
                 [&, queryLen = queryLen, keyLen = keyLen]() -> std::string {
                   std::string problem = kernel.loadOnce(makeText(spec), *isa);
                   return problem.empty()
                              ? checkSize(kernel, queryLen, keyLen, pool)
                              : problem;
                 });
  }
}
