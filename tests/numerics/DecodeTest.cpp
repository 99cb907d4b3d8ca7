// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries against many keys: plans that pack the heads of a group.
#include "NativeCall.h"
#include "TestRun.h"

#include "llvm/ADT/ScopeExit.h"

#include <cmath>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct DecodeSpec {
  const char *name;
  int64_t heads, kvHeads, headDim, valueDim;
  const char *clauses;
};

struct DecodeSizes {
  int64_t batch, queryLen, keyLen;
};
} // namespace

/// Groups of 1, 2, 4 and 8 heads, of which tiles have as many rows, and others;
/// channels that fill vectors, and others; all storages, types and terms that
/// such plans may have.
static const DecodeSpec specs[] = {
    {"one", 2, 2, 128, 128, "mask(#posenc.causal)"},
    {"two", 4, 2, 64, 64, "encode [#posenc.alibi<form = symmetric>]"},
    {"three", 6, 2, 64, 32, "mask(#posenc.causal) encode [#posenc.alibi]"},
    {"four", 8, 2, 128, 128, "mask(#posenc.causal) encode [#posenc.rope]"},
    {"eight", 16, 2, 64, 64,
     "mask(#posenc.causal) encode [#posenc.rope<pairing = interleaved>, "
     "#posenc.t5_bias]"},
    {"nine", 9, 1, 32, 32, "mask(#posenc.causal) encode [#posenc.alibi]"},
    {"many", 37, 1, 16, 16, "mask(#posenc.causal) encode [#posenc.alibi]"},
    {"odd", 8, 2, 20, 10, "mask(#posenc.causal) encode [#posenc.t5_bias]"},
    {"halves", 8, 2, 96, 72, "mask(#posenc.causal)"},
    {"one_vector", 4, 1, 16, 16, "mask(#posenc.causal)"},
    {"wide_value", 4, 1, 32, 256, "mask(#posenc.causal)"},
    {"tables", 8, 2, 32, 32,
     "encode [#posenc.t5_bias<direction = bidirectional>, "
     "#posenc.dense_bias, #posenc.softcap<cap = 20.0>]"},
    {"tree", 8, 2, 64, 64, "mask(#posenc.dense_mask) encode [#posenc.rope]"},
    {"tree_one", 2, 2, 64, 64, "mask(#posenc.dense_mask)"},
    {"sinks", 8, 2, 64, 64,
     "mask(#posenc.causal<top_left>) encode [#posenc.attention_sink]"},
    {"sinks_one", 3, 3, 64, 64,
     "mask(#posenc.causal) encode [#posenc.attention_sink]"},
    {"window", 8, 2, 64, 64,
     "mask(#posenc.window<left = 2100>) encode [#posenc.rope, "
     "#posenc.attention_sink]"},
    {"segments", 8, 2, 64, 64,
     "mask(#posenc.all<[#posenc.causal, #posenc.segments]>)"},
    {"by_position", 8, 2, 64, 64,
     "mask(#posenc.window<left = 70, by = position>) "
     "positions(#posenc.position_tensor) encode [#posenc.rope]"},
    {"norms", 8, 2, 64, 64,
     "mask(#posenc.causal) encode [#posenc.qk_norm<kind = rms, gain = channel, "
     "epsilon = 1.0e-6>, #posenc.rope]"},
    {"norm_over_heads", 8, 2, 32, 32,
     "mask(#posenc.causal) encode [#posenc.qk_norm<kind = rms, over = "
     "all_heads, epsilon = 1.0e-6>, #posenc.rope]"},
    {"forgetting", 4, 4, 64, 64, "mask(#posenc.causal) encode [#posenc.fox]"},
    {"two_keys", 8, 2, 64, 64,
     "mask(#posenc.causal) encode [#posenc.rerope<window = 9>]"},
    {"linear", 8, 2, 32, 32,
     "mask(#posenc.causal) encode [#posenc.linear_attention]"},
    {"bf16", 8, 2, 128, 128,
     "dtype(bf16) mask(#posenc.causal) encode [#posenc.rope]"},
    {"bf16_one", 2, 2, 64, 64, "dtype(bf16) mask(#posenc.causal)"},
    {"f16", 8, 2, 64, 64,
     "dtype(f16) mask(#posenc.causal) encode "
     "[#posenc.alibi]"},
    {"f16_eight", 8, 1, 64, 64, "dtype(f16) mask(#posenc.causal)"},
    {"i8", 8, 2, 64, 64,
     "kv_dtype(i8) kv_scales(token) mask(#posenc.causal) encode "
     "[#posenc.rope]"},
    {"f8", 4, 4, 64, 64,
     "kv_dtype(f8E4M3FN) kv_scales(head) mask(#posenc.causal)"},
    {"encoded", 8, 2, 64, 64,
     "keys(lengths) key_cache(encoded) mask(#posenc.causal) encode "
     "[#posenc.rope]"},
    {"lengths", 8, 2, 64, 64,
     "keys(lengths) mask(#posenc.causal) encode [#posenc.rope, "
     "#posenc.t5_bias]"},
    {"paged", 8, 2, 64, 64,
     "queries(packed) keys(paged) dtype(bf16) mask(#posenc.causal) encode "
     "[#posenc.rope]"},
    {"paged_codes", 8, 1, 64, 64,
     "keys(paged) kv_dtype(i8) kv_scales(token) mask(#posenc.causal)"},
    {"packed", 8, 2, 64, 64,
     "queries(packed) keys(packed) mask(#posenc.causal) encode [#posenc.rope, "
     "#posenc.alibi]"},
    {"packed_three", 6, 2, 64, 32,
     "queries(packed) keys(packed) encode [#posenc.alibi<form = symmetric>]"},
    {"paged_nine", 9, 1, 32, 32,
     "queries(packed) keys(paged) mask(#posenc.causal) encode [#posenc.rope]"},
    {"paged_many", 37, 1, 16, 16,
     "keys(paged) mask(#posenc.causal) encode [#posenc.alibi]"},
};

