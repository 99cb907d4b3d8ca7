// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The identities that no pass applies as a rewrite: what the planner, the
// driver and the tiles rely on, and what they may rely on one day.
#include "IdentityTest.h"

#include "posenc/Analysis/BiasFactors.h"
#include "posenc/Analysis/BiasTraits.h"
#include "posenc/Analysis/RelationBands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <array>
#include <cmath>
#include <map>

using namespace posenc;

namespace {

class FactsTest : public IdentityTest {
protected:
  ReferenceInputs inputsOf(const std::string &text, Lengths size) {
    return makeInputs(getKernel(*parse(text)), size);
  }
};

constexpr const char *distance = R"(
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
)";

/// The number [b, h, i, x] of a tensor.
double at(const RealTensor &tensor, int64_t b, int64_t h, int64_t i,
          int64_t x) {
  return tensor.data[((b * tensor.shape[1] + h) * tensor.shape[2] + i) *
                         tensor.shape[3] +
                     x];
}

/// 2: half pairing of permuted channels is interleaved pairing, with gains and
/// added vectors in the same order as the channels.
TEST_F(FactsTest, PairingIsAPermutationOfChannels) {
  auto write = [](const std::string &pairing) {
    return withSoftmax(std::string(distance) + R"(
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<channel>
  %u = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %q0 = posenc.channel_scale %q, %g offset(1.0) : !posenc.query, !posenc.table<channel>
  %q1 = posenc.vadd %q0, %u : !posenc.query, !posenc.table<head, channel>
  %q2 = posenc.rotate %q1 by(%i) freqs(%f) pairing()" +
                       pairing + R"() first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing()" +
                       pairing + R"() first_dim(0) : !posenc.key
  %s = posenc.dot %q2, %k1 scale(0.5)
)");
  };
  auto permute = [](RealTensor tensor) {
    RealTensor old = tensor;
    for (size_t n = 0; n < old.data.size(); ++n) {
      size_t c = n % headDim;
      tensor.data[n - c + (c < 4 ? 2 * c : 2 * (c - 4) + 1)] = old.data[n];
    }
    return tensor;
  };
  for (Lengths size : lengths) {
    ReferenceInputs inputs = inputsOf(write("half"), size), permuted = inputs;
    for (RealTensor *tensor : {&permuted.q, &permuted.k, &permuted.tables["g"],
                               &permuted.tables["u"]})
      *tensor = permute(*tensor);
    EXPECT_LE(getDifference(evaluate(write("interleaved"), permuted).scores,
                            evaluate(write("half"), inputs).scores),
              1e-12);
  }
}

/// 6: a vector that is added to the queries is a term of the key alone, here as
/// the one row of a table.
TEST_F(FactsTest, AddedVectorIsATermOfTheKey) {
  std::string added = withSoftmax(R"(
  %u = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %q1 = posenc.vadd %q, %u : !posenc.query, !posenc.table<head, channel>
  %s = posenc.dot %q1, %k scale(0.5)
)");
  std::string apart = withSoftmax(std::string(distance) + R"(
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 0>)
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.table_dot %k, %u at(%r) scale(0.5) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
  %s = posenc.add %s0, %s1
)");
  for (Lengths size : lengths) {
    ReferenceInputs inputs = inputsOf(added, size);
    ReferenceOutputs wanted = evaluate(added, inputs);
    inputs.tables["u"].shape = {1, heads, headDim};
    EXPECT_LE(getDifference(evaluate(apart, inputs).scores, wanted.scores),
              1e-12);
  }
}

