// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose steps have distances of their own, near the edges of these.
#include "NativeCall.h"
#include "TestRun.h"

#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static constexpr int64_t heads = 2, headDim = 20, valueDim = 10;

namespace {
/// Clauses with encodings, or a body that makes the score %s of %q, %k, the
/// positions %i and %j of their storage and the distance %r, and ends.
struct BandSpec {
  const char *name, *clauses, *lines;
};
} // namespace

#define SOFTMAX                                                                \
  "%p = posenc.normalize softmax %s\n"                                         \
  "%o = posenc.weighted_sum %p, %v\n"
#define NEAR_AND_FAR                                                           \
  "%near = posenc.dot %q, %k scale(0.4)\n"                                     \
  "%far = posenc.dot %q, %k scale(-0.3) channels([0, 3, 11])\n"

static constexpr BandSpec specs[] = {
    {"rerope", "mask(#posenc.causal) encode [#posenc.rerope<window = 100>]",
     nullptr},
    {"rerope_top_left",
     "mask(#posenc.causal<top_left>) positions(#posenc.iota<align = top_left>) "
     "encode [#posenc.rerope<window = 100>]",
     nullptr},
    // The mask is aligned otherwise than the positions.
    {"rerope_two_alignments",
     "mask(#posenc.causal<top_left>) encode [#posenc.rerope<window = 100>]",
     nullptr},
    {"leaky_window",
     "mask(#posenc.window<left = 250, right = 0>) "
     "encode [#posenc.leaky_rerope<window = 110>]",
     nullptr},
    {"self_extend_chunk",
     "mask(#posenc.chunk<size = 300>) "
     "encode [#posenc.self_extend<window = 100, group = 3>]",
     nullptr},
    {"narrow_mask",
     "mask(#posenc.window<left = 40, right = 0>) "
     "encode [#posenc.rerope<window = 100>]",
     nullptr},
    // Fewer keys than a tile has rows lie between mask and band.
    {"narrow_band", "mask(#posenc.causal) encode [#posenc.rerope<window = 17>]",
     nullptr},
    {"long_band", "mask(#posenc.causal) encode [#posenc.rerope<window = 2200>]",
     nullptr},
    {"rerope_paged",
     "keys(paged) mask(#posenc.causal) encode [#posenc.rerope<window = 100>]",
     nullptr},
    {"rerope_packed",
     "queries(packed) keys(lengths) dtype(bf16) mask(#posenc.causal) "
     "encode [#posenc.rerope<window = 100>]",
     nullptr},
    {"rerope_positions",
     "mask(#posenc.causal) positions(#posenc.position_tensor) "
     "encode [#posenc.rerope<window = 100>]",
     nullptr},
    {"shaw", "encode [#posenc.shaw<max_distance = 8>]", nullptr},
    {"shaw_causal",
     "mask(#posenc.causal) encode [#posenc.shaw<max_distance = 120>]", nullptr},
    {"shaw_window",
     "mask(#posenc.window<left = 250, right = 170>) "
     "encode [#posenc.shaw<max_distance = 8>]",
     nullptr},
    {"shaw_rerope",
     "mask(#posenc.causal) encode [#posenc.rerope<window = 100>, "
     "#posenc.shaw<max_distance = 8>]",
     nullptr},
    {"shaw_paged", "keys(paged) encode [#posenc.shaw<max_distance = 8>]",
     nullptr},
    {"nezha", "encode [#posenc.nezha<max_distance = 5, values = off>]",
     nullptr},
    {"deberta", "encode [#posenc.deberta<max_distance = 12>]", nullptr},
    // Both sides of a distance, and what lies between: three branches.
    {"two_sided", "", NEAR_AND_FAR R"(
%s = posenc.select %near else(%far) where(%r) : !posenc.relation {
^bb0(%d: f64):
  %w = arith.constant 130.0 : f64
  %a = math.absf %d : f64
  %c = arith.cmpf olt, %a, %w : f64
  posenc.yield %c : i1
}
)" SOFTMAX},
    {"future", "", NEAR_AND_FAR R"(
%s = posenc.select %near else(%far) where(%i, %j) : !posenc.coord, !posenc.coord {
^bb0(%a: f64, %b: f64):
  %w = arith.constant 33.0 : f64
  %x = arith.addf %a, %w : f64
  %c = arith.cmpf oge, %b, %x : f64
  posenc.yield %c : i1
}
)" SOFTMAX},
    {"offsets", "", NEAR_AND_FAR R"(
%i2 = posenc.position query law(#posenc.iota<offset = 30>)
%j2 = posenc.position key law(#posenc.iota<offset = -25>)
%s = posenc.select %near else(%far) mask(#posenc.window<left = 150, right = 0>) at(%i2, %j2)
)" SOFTMAX},
    {"nested", "", NEAR_AND_FAR R"(
%t = posenc.select %near else(%far) mask(#posenc.window<left = 400>) at(%i, %j)
%x = posenc.dot %q, %k scale(0.1)
%u = posenc.select %x else(%t) mask(#posenc.window<left = 120, right = 90>) at(%i, %j)
%s = posenc.select %u mask(#posenc.causal)
)" SOFTMAX},
    {"no_function_of_the_distance", "", NEAR_AND_FAR R"(
%s = posenc.select %near else(%far) where(%i, %j) : !posenc.coord, !posenc.coord {
^bb0(%a: f64, %b: f64):
  %w = arith.constant 400.0 : f64
  %x = arith.addf %a, %b : f64
  %c = arith.cmpf ole, %x, %w : f64
  posenc.yield %c : i1
}
)" SOFTMAX},
    {"buckets_of_keys", "", R"(
%b = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 5, 150], future_offset = 5>)
%t = posenc.table law(#posenc.operand<"t", rows = 10, channels = 20>) : !posenc.table<row, head, channel>
%w = posenc.table law(#posenc.operand<"w", rows = 10, channels = 10>) : !posenc.table<row, channel>
%x = posenc.table_dot %k, %t at(%b) scale(0.3) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
%y = posenc.dot %q, %k scale(0.3)
%s = posenc.add %x, %y
%p = posenc.normalize softmax %s
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.value_table %p, %w at(%b) : !posenc.table<row, channel>
%o = posenc.add %o1, %o2 : !posenc.output
)"},
    {"mapped_rows", "", R"(
%b = posenc.relation_map(%r) : !posenc.relation rows(4) {
^bb0(%d: f64):
  %n = arith.constant 100.0 : f64
  %two = arith.constant 2.0 : f64
  %x = arith.divf %d, %n : f64
  %y = math.floor %x : f64
  %z = arith.addf %y, %two : f64
  posenc.yield %z : f64
}
%t = posenc.table law(#posenc.operand<"t", rows = 4, channels = 20>) : !posenc.table<row, channel>
%w = posenc.table law(#posenc.operand<"w", rows = 4, channels = 10>) : !posenc.table<row, head, channel>
%x = posenc.table_dot %q, %t at(%b) scale(0.3) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
%y = posenc.dot %q, %k scale(0.3)
%s0 = posenc.add %x, %y
%s = posenc.select %s0 mask(#posenc.causal)
%p = posenc.normalize abs_sum %s bounds([1.0, 50.0])
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.value_table %p, %w at(%b) : !posenc.table<row, head, channel>
%o = posenc.add %o1, %o2 : !posenc.output
)"},
    {"descending",
     "mask(#posenc.causal) encode [#posenc.rerope<window = 100>, "
     "#posenc.stick_breaking]",
     nullptr},
};

static std::string makeText(const BandSpec &spec) {
  std::string text = ("posenc.kernel @bands heads(" + Twine(heads) +
                      ") kv_heads(1) head_dim(" + Twine(headDim) +
                      ") value_dim(" + Twine(valueDim) + ") " + spec.clauses)
                         .str();
  if (!spec.lines)
    return text;
  return text + R"( {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
)" + spec.lines +
         "posenc.yield %o : !posenc.output\n}\n";
}

// Lengths beside 100 distances, and beside those plus the rows of a tile; few
// queries; more queries than keys; keys in parts.
void posenc::numerics::testBands(TestRun &run, ArrayRef<std::string> isas,
                                 bool full) {
  static constexpr int64_t sizes[][2] = {
      {1, 1},    {99, 99},  {100, 100}, {101, 101}, {148, 149},
      {1, 101},  {2, 100},  {33, 147},  {57, 700},  {310, 310},
      {130, 60}, {300, 90}, {1, 700},   {49, 2500}, {1, 4300}};
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  for (auto [index, spec] : enumerate(specs))
    for (auto [place, isa] : enumerate(isas)) {
      // One instruction set each, unless all are asked for.
      if (!full && index % isas.size() != place)
        continue;
      LoadedKernel kernel;
      for (auto [queryLen, keyLen] : sizes)
        runGuarded(
            run,
            ("bands/" + Twine(spec.name) + "/" + isa +
             "/Lq=" + Twine(queryLen) + "/Lk=" + Twine(keyLen))
                .str(),
            [&, &isa = isa, &spec = spec, queryLen = queryLen,
             keyLen = keyLen]() -> std::string {
              if (std::string problem = kernel.loadOnce(makeText(spec), isa);
                  !problem.empty())
                return problem;
              KernelOp op = kernel.spec->getKernel();
              if (queryLen > keyLen && op.looksUpQueriesAmongKeys())
                return "";
              NativeCall call;
              call.wantLse = op.exportsLse();
              call.pool = keyLen > 2000 ? pool : nullptr;
              return checkNative(
                  kernel,
                  makeInputs(op,
                             {2, heads, 1, queryLen, keyLen, headDim, valueDim},
                             7),
                  call);
            });
    }
}