/// Tokens of speculation, lengths beside those of blocks and of parts, fewer
/// keys than queries. The fourth batch entry has no keys where its sequences
/// differ in length, and the third no queries.
static constexpr DecodeSizes sizes[] = {
    {1, 1, 1},    {2, 1, 17},  {3, 1, 300}, {1, 1, 4100}, {2, 2, 33},
    {1, 3, 70},   {1, 5, 310}, {2, 8, 200}, {1, 16, 90},  {1, 17, 90},
    {1, 2, 2600}, {1, 5, 3},   {2, 3, 0},   {1, 16, 7},   {4, 3, 90}};

static std::string getText(const DecodeSpec &spec) {
  return ("posenc.kernel @decode heads(" + Twine(spec.heads) + ") kv_heads(" +
          Twine(spec.kvHeads) + ") head_dim(" + Twine(spec.headDim) +
          ") value_dim(" + Twine(spec.valueDim) + ") " + spec.clauses)
      .str();
}

static ReferenceInputs fillInputs(const LoadedKernel &kernel,
                                  const DecodeSpec &spec, DecodeSizes size) {
  return makeInputs(kernel.spec->getKernel(),
                    {size.batch, spec.heads, spec.kvHeads, size.queryLen,
                     size.keyLen, spec.headDim, spec.valueDim},
                    11);
}

/// A shard of the heads computes what all of them do.
static void testShards(TestRun &run, const std::string &isa) {
  static constexpr DecodeSpec shard = {
      "",
      16,
      4,
      64,
      64,
      "mask(#posenc.causal) encode [#posenc.rope, #posenc.alibi, "
      "#posenc.attention_sink]"};
  LoadedKernel kernel;
  for (auto [first, count] :
       {std::pair<int64_t, int64_t>{0, 4}, {4, 8}, {12, 4}})
    runGuarded(run,
               ("decode/shard/" + isa + "/first=" + Twine(first) +
                "/heads=" + Twine(count))
                   .str(),
               [&, first = first, count = count]() -> std::string {
                 if (std::string problem = kernel.loadOnce(getText(shard), isa);
                     !problem.empty())
                   return problem;
                 DecodeSpec part = shard;
                 part.heads = count;
                 part.kvHeads = count / 4;
                 ReferenceInputs inputs = fillInputs(kernel, part, {2, 3, 90});
                 inputs.firstHead = first;
                 return checkNative(kernel, inputs, {});
               });
}

void posenc::numerics::testDecode(TestRun &run, ArrayRef<std::string> isas,
                                  bool full) {
  posenc_pool *pools[2] = {};
  for (auto [index, pool] : enumerate(pools))
    if (posenc_pool_create(static_cast<int>(index) + 2, &pool))
      report_fatal_error("no threads for the tests");
  scope_exit destroyPools([&] {
    for (posenc_pool *pool : pools)
      posenc_pool_destroy(pool);
  });
  static constexpr Arrangement arrangements[] = {
      Arrangement::Compact, Arrangement::Padded, Arrangement::Blhd};
  for (const std::string &isa : isas)
    testShards(run, isa);
  for (auto [index, spec] : enumerate(specs))
    for (auto [place, isa] : enumerate(isas)) {
      // One instruction set each, unless all are asked for.
      if (!full && place != 0 && index % isas.size() != place)
        continue;
      LoadedKernel kernel;
      for (auto [turn, size] : enumerate(sizes))
        runGuarded(
            run,
            ("decode/" + isa + "/" + spec.name + "/B=" + Twine(size.batch) +
             "/Lq=" + Twine(size.queryLen) + "/Lk=" + Twine(size.keyLen))
                .str(),
            [&, &spec = spec, &isa = isa, &size = size,
             turn = turn]() -> std::string {
              if (std::string problem = kernel.loadOnce(getText(spec), isa);
                  !problem.empty())
                return problem;
              if (size.queryLen > size.keyLen &&
                  kernel.spec->getKernel().looksUpQueriesAmongKeys())
                return ""; // which is refused
              NativeCall call;
              call.arrangement = arrangements[turn % 3];
              call.pool = pools[turn % 2];
              call.prepared = call.ownScratch = turn % 4 == 2;
              call.wantLse = kernel.spec->getKernel().exportsLse();
              return checkNative(kernel, fillInputs(kernel, spec, size), call);
            });
    }
}