/// 8: slopes of a causal distance are two more channels.
TEST_F(FactsTest, SlopesAreTwoMoreChannels) {
  constexpr double slopes[] = {0.5, 0.25}, scale = 0.5;
  std::string term = withSoftmax(std::string(distance) + R"(
  %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %y = arith.mulf %d, %x : f64
    %n = arith.negf %y : f64
    posenc.yield %n : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
)");
  std::string channels =
      "posenc.kernel @k heads(2) head_dim(10) value_dim(3) scale(0.5)";
  for (Lengths size : lengths) {
    ReferenceInputs inputs = inputsOf(term, size), longer = inputs;
    auto extend = [&](RealTensor &tensor, int64_t shift, auto extra) {
      RealTensor old = tensor;
      tensor.shape[3] += 2;
      tensor.data.clear();
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t t = 0; t < old.shape[2]; ++t) {
            for (int64_t c = 0; c < headDim; ++c)
              tensor.data.push_back(at(old, b, h, t, c));
            for (double number : extra(h, static_cast<double>(t + shift)))
              tensor.data.push_back(number);
          }
    };
    extend(longer.q, size.keys - size.queries, [&](int64_t h, double p) {
      return std::array<double, 2>{-slopes[h] * p / scale, slopes[h] / scale};
    });
    extend(longer.k, 0,
           [](int64_t, double p) { return std::array<double, 2>{1, p}; });
    EXPECT_LE(getDifference(evaluate(channels, longer).scores,
                            evaluate(term, inputs).scores),
              1e-12);
  }
}

/// 8: how exact these channels must be. Far from the start of the sequence a
/// distance is the small difference of two large numbers.
TEST_F(FactsTest, ChannelsOfSlopesNeedMoreThanSixteenBits) {
  auto roundTo = [](double x, int bits) {
    int exponent;
    double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)),
                      exponent - bits);
  };
  double slope = 0.1, worst16 = 0, worst24 = 0, worstPair = 0;
  for (int j = 100000; j < 100100; ++j) {
    double i = 100100, wanted = -slope * (i - j);
    auto score = [&](int bits) {
      return roundTo(-slope * i, bits) + roundTo(slope, bits) * j;
    };
    double high = roundTo(-slope * i, 24), low = roundTo(-slope * i - high, 24);
    double m = roundTo(slope, 24), n = roundTo(slope - m, 24);
    worst16 = std::max(worst16, std::abs(score(8) - wanted));
    worst24 = std::max(worst24, std::abs(score(24) - wanted));
    worstPair =
        std::max(worstPair, std::abs(high + low + m * j + n * j - wanted));
  }
  EXPECT_GT(worst16, 1);      // bf16 is no use
  EXPECT_GT(worst24, 1e-5);   // f32 misses the accuracy rule
  EXPECT_LT(worstPair, 1e-9); // two f32 of each number do not
}

/// A bias of the product of two factors, each written as it is prepared.
mlir::Value writeProduct(mlir::OpBuilder &builder, BiasOp bias,
                         const FactorProduct &product) {
  FactorRegion sides[] = {writeFactor(bias, product.query, product),
                          writeFactor(bias, product.key, product)};
  mlir::Location loc = bias.getLoc();
  llvm::SmallVector<mlir::Value> inputs;
  for (const FactorRegion &side : sides)
    inputs.append(side.inputs);
  auto result = BiasOp::create(builder, loc, inputs);
  llvm::SmallVector<mlir::Type> types(inputs.size(), builder.getF64Type());
  llvm::SmallVector<mlir::Location> locs(inputs.size(), loc);
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block *block = builder.createBlock(&result.getBody(), {}, types, locs);
  mlir::Value value;
  unsigned next = 0;
  for (const FactorRegion &side : sides) {
    mlir::IRMapping mapping;
    for (mlir::BlockArgument argument : side.body->getArguments())
      mapping.map(argument, block->getArgument(next++));
    for (mlir::Operation &op : side.body->front().without_terminator())
      builder.clone(op, mapping);
    mlir::Value factor =
        mapping.lookup(side.body->front().getTerminator()->getOperand(0));
    value = value ? mlir::arith::MulFOp::create(builder, loc, value, factor)
                        .getResult()
                  : factor;
  }
  YieldOp::create(builder, loc, value);
  return result;
}

/// 8: the bias %s of a kernel is the sum of its products of factors, of that
/// many channels together.
void expectFactors(KernelOp kernel, int64_t rank) {
  auto biases = kernel.getBody().getOps<BiasOp>();
  BiasOp bias = *biases.begin();
  std::string reason;
  mlir::FailureOr<llvm::SmallVector<FactorProduct>> products =
      factorBias(bias, reason);
  ASSERT_TRUE(succeeded(products)) << reason;
  mlir::OpBuilder builder(bias);
  mlir::Value sum;
  int64_t channels = 0;
  for (const FactorProduct &product : *products) {
    channels += product.channels;
    mlir::Value term = writeProduct(builder, bias, product);
    sum = sum ? AddOp::create(builder, bias.getLoc(), sum, term).getResult()
              : term;
  }
  EXPECT_EQ(channels, rank);
  bias.getResult().replaceAllUsesWith(sum);
  bias.erase();
}

