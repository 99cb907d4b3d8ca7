// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of identities change kernels and not what they compute.
#include "IdentityTest.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace posenc;

namespace {

using PassMaker = std::unique_ptr<Pass> (*)();

std::unique_ptr<Pass> makePositions() {
  return createPosencSimplifyPositions();
}
std::unique_ptr<Pass> makeVectors() { return createPosencSimplifyVectors(); }
std::unique_ptr<Pass> makeScores() { return createPosencSimplifyScores(); }
std::unique_ptr<Pass> makeNetworks() {
  PosencSimplifyScoresOptions options;
  options.networks = true;
  return createPosencSimplifyScores(options);
}

struct Rewrite {
  const char *name;
  PassMaker pass;
  const char *clauses;
  /// Make the score %s.
  const char *operations;
  /// Row constants show in scores and in nothing else.
  bool sameScores = true;
  double tolerance = 1e-12;
};

/// Angles of larger positions are less exact: 1e3 radians to 1e-13.
constexpr double ofAngles = 1e-10;

const Rewrite rewrites[] = {
    // 1: a constant shift of all positions.
    {"ShiftOfRotationsAndDistances", makePositions, "", R"(
  %i = posenc.position query law(#posenc.iota<offset = 1000>)
  %j = posenc.position key law(#posenc.iota<offset = 1000>)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 6>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(2) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(2) : !posenc.key
  %q2 = posenc.vector_norm %q1 rms over(head) epsilon(1.0e-6) added : !posenc.query
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %t = posenc.table law(#posenc.operand<"t", rows = 5>) : !posenc.table<row, head>
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %s0 = posenc.dot %q2, %k1 scale(0.5)
  %s1 = posenc.add %s0, %b
  %s = posenc.select %s1 mask(#posenc.window<left = 3, right = 3>) at(%i, %j)
)",
     true, ofAngles},
    {"ShiftOfMappedPositions", makePositions, "", R"(
  %i = posenc.position query law(#posenc.iota<offset = -70>)
  %j = posenc.position key law(#posenc.iota<offset = -70>)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %three = arith.constant 3.0 : f64
    %x = arith.divf %p, %three : f64
    posenc.yield %x : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %three = arith.constant 3.0 : f64
    %x = arith.divf %p, %three : f64
    posenc.yield %x : f64
  }
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %q1 = posenc.rotate %q by(%i1) freqs(%f) pairing(interleaved) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j1) freqs(%f) pairing(interleaved) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
)",
     true, ofAngles},
    {"ShiftOfTwoAxes", makePositions, "", R"(
  %i = posenc.position query law(#posenc.iota<offset = 9>)
  %j = posenc.position key law(#posenc.iota<offset = 9>)
  %x = posenc.position query law(#posenc.position_tensor)
  %y = posenc.position key law(#posenc.position_tensor)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.0, 0.1]>)
  %g = posenc.freqs law(#posenc.frequencies<[0.0, 0.3, 0.0]>)
  %q1 = posenc.rotate %q by(%i, %x) freqs(%f, %g) pairing(half) first_dim(1) : !posenc.query
  %k1 = posenc.rotate %k by(%j, %y) freqs(%f, %g) pairing(half) first_dim(2) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5) channels([1, 2, 6])
)",
     true, ofAngles},
    // 3: rotations commute with norms and factors; two factors are one.
    {"NormsAndFactorsAroundRotations", makeVectors, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 6>)
  %q0 = posenc.row_scale %q(%i) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %x = math.cos %p : f64
    posenc.yield %x : f64
  }
  %q1 = posenc.rotate %q0 by(%i) freqs(%f) pairing(half) first_dim(2) : !posenc.query modulus {
  ^bb0(%pair: f64, %p: f64):
    %x = math.exp %pair : f64
    posenc.yield %x : f64
  }
  %q2 = posenc.row_scale %q1(%m) : !posenc.query, !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(interleaved) first_dim(0) : !posenc.key
  %k2 = posenc.vector_norm %k1 l2 over(head) epsilon(0.1) floor : !posenc.key
  %s = posenc.dot %q2, %k2 scale(0.5)
)"},
    {"NormsOverAllHeads", makeVectors, "", R"(
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %k2 = posenc.vector_norm %k1 rms over(all_heads) epsilon(0.1) added : !posenc.key
  %s = posenc.dot %q, %k2 scale(0.5)
)"},
    // 4: scaled positions are scaled frequencies.
    {"ScaledPositions", makePositions, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.position_tensor)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %a = arith.constant 7.0 : f64
    %b = arith.constant 3.5 : f64
    %x = arith.addf %p, %b : f64
    %y = arith.divf %x, %a : f64
    posenc.yield %y : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %a = arith.constant -1.25 : f64
    %x = arith.mulf %p, %a : f64
    posenc.yield %x : f64
  }
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %w = posenc.table law(#posenc.operand<"w", rows = 4>) : !posenc.table<row>
  %g = posenc.freqs_map(%w) : !posenc.table<row> pairs(4) {
  ^bb0(%pair: f64, %length: f64, %x: f64):
    %y = arith.divf %x, %length : f64
    posenc.yield %y : f64
  }
  %q1 = posenc.rotate %q by(%i1) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j1) freqs(%g) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %p: f64):
    %x = math.exp %pair : f64
    posenc.yield %x : f64
  }
  %s = posenc.dot %q1, %k1 scale(0.5)
)"},
    // 5: a modulus of all channels is a scale.
    {"ModulusOfAllChannels", makeVectors, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %p: f64):
    %m = arith.constant 1.25 : f64
    posenc.yield %m : f64
  }
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %p: f64):
    %m = arith.constant 1.25 : f64
    posenc.yield %m : f64
  }
  %q2 = posenc.row_scale %q1(%i) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %x = math.cos %p : f64
    posenc.yield %x : f64
  }
  %s = posenc.dot %q2, %k1 scale(0.5)
)"},
    {"ModulusOfTheChannelsThatAreRead", makeVectors, "", R"(
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 4>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(4) : !posenc.key modulus {
  ^bb0(%pair: f64, %p: f64):
    %m = arith.constant 0.75 : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5) channels([0, 4, 4])
)"},
    {"ConstantFactors", makeVectors, "", R"(
  %q1 = posenc.row_scale %q() : !posenc.query {
    %m = arith.constant 3.0 : f64
    posenc.yield %m : f64
  }
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %t = posenc.table law(#posenc.operand<"t", rows = 3, channels = 8>) : !posenc.table<row, channel>
  %s0 = posenc.dot %q1, %k scale(0.5)
  %s1 = posenc.table_dot %q1, %t at(%r) scale(0.5) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %s = posenc.add %s0, %s1
)"},
    // 6: a vector that all keys are multiplied with is one of the queries.
    {"VectorsOfProductsWithKeys", makeScores, "", R"(
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %c = posenc.dot %q, %k1 scale(0.5)
  %b = posenc.table_dot %k, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
  %a = posenc.dot %q, %k scale(0.5)
  %cb = posenc.add %c, %b
  %s = posenc.add %cb, %a
)"},
    {"VectorsOfProductsWithKeysUnderACap", makeScores, "", R"(
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %a = posenc.dot %q, %k scale(0.5)
  %b = posenc.table_dot %k, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
  %ab = posenc.add %b, %a
  %s = posenc.map %ab() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
)"},
    // 7: row constants, of head and query.
    {"RowConstants", makeScores, "no_lse", R"(
  %i = posenc.position query law(#posenc.iota)
  %m = posenc.table law(#posenc.constants<[0.5, -3.0]>) : !posenc.table<head>
  %b = posenc.bias(%i, %m) : !posenc.coord, !posenc.table<head> {
  ^bb0(%p: f64, %x: f64):
    %y = arith.mulf %p, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.add %s0, %b
  %s = posenc.select %s1 mask(#posenc.causal)
)",
     false},
    // Parts of a region, and biases of one sum.
    {"ConstantPartsAndMergedBiases", makeScores, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %b0 = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %e = math.exp %x : f64
    %y = arith.mulf %d, %e : f64
    posenc.yield %y : f64
  }
  %b1 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %y = math.cos %d : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.add %s0, %b0
  %s = posenc.add %s1, %b1
)"},
    // 12: scaled positions are scaled slopes.
    {"ScaledDistances", makePositions, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %a = arith.constant 7.0 : f64
    %b = arith.constant 0.5 : f64
    %x = arith.divf %p, %a : f64
    %y = arith.addf %x, %b : f64
    posenc.yield %y : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %a = arith.constant 7.0 : f64
    %x = arith.divf %p, %a : f64
    posenc.yield %x : f64
  }
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %r = posenc.relation %i1, %j1 law(#posenc.difference<query_minus_key>)
  %n = posenc.relation %i1, %j1 law(#posenc.difference<key_minus_query>)
  %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %y = arith.mulf %d, %x : f64
    posenc.yield %y : f64
  }
  %q1 = posenc.row_scale %q(%i1) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %y = math.cos %p : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q1, %k scale(0.5)
  %s1 = posenc.add %s0, %b
  %s2 = posenc.map %s1(%n, %j1) : !posenc.relation, !posenc.coord {
  ^bb0(%x: f64, %d: f64, %p: f64):
    %y = math.sin %d : f64
    %z = arith.mulf %y, %p : f64
    %w = arith.addf %x, %z : f64
    posenc.yield %w : f64
  }
  %s = posenc.select %s2 where(%i1, %j1) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %near = arith.cmpf oge, %x, %y : f64
    posenc.yield %near : i1
  }
)"},
    // 15: a network of rectifiers is piecewise linear. Slopes are sums of the
    // units' in another order.
    {"NetworkOfEveryHead", makeNetworks, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %c = posenc.table law(#posenc.operand<"c">) : !posenc.table<head>
  %m = posenc.sum_index extent(5)
  %w1 = posenc.table law(#posenc.constants<[0.5, -1.0, 0.0, 2.0, 1.0]>) : !posenc.table<row>
  %b1 = posenc.table law(#posenc.constants<[1.0, 0.5, 3.0, -1.0, 2.0]>) : !posenc.table<row>
  %w2 = posenc.table law(#posenc.constants<[0.5, 1.5, -2.0, 0.25, 1.0, -1.0, 0.75, 0.0, -3.0, 0.0]>) : !posenc.table<row, head>
  %b = posenc.bias(%i, %r, %c, %m, %w1, %b1, %w2) : !posenc.coord, !posenc.relation, !posenc.table<head>, !posenc.relation, !posenc.table<row>, !posenc.table<row>, !posenc.table<row, head> {
  ^bb0(%p: f64, %d: f64, %y: f64, %unit: f64, %x1: f64, %x2: f64, %x3: f64):
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %near = math.absf %d : f64
    %cd = arith.mulf %near, %y : f64
    %top = math.sin %cd : f64
    %far = math.absf %p : f64
    %bottom = arith.addf %far, %one : f64
    %input = arith.divf %top, %bottom : f64
    %a = arith.mulf %x1, %input : f64
    %hidden = arith.addf %a, %x2 : f64
    %active = arith.maximumf %hidden, %zero : f64
    %out = arith.mulf %x3, %active : f64
    posenc.yield %out : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
)"},
    {"NetworkWithLeaksAndLimits", makeNetworks, "", R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<key_minus_query>)
  %m = posenc.sum_index extent(3)
  %w = posenc.table law(#posenc.constants<[0.5, -1.0, 2.0]>) : !posenc.table<row>
  %b = posenc.bias(%r, %m, %w) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %unit: f64, %x: f64):
    %a = arith.mulf %d, %x : f64
    %limited = arith.minimumf %a, %unit : f64
    %slope = arith.constant 0.125 : f64
    %leak = arith.mulf %d, %slope : f64
    %two = arith.constant 2.0 : f64
    %half = arith.divf %limited, %two : f64
    %y = arith.subf %leak, %half : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
)"},
};

class RewritesTest : public IdentityTest,
                     public testing::WithParamInterface<Rewrite> {};

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

TEST_P(RewritesTest, KeepsWhatIsComputed) {
  const Rewrite &rewrite = GetParam();
  auto before = parse(withSoftmax(rewrite.operations, rewrite.clauses));
  OwningOpRef<ModuleOp> after = before->clone();
  auto run = [&] {
    PassManager manager(&context);
    manager.addPass(rewrite.pass());
    ASSERT_TRUE(succeeded(manager.run(*after)));
  };
  run();
  std::string once = print(*after);
  EXPECT_NE(once, print(*before)) << "nothing was rewritten";
  KernelOp from = getKernel(*before), to = getKernel(*after);
  EXPECT_EQ(from.getOperandTensors().size(), to.getOperandTensors().size());
  for (Lengths size : lengths) {
    SCOPED_TRACE(std::to_string(size.queries) + " queries, " +
                 std::to_string(size.keys) + " keys");
    ReferenceInputs inputs = makeInputs(from, size);
    ReferenceOutputs wanted = evaluate(from, inputs),
                     got = evaluate(to, inputs);
    EXPECT_LE(getDifference(got.o, wanted.o), rewrite.tolerance);
    if (!rewrite.sameScores)
      continue;
    EXPECT_LE(getDifference(got.scores, wanted.scores), rewrite.tolerance);
    EXPECT_LE(getDifference(got.lse, wanted.lse), rewrite.tolerance);
  }
  run();
  EXPECT_EQ(print(*after), once) << "the second run found something to do";
}

INSTANTIATE_TEST_SUITE_P(Identities, RewritesTest, testing::ValuesIn(rewrites),
                         [](const testing::TestParamInfo<Rewrite> &info) {
                           return std::string(info.param.name);
                         });

/// Two kernels that a pass would confuse without its guard: they differ.
struct Guard {
  const char *name;
  const char *clauses;
  const char *first, *second;
};

const Guard guards[] = {
    // Keys that are counted from another origin than the queries are not moved
    // with them.
    {"KeysWithALocalOrigin", "", R"(
  %i = posenc.position query law(#posenc.iota<offset = 16>)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %x = math.cos %d : f64
    posenc.yield %x : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
)",
     R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %x = math.cos %d : f64
    posenc.yield %x : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
)"},
    // A modulus of a part of the channels is no scale.
    {"ModulusOfSomeChannels", "", R"(
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 4>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %p: f64):
    %m = arith.constant 1.5 : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
)",
     R"(
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 4>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q, %k1 scale(0.75)
)"},
    // A rotation changes the mean that a layer norm takes off.
    {"LayerNormAroundARotation", "", R"(
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %k2 = posenc.vector_norm %k1 layer over(head) epsilon(0.1) added : !posenc.key
  %s = posenc.dot %q, %k2 scale(0.5)
)",
     R"(
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %k1 = posenc.vector_norm %k layer over(head) epsilon(0.1) added : !posenc.key
  %k2 = posenc.rotate %k1 by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q, %k2 scale(0.5)
)"},
    // A gain between a rotation and the product sees which channel is which.
    {"GainAfterARotation", "", R"(
  %i = posenc.position query law(#posenc.iota<offset = 3>)
  %j = posenc.position key law(#posenc.iota<offset = 3>)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<channel>
  %q0 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %q1 = posenc.channel_scale %q0, %g offset(0.0) : !posenc.query, !posenc.table<channel>
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
)",
     R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<channel>
  %q0 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %q1 = posenc.channel_scale %q0, %g offset(0.0) : !posenc.query, !posenc.table<channel>
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
)"},
    // The vector of a product with keys has that product's scale.
    {"ScaleOfAProductWithKeys", "", R"(
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %a = posenc.dot %q, %k scale(0.5)
  %b = posenc.table_dot %k, %u at(%z) scale(0.125) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
  %s = posenc.add %a, %b
)",
     R"(
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %i = posenc.position query law(#posenc.iota)
  %row = posenc.remap %i {
  ^bb0(%p: f64):
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %q1 = posenc.vadd %q, %u at(%row) : !posenc.query, !posenc.table<row, head, channel>
  %s = posenc.dot %q1, %k scale(0.5)
)"},
    // A cap between two products tells them apart.
    {"CapOfOneOfTwoProducts", "", R"(
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %a = posenc.dot %q, %k scale(0.5)
  %b = posenc.table_dot %k, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
  %m = posenc.map %a() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %s = posenc.add %m, %b
)",
     R"(
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %i = posenc.position query law(#posenc.iota)
  %row = posenc.remap %i {
  ^bb0(%p: f64):
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %q1 = posenc.vadd %q, %u at(%row) : !posenc.query, !posenc.table<row, head, channel>
  %m = posenc.dot %q1, %k scale(0.5)
  %s = posenc.map %m() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
)"},
    // A cap after a row constant sees it.
    {"CapAfterARowConstant", "no_lse", R"(
  %b = posenc.bias() {
    %x = arith.constant 1.5 : f64
    posenc.yield %x : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.add %s0, %b
  %s = posenc.map %s1() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
)",
     R"(
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.map %s0() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
)"},
};

class GuardsTest : public IdentityTest,
                   public testing::WithParamInterface<Guard> {};

TEST_P(GuardsTest, TheIdentityDoesNotHold) {
  const Guard &guard = GetParam();
  auto first = parse(withSoftmax(guard.first, guard.clauses));
  ReferenceInputs inputs = makeInputs(getKernel(*first), {5, 11});
  EXPECT_GT(getDifference(
                evaluate(withSoftmax(guard.second, guard.clauses), inputs).o,
                evaluate(getKernel(*first), inputs).o),
            1e-3);
}

INSTANTIATE_TEST_SUITE_P(Identities, GuardsTest, testing::ValuesIn(guards),
                         [](const testing::TestParamInfo<Guard> &info) {
                           return std::string(info.param.name);
                         });

} // namespace