constexpr const char *callersDistance = R"(
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %r = posenc.relation %i, %j law(#posenc.difference<key_minus_query>)
  %c = posenc.sum_index extent(3)
  %f = posenc.table law(#posenc.operand<"f", rows = 3>) : !posenc.table<row, head>
)";

struct LowRank {
  const char *terms;
  int64_t rank;
};

const LowRank ofLowRank[] = {{R"(
  %a = posenc.table law(#posenc.operand<"a", rows = 40, channels = 3>) : !posenc.table<row, head, channel>
  %b = posenc.table law(#posenc.operand<"b", channels = 5>) : !posenc.table<batch, key, channel>
  %s = posenc.bias(%c, %i, %a, %b) : !posenc.relation, !posenc.coord, !posenc.table<row, head, channel>, !posenc.table<batch, key, channel> {
  ^bb0(%n: f64, %p: f64, %x: f64, %y: f64):
    %z = arith.mulf %x, %y : f64
    %m = arith.mulf %z, %n : f64
    posenc.yield %m : f64
  }
)",
                              3},
                             {R"(
  %s = posenc.bias(%r, %c, %f) : !posenc.relation, !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %n: f64, %x: f64):
    %a = math.absf %d : f64
    %m = arith.mulf %x, %a : f64
    %m1 = arith.negf %m : f64
    %y = math.cos %m1 : f64
    %two = arith.constant 2.0 : f64
    %z = arith.subf %two, %y : f64
    posenc.yield %z : f64
  }
)",
                              7},
                             {R"(
  %s = posenc.bias(%c, %f, %r, %i, %j) : !posenc.relation, !posenc.table<row, head>, !posenc.relation, !posenc.coord, !posenc.coord {
  ^bb0(%n: f64, %x: f64, %d: f64, %p: f64, %g: f64):
    %half = arith.constant 0.5 : f64
    %m = arith.divf %d, %half : f64
    %m1 = math.fma %m, %x, %n : f64
    %y = math.sin %m1 : f64
    %e = math.cos %p : f64
    %h = math.tanh %g : f64
    %eh = arith.mulf %e, %h : f64
    %z = arith.addf %y, %eh : f64
    %w = arith.negf %z : f64
    posenc.yield %w : f64
  }
)",
                              7}};

TEST_F(FactsTest, BiasesOfLowRankAreSumsOfProducts) {
  for (const LowRank &bias : ofLowRank) {
    std::string text = withSoftmax(std::string(callersDistance) + bias.terms);
    for (Lengths size : lengths) {
      auto before = parse(text), after = parse(text);
      ReferenceInputs inputs = makeInputs(getKernel(*before), size);
      expectFactors(getKernel(*after), bias.rank);
      EXPECT_LE(getDifference(evaluate(getKernel(*after), inputs).scores,
                              evaluate(getKernel(*before), inputs).scores),
                1e-12);
    }
  }
}

/// What grows with the position, or is no sum of products, is not factored.
TEST_F(FactsTest, OtherBiasesAreNoProducts) {
  const char *const regions[] = {
      "%y = arith.mulf %d, %x : f64", // slopes
      "%y = arith.mulf %p, %g : f64", // products of positions
      "%y = math.exp %d : f64",       //
      "%y = math.absf %d : f64",      //
      "%a = math.absf %d : f64\n%y = math.sin %a : f64",
      "%a = arith.mulf %d, %d : f64\n%y = math.cos %a : f64",
      "%y = arith.maximumf %d, %x : f64", //
      "%a = math.cos %d : f64\n%y = arith.divf %x, %a : f64"};
  for (const char *region : regions) {
    auto module = parse(withSoftmax(std::string(callersDistance) + R"(
  %s = posenc.bias(%c, %f, %r, %i, %j) : !posenc.relation, !posenc.table<row, head>, !posenc.relation, !posenc.coord, !posenc.coord {
  ^bb0(%n: f64, %x: f64, %d: f64, %p: f64, %g: f64):
)" + std::string(region) + "\nposenc.yield %y : f64\n}\n"));
    std::string reason;
    EXPECT_TRUE(failed(factorBias(
        *getKernel(*module).getBody().getOps<BiasOp>().begin(), reason)));
    EXPECT_NE(reason, "") << region;
  }
}

/// 9: outside the interval in which a relation varies, a term of the query is
/// one number for the row, a term of the key one for the column, a bias one
/// number, and values of a table come with the sum of their weights.
TEST_F(FactsTest, SaturatedTermsAreConstant) {
  constexpr int clip = 2;
  std::string header = std::string(distance) + R"(
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %t = posenc.table law(#posenc.operand<"t", rows = 5, channels = 8>) : !posenc.table<row, channel>
  %n = posenc.table law(#posenc.operand<"n", rows = 5>) : !posenc.table<row, head>
  %b = posenc.bias(%r, %n) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %sq = posenc.table_dot %q, %t at(%r) scale(0.5) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %sk = posenc.table_dot %k, %t at(%r) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %s = posenc.add )";
  Lengths size{13, 13};
  std::string ofQuery = withSoftmax(header + "%sq, %b");
  std::string ofKey = withSoftmax(header + "%sk, %b");
  ReferenceInputs inputs = inputsOf(ofQuery, size);
  RealTensor rows = evaluate(ofQuery, inputs).scores;
  RealTensor columns = evaluate(ofKey, inputs).scores;
  for (int64_t i = 0; i < size.queries; ++i)
    for (int64_t j = 0; j < size.keys; ++j) {
      if (i - j >= clip) { // all keys of the past saturate at the first
        EXPECT_NEAR(at(rows, 1, 1, i, j), at(rows, 1, 1, i, 0), 1e-14);
        EXPECT_NEAR(at(columns, 1, 1, i, j),
                    at(columns, 1, 1, size.queries - 1, j), 1e-14);
      }
      if (j - i >= clip) {
        EXPECT_NEAR(at(rows, 1, 1, i, j), at(rows, 1, 1, i, size.keys - 1),
                    1e-14);
      }
    }
}

TEST_F(FactsTest, SaturatedValuesComeWithASumOfWeights) {
  auto write = [](const std::string &output) {
    return "posenc.kernel @k heads(2) head_dim(8) value_dim(3) {\n"
           "^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n" +
           std::string(distance) + R"(
  %far = posenc.position query law(#posenc.iota<offset = 1000>)
  %r = posenc.relation %far, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %t = posenc.table law(#posenc.operand<"t", rows = 5, channels = 3>) : !posenc.table<row, channel>
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.select %s0 mask(#posenc.causal)
  %p = posenc.normalize softmax %s
  %x = posenc.weighted_sum %p, %v
  %y = posenc.value_table %p, %t at(%r) : !posenc.table<row, channel>
  %o = posenc.add %x, %y : !posenc.output
  posenc.yield )" +
           output + " : !posenc.output\n}";
  };
  Lengths size{6, 9};
  ReferenceInputs inputs = inputsOf(write("%o"), size);
  RealTensor with = evaluate(write("%o"), inputs).o;
  RealTensor without = evaluate(write("%x"), inputs).o;
  const std::vector<double> &table = inputs.tables["t"].data;
  for (size_t n = 0; n < with.data.size(); ++n) // weights of a row sum to 1
    EXPECT_NEAR(with.data[n], without.data[n] + table[4 * 3 + n % 3], 1e-12);
}

/// 9: what the planner takes for one row is the row at each distance, and no
/// distance beside it has that row.
TEST_F(FactsTest, RunsOfRelationsHaveOneRow) {
  const char *const relations[] = {
      "posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, "
      "max = 3>)",
      "posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, "
      "max = 0>)",
      "posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 9], "
      "future_offset = 4>)",
      "posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 4], "
      "future_offset = -1>)",
      "posenc.relation %far, %j law(#posenc.clipped_distance<query_minus_key, "
      "max = 4>)",
      R"(posenc.relation_map(%d, %c) : !posenc.relation, !posenc.relation rows(5) {
  ^bb0(%x: f64, %y: f64):
    %three = arith.constant 3.0 : f64
    %z = arith.divf %x, %three : f64
    %n = math.floor %z : f64
    %m = arith.addf %n, %y : f64
    posenc.yield %m : f64
  })"};
  for (const char *relation : relations) {
    std::string text = withSoftmax(std::string(distance) + R"(
  %far = posenc.position query law(#posenc.iota<offset = 5>)
  %d = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %c = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %r = )" + relation + R"(
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.select %b mask(#posenc.window<left = -1, right = -1>)
)");
    auto module = parse(text);
    KernelOp kernel = getKernel(*module);
    mlir::Value value =
        (*kernel.getBody().getOps<BiasOp>().begin()).getInputs()[0];
    Lengths size{20, 20};
    RealTensor rows = evaluate(kernel, makeInputs(kernel, size)).scores;
    auto getRow = [&](int64_t d) {
      return d < 0 ? at(rows, 0, 0, 0, -d) : at(rows, 0, 0, d, 0);
    };
    auto runs = findDistanceRuns({-19, 19}, 2, [&](Distances part) {
      return DistanceFacts(Alignment::bottom_right, part).getConstant(value);
    });
    ASSERT_FALSE(runs.empty()) << relation;
    int64_t last = 20;
    for (const DistanceRun &run : runs) {
      EXPECT_LT(run.distances.high, last) << relation;
      last = run.distances.low;
      for (int64_t d = run.distances.low; d <= run.distances.high; ++d)
        EXPECT_EQ(getRow(d), run.value) << relation << " at " << d;
    }
    // The runs at the ends are whole.
    for (int64_t d :
         {runs.front().distances.low - 1, runs.back().distances.high + 1})
      if (std::abs(d) < 20 && runs.size() > 1) {
        bool isBelow = d < runs.front().distances.low;
        EXPECT_NE(getRow(d), (isBelow ? runs.front() : runs.back()).value)
            << relation << " at " << d;
      }
    // Queries that are aligned otherwise say nothing.
    EXPECT_FALSE(DistanceFacts(Alignment::top_left, {5, 5}).getConstant(value));
  }
}

/// 10: what the analysis calls Toeplitz is a function of the distance.
TEST_F(FactsTest, ToeplitzBiasesSeeOneNumberForEachDistance) {
  const char *const biases[] = {
      R"(
  %r = posenc.relation %i, %j law(#posenc.difference<key_minus_query>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %x = math.sin %d : f64
    posenc.yield %x : f64
  })",
      R"(
  %r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 4], future_offset = 4>)
  %t = posenc.table law(#posenc.operand<"t", rows = 8>) : !posenc.table<row, head>
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    %y = arith.mulf %d, %x : f64
    posenc.yield %y : f64
  })"};
  for (const char *bias : biases) {
    std::string text = withSoftmax(std::string(distance) + bias + R"(
  %s = posenc.select %b mask(#posenc.window<left = -1, right = -1>)
)");
    auto module = parse(text);
    KernelOp kernel = getKernel(*module);
    BiasTraits traits = analyzeBias(*kernel.getBody().getOps<BiasOp>().begin());
    EXPECT_TRUE(traits.fitsStrip());
    Lengths size{7, 12};
    RealTensor scores = evaluate(kernel, makeInputs(kernel, size)).scores;
    std::map<int, double> ofDistance;
    for (int i = 0; i < size.queries; ++i)
      for (int j = 0; j < size.keys; ++j) {
        double score = at(scores, 0, 1, i, j);
        EXPECT_EQ(ofDistance.insert({i - j, score}).first->second, score);
      }
    EXPECT_EQ(ofDistance.size(), size_t(size.queries + size.keys - 1));
  }
}

/// 11: where the buckets of T5 end, and how few a far tile sees.
TEST_F(FactsTest, FarDistancesShareBuckets) {
  auto findLaw = [&](const std::string &clauses) {
    auto module = parse("posenc.kernel @k heads(2) head_dim(8) " + clauses);
    RelationLawAttrInterface law;
    module->walk([&](RelationOp relation) { law = relation.getLaw(); });
    return law;
  };
  auto findEnd = [](RelationLawAttrInterface law) {
    int64_t end = 100000;
    while (law.apply(end - 1) == law.apply(100000))
      --end;
    return end;
  };
  RelationLawAttrInterface both =
      findLaw("encode [#posenc.t5_bias<direction = bidirectional>]");
  EXPECT_EQ(findEnd(both), 91);
  for (int64_t d = 91; d < 1000; ++d)
    EXPECT_EQ(both.apply(-d), both.apply(-91));
  EXPECT_NE(both.apply(-90), both.apply(-91));
  RelationLawAttrInterface causal =
      findLaw("mask(#posenc.causal) encode [#posenc.t5_bias<direction = "
              "causal>]");
  EXPECT_EQ(findEnd(causal), 113);
  auto countBuckets = [&](int64_t first, int64_t count) {
    std::map<int64_t, int> buckets;
    for (int64_t d = first; d < first + count; ++d)
      ++buckets[causal.apply(d)];
    return buckets.size();
  };
  EXPECT_EQ(countBuckets(0, 16), 16u);
  EXPECT_LE(countBuckets(64, 64), 6u);
  EXPECT_EQ(countBuckets(113, 4096), 1u);
}

/// 13: a select is one of its branches for each pair, so that runs of keys on
/// one side of it need that branch alone.
TEST_F(FactsTest, SelectedScoresAreThoseOfOneBranch) {
  auto write = [](const std::string &scores) {
    return withSoftmax(std::string(distance) + R"(
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %near = posenc.dot %q1, %k1 scale(0.5)
  %far = posenc.dot %q, %k scale(0.5)
)" + scores);
  };
  constexpr int window = 3;
  Lengths size{9, 14};
  std::string both =
      write("%s = posenc.select %near else(%far) mask(#posenc.window<left = 3, "
            "right = -1>) at(%i, %j)");
  ReferenceInputs inputs = inputsOf(both, size);
  RealTensor got = evaluate(both, inputs).scores;
  auto evaluateBranch = [&](const char *branch) {
    return evaluate(write(std::string("%s = posenc.select ") + branch +
                          " mask(#posenc.full)"),
                    inputs)
        .scores;
  };
  RealTensor near = evaluateBranch("%near"), far = evaluateBranch("%far");
  for (int i = 0; i < size.queries; ++i)
    for (int j = 0; j < size.keys; ++j) {
      bool isNear = i + size.keys - size.queries - j <= window;
      EXPECT_EQ(at(got, 1, 0, i, j), at(isNear ? near : far, 1, 0, i, j));
    }
}

/// 13: where the planner takes one branch, the reference does for each pair.
TEST_F(FactsTest, RunsOfSelectsTakeOneBranch) {
  struct Case {
    const char *predicate;
    size_t runs;
  };
  const Case cases[] = {
      {"mask(#posenc.window<left = 4, right = -1>) at(%i, %j)", 2},
      {"mask(#posenc.window<left = 4, right = 3>) at(%i, %j)", 3},
      {"mask(#posenc.window<left = 4, right = -1>) at(%i, %shifted)", 2},
      {"mask(#posenc.causal) at(%twice, %doubled)", 2},
      // Chunks are no function of the distance, but hide the future; a sum is
      // none.
      {"mask(#posenc.chunk<size = 4>) at(%i, %j)", 1},
      {R"(where(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %n = arith.constant 9.0 : f64
    %z = arith.addf %x, %y : f64
    %c = arith.cmpf olt, %z, %n : f64
    posenc.yield %c : i1
  })",
       0},
      {R"(where(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %n = arith.constant 7.0 : f64
    %z = arith.subf %x, %y : f64
    %a = math.absf %z : f64
    %c = arith.cmpf oge, %a, %n : f64
    posenc.yield %c : i1
  })",
       3},
      // An odd distance, but one branch beyond 6.
      {R"(where(%d) : !posenc.relation {
  ^bb0(%x: f64):
    %six = arith.constant 6.0 : f64
    %half = arith.constant 0.5 : f64
    %z = arith.mulf %x, %half : f64
    %f = math.floor %z : f64
    %odd = arith.cmpf one, %z, %f : f64
    %beyond = arith.cmpf ogt, %x, %six : f64
    %c = arith.ori %odd, %beyond : i1
    posenc.yield %c : i1
  })",
       1},
      // Rounding is not the same for all positions at one distance.
      {R"(where(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %n = arith.constant 0.1 : f64
    %w = arith.constant 0.4 : f64
    %a = arith.mulf %x, %n : f64
    %b = arith.mulf %y, %n : f64
    %z = arith.subf %a, %b : f64
    %c = arith.cmpf ole, %z, %w : f64
    posenc.yield %c : i1
  })",
       0}};
  for (const Case &c : cases) {
    std::string text = withSoftmax(std::string(distance) + R"(
  %shifted = posenc.position key law(#posenc.iota<offset = -2>)
  %d = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %twice = posenc.remap %i {
  ^bb0(%x: f64):
    %y = arith.addf %x, %x : f64
    posenc.yield %y : f64
  }
  %doubled = posenc.remap %j {
  ^bb0(%x: f64):
    %n = arith.constant 2.0 : f64
    %y = arith.mulf %x, %n : f64
    posenc.yield %y : f64
  }
  %near = posenc.dot %q, %k scale(0.5)
  %far = posenc.dot %q, %k scale(-0.5)
  %s = posenc.select %near else(%far) )" +
                                   c.predicate);
    auto module = parse(text);
    KernelOp kernel = getKernel(*module);
    Lengths size{20, 23};
    ReferenceInputs inputs = makeInputs(kernel, size);
    RealTensor scores = evaluate(kernel, inputs).scores;
    RealTensor nearScores =
        evaluate(withSoftmax("%s = posenc.dot %q, %k scale(0.5)"), inputs)
            .scores;
    SelectOp select = *kernel.getBody().getOps<SelectOp>().begin();
    auto runs = findDistanceRuns(
        {-19, 22}, 3, [&](Distances part) -> std::optional<int64_t> {
          return DistanceFacts(Alignment::bottom_right, part).decide(select);
        });
    EXPECT_EQ(runs.size(), c.runs) << c.predicate;
    for (const DistanceRun &run : runs)
      for (int64_t i = 0; i < size.queries; ++i)
        for (int64_t j = 0; j < size.keys; ++j) {
          int64_t d = i + 3 - j;
          if (d < run.distances.low || d > run.distances.high)
            continue;
          EXPECT_EQ(at(scores, 0, 0, i, j) == at(nearScores, 0, 0, i, j),
                    run.value == 1)
              << c.predicate << " at " << d;
        }
  }
}

/// 14: a sink scales the output and adds to the log-sum-exp.
TEST_F(FactsTest, SinksScaleTheOutput) {
  auto write = [](const std::string &sink) {
    return R"(posenc.kernel @k heads(2) head_dim(8) value_dim(3) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %c = posenc.table law(#posenc.operand<"c">) : !posenc.table<head>
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.select %s0 mask(#posenc.causal<top_left>)
  %p = posenc.normalize softmax %s)" +
           sink + R"(
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})";
  };
  std::string with = write(" sink(%c : !posenc.table<head>)");
  for (Lengths size : lengths) {
    ReferenceInputs inputs = inputsOf(with, size);
    ReferenceOutputs got = evaluate(with, inputs);
    ReferenceOutputs plain = evaluate(write(""), inputs);
    for (size_t row = 0; row < plain.lse.data.size(); ++row) {
      double sink = inputs.tables["c"].data[row / size.queries % heads];
      double lse = plain.lse.data[row];
      double share = 1 / (1 + std::exp(sink - lse));
      EXPECT_NEAR(got.lse.data[row],
                  std::max(lse, sink) +
                      std::log1p(std::exp(-std::abs(lse - sink))),
                  1e-13);
      for (int c = 0; c < valueDim; ++c)
        EXPECT_NEAR(got.o.data[row * valueDim + c],
                    share * plain.o.data[row * valueDim + c], 1e-13);
    }
  }
}

/// 7 does not hold beside a sink, which the term does not move.
TEST_F(FactsTest, RowConstantsShowBesideASink) {
  auto write = [](const std::string &score) {
    return R"(posenc.kernel @k heads(2) head_dim(8) value_dim(3) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %c = posenc.table law(#posenc.operand<"c">) : !posenc.table<head>
  %b = posenc.bias() {
    %x = arith.constant 1.5 : f64
    posenc.yield %x : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.add %s0, %b
  %p = posenc.normalize softmax )" +
           score + R"( sink(%c : !posenc.table<head>)
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})";
  };
  ReferenceInputs inputs = inputsOf(write("%s1"), {5, 11});
  EXPECT_GT(getDifference(evaluate(write("%s0"), inputs).o,
                          evaluate(write("%s1"), inputs).o),
            1e-3);
}

} // namespace
