// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights, outputs, and what their accuracy is measured by.
#include "KernelTest.h"

#include "posenc/Reference/Accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace posenc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
class WeightsTest : public KernelTest {
protected:
  /// sum_j weight(j) v_j over the keys up to the query's.
  double sum(int64_t b, int64_t h, int64_t i, int64_t c,
             function_ref<double(int64_t)> weight) const {
    double result = 0;
    for (int64_t j = 0; j <= place(i); ++j)
      result += weight(j) * v(b, h, j, c);
    return result;
  }
  double visible(int64_t i, function_ref<double(int64_t)> term) const {
    double result = 0;
    for (int64_t j = 0; j <= place(i); ++j)
      result += term(j);
    return result;
  }
};
} // namespace

static std::string weigh(const char *normalize) {
  return R"(
    %d = posenc.dot %q, %k scale(1.0)
    %s = posenc.select %d mask(#posenc.causal)
    %n = posenc.vector_map %k : !posenc.key {
    ^bb0(%x: f64):
      %y = math.exp %x : f64
      posenc.yield %y : f64
    }
    %by = posenc.dot %q, %n scale(1.0)
    %sinks = posenc.table law(#posenc.constants<[0.5, -1.0, 3.0, 0.0]>) : !posenc.table<head>
    %p = posenc.normalize )" +
         std::string(normalize) + R"(
    %o = posenc.weighted_sum %p, %v)";
}

TEST_F(WeightsTest, Softmax) {
  const double sinks[] = {0.5, -1, 3, 0};
  std::string text = weigh("softmax %s sink(%sinks : !posenc.table<head>)");
  auto total = [&](int64_t b, int64_t h, int64_t i) {
    return visible(i, [&](int64_t j) { return std::exp(dot(b, h, i, j)); }) +
           std::exp(sinks[h]);
  };
  expectOutput(text, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    return sum(b, h, i, c, [&](int64_t j) {
      return std::exp(dot(b, h, i, j)) / total(b, h, i);
    });
  });
  ReferenceOutputs outputs = evaluateOutput(text);
  for (int64_t row = 0; row < batch * heads * queries; ++row) {
    int64_t i = row % queries, h = row / queries % heads;
    int64_t b = row / queries / heads;
    EXPECT_NEAR(outputs.lse.data[row], std::log(total(b, h, i)), 1e-12);
    double score = std::abs(sinks[h]), value = 0;
    for (int64_t j = 0; j <= place(i); ++j) {
      score = std::max(score, std::abs(dot(b, h, i, j)));
      for (int64_t c = 0; c < valueDim; ++c)
        value = std::max(value, std::abs(v(b, h, j, c)));
    }
    EXPECT_EQ(outputs.maxScore.data[row], score);
    EXPECT_EQ(outputs.maxValue.data[row], value);
  }
}

TEST_F(WeightsTest, RowsThatSeeNoKey) {
  const char *text = R"(
    %d = posenc.dot %q, %k scale(1.0)
    %s = posenc.select %d mask(#posenc.window<left = 0, align = top_left>)
    %i = posenc.position query law(#posenc.iota<align = top_left>)
    %u = posenc.select %s where(%i) : !posenc.coord {
    ^bb0(%a: f64):
      %one = arith.constant 1.0 : f64
      %c = arith.cmpf one, %a, %one : f64
      posenc.yield %c : i1
    }
    %sinks = posenc.table law(#posenc.constants<[0.5, -1.0, 3.0, 0.0]>) : !posenc.table<head>
    %p = posenc.normalize softmax %u)";
  std::string rest = "\n%o = posenc.weighted_sum %p, %v";
  ReferenceOutputs outputs = evaluateOutput(text + rest);
  EXPECT_EQ(outputs.lse.data[1], -infinity);
  EXPECT_NE(outputs.lse.data[0], -infinity);
  EXPECT_EQ(outputs.o.data[valueDim], 0);
  EXPECT_EQ(outputs.maxValue.data[1], 0);
  outputs =
      evaluateOutput(text + (" sink(%sinks : !posenc.table<head>)" + rest));
  EXPECT_EQ(outputs.lse.data[1], 0.5);
  EXPECT_EQ(outputs.o.data[valueDim], 0);
}

TEST_F(WeightsTest, Exp) {
  std::string text = weigh("exp %s");
  auto weight = [&](int64_t b, int64_t h, int64_t i) {
    return [=](int64_t j) { return std::exp(dot(b, h, i, j)); };
  };
  expectOutput(text, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    return sum(b, h, i, c, weight(b, h, i));
  });
  ReferenceOutputs outputs = evaluateOutput(text);
  EXPECT_NEAR(outputs.lse.data[1], std::log(visible(1, weight(0, 0, 1))),
              1e-12);
  double value = 0;
  for (int64_t j = 0; j <= place(1); ++j)
    for (int64_t c = 0; c < valueDim; ++c)
      value = std::max(value, std::abs(v(0, 0, j, c)));
  EXPECT_NEAR(outputs.maxValue.data[1], value * visible(1, weight(0, 0, 1)),
              1e-12);
}

TEST_F(WeightsTest, Identity) {
  std::string text = weigh("identity %s");
  expectOutput(text, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    return sum(b, h, i, c, [&](int64_t j) { return dot(b, h, i, j); });
  });
  ReferenceOutputs outputs = evaluateOutput(text);
  EXPECT_TRUE(outputs.lse.shape.empty());
  // The bound of a row is n max |S| 8 2^-24 max |v| beside that of the sum.
  double mass = 0, greatest = 0, value = 0;
  for (int64_t j = 0; j <= place(0); ++j) {
    mass += std::abs(dot(0, 0, 0, j));
    greatest = std::max(greatest, std::abs(dot(0, 0, 0, j)));
    for (int64_t c = 0; c < valueDim; ++c)
      value = std::max(value, std::abs(v(0, 0, j, c)));
  }
  EXPECT_NEAR(outputs.maxValue.data[0], mass * value, 1e-12);
  EXPECT_NEAR(outputs.maxScore.data[0] * outputs.maxValue.data[0],
              double(place(0) + 1) * greatest * value, 1e-12);
}

TEST_F(WeightsTest, AbsSum) {
  for (double low : {0.25, 4.0}) {
    std::string text = weigh(low == 4 ? "abs_sum %s bounds([4.0, 5.0])"
                                      : "abs_sum %s bounds([0.25, 1.0])");
    expectOutput(text, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
      double total =
          visible(i, [&](int64_t j) { return std::abs(dot(b, h, i, j)); });
      total = std::clamp(total, low, low == 4 ? 5.0 : 1.0);
      return sum(b, h, i, c,
                 [&](int64_t j) { return dot(b, h, i, j) / total; });
    });
  }
}

/// What is masked in the scores does not count in the denominator.
TEST_F(WeightsTest, Linear) {
  expectOutput(weigh("linear %s by(%by)"), [&](int64_t b, int64_t h, int64_t i,
                                               int64_t c) {
    double total = visible(i, [&](int64_t j) {
      double by = 0;
      for (int64_t x = 0; x < headDim; ++x)
        by += q(b, h, i, x) * std::exp(k(b, h, j, x));
      return by;
    });
    return sum(b, h, i, c, [&](int64_t j) { return dot(b, h, i, j) / total; });
  });
}

/// A value table and a remainder beside the weighted sum.
TEST_F(WeightsTest, OutputsAdded) {
  addTable("rows", {3, valueDim, heads});
  std::string text = weigh("exp %s") + R"( 
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
    %t = posenc.table law(#posenc.operand<"rows", rows = 3, channels = 3>) : !posenc.table<row, channel, head>
    %x = posenc.value_table %p, %t at(%r) : !posenc.table<row, channel, head>
    %y = posenc.remainder %p, %v
    %z = posenc.add %x, %y : !posenc.output)";
  // The kernel yields %o.
  text.replace(text.find("%o ="), 2, "%w");
  text += "\n%o = posenc.add %w, %z : !posenc.output";
  expectOutput(text, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    auto weight = [&](int64_t j) { return std::exp(dot(b, h, i, j)); };
    double result = sum(b, h, i, c, weight);
    result += (1 - visible(i, weight)) * v(b, h, place(i), c);
    return result + visible(i, [&](int64_t j) {
             int64_t row = std::clamp<int64_t>(place(i) - j, -1, 1) + 1;
             return weight(j) * table("rows", {row, c, h});
           });
  });
}

/// Keys of weight 0 hide what their values are, also in tables of values.
TEST_F(WeightsTest, HiddenValues) {
  addTable("rows", {3, valueDim});
  std::string text = weigh("softmax %s") + R"(
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
    %t = posenc.table law(#posenc.operand<"rows", rows = 3, channels = 3>) : !posenc.table<row, channel>
    %x = posenc.value_table %p, %t at(%r) : !posenc.table<row, channel>
    %z = posenc.add %w, %x : !posenc.output)";
  text.replace(text.find("%o ="), 2, "%w");
  text.replace(text.find("%z ="), 2, "%o");
  ReferenceOutputs wanted = evaluateOutput(text);
  // The last key is seen by the last query only, future distances by none.
  for (int64_t c = 0; c < valueDim; ++c) {
    inputs.v.data[(keys - 1) * valueDim + c] = std::nan("");
    inputs.tables["rows"].data[c] = std::nan("");
  }
  ReferenceOutputs got = evaluateOutput(text);
  for (int64_t e = 0; e < queries * valueDim; ++e)
    if (e / valueDim == queries - 1) {
      EXPECT_TRUE(std::isnan(got.o.data[e]));
    } else {
      EXPECT_EQ(got.o.data[e], wanted.o.data[e]);
    }
}

//===----------------------------------------------------------------------===//
// Accuracy of what is not finite
//===----------------------------------------------------------------------===//

/// One row whose values are of magnitude `maxValue`.
static ReferenceOutputs makeRow(ArrayRef<double> o, double maxValue) {
  ReferenceOutputs row;
  row.o.shape = {1, 1, 1, static_cast<int64_t>(o.size())};
  row.o.data.assign(o.begin(), o.end());
  row.maxScore.data = {0};
  row.maxValue.data = {maxValue};
  return row;
}

static Accuracy measureNumber(double wanted, float got, double roundoff) {
  return measureOutput(makeRow(wanted, std::abs(wanted)), got, {roundoff});
}

TEST(Accuracy, InfinityOfWhatRoundsToIt) {
  constexpr double f16 = 0x1p-11, bf16 = 0x1p-8, f32 = 0;
  constexpr float inf = std::numeric_limits<float>::infinity();
  // The first number that rounds to infinity is half a step above the last.
  for (auto [roundoff, border] :
       {std::pair(f16, 65520.0), {bf16, 0x1.ffp127}, {f32, 0x1.ffffffp127}}) {
    for (double wanted : {border, 1.5 * border}) {
      EXPECT_EQ(measureNumber(wanted, inf, roundoff).ratio, 0) << wanted;
      EXPECT_EQ(measureNumber(-wanted, -inf, roundoff).error, 0) << wanted;
      EXPECT_FALSE(measureNumber(wanted, -inf, roundoff).isAccurate());
    }
    // Before it, within the bound: an error of 2e-6 times the value, and what
    // rounding adds.
    double allowed = 2e-6 + roundoff;
    EXPECT_TRUE(measureNumber(border * (1 - 0.9 * allowed), inf, roundoff)
                    .isAccurate());
    EXPECT_FALSE(measureNumber(border * (1 - 1.1 * allowed), inf, roundoff)
                     .isAccurate());
    EXPECT_FALSE(measureNumber(1, inf, roundoff).isAccurate());
    EXPECT_FALSE(measureNumber(infinity, 1, roundoff).isAccurate());
    EXPECT_FALSE(measureNumber(infinity, NAN, roundoff).isAccurate());
    EXPECT_TRUE(measureNumber(infinity, inf, roundoff).isAccurate());
  }
  // What f16 cannot hold bf16 can.
  EXPECT_FALSE(measureNumber(1e6, inf, bf16).isAccurate());
}

TEST(Accuracy, InfinityInACache) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  RealTensor cache = {{1, 3}, {1e6, -1e6, 3}};
  EXPECT_EQ(measureCache(cache, {inf, -inf, 3}, 0x1p-11).error, 0);
  EXPECT_FALSE(measureCache(cache, {inf, -inf, 3}, 0x1p-8).isAccurate());
  EXPECT_FALSE(measureCache(cache, {inf, inf, 3}, 0x1p-11).isAccurate());
  // An infinity of the row allows nothing to other channels.
  cache.data[0] = infinity;
  EXPECT_FALSE(measureCache(cache, {inf, -inf, 30}, 0x1p-11).isAccurate());
}

TEST(Accuracy, LargestErrorIsOfNumbers) {
  Accuracy accuracy =
      measureOutput(makeRow({NAN, 1, 2}, 2), {NAN, 1, 2.000001f});
  EXPECT_NEAR(accuracy.error, 1e-6, 1e-7);
  EXPECT_EQ(accuracy.index.back(), 2);
  accuracy = measureOutput(makeRow({NAN, 1}, 2), {NAN, 1});
  EXPECT_EQ(accuracy.error, 0);
  EXPECT_TRUE(accuracy.isAccurate());
  EXPECT_FALSE(measureOutput(makeRow({NAN, 1}, 2), {0, 1}).isAccurate());
  EXPECT_FALSE(measureOutput(makeRow({1, 1}, 2), {NAN, 1}).isAccurate());
}

TEST(Accuracy, RoundedWeights) {
  Rounding rounding = {0x1p-8, 0x1p-8};
  // Of the output's rounding and of all weights'.
  EXPECT_TRUE(
      measureOutput(makeRow({1, 1}, 2), {1.011f, 1}, rounding).isAccurate());
  EXPECT_FALSE(
      measureOutput(makeRow({1, 1}, 2), {1.012f, 1}, rounding).isAccurate());
  EXPECT_FALSE(
      measureOutput(makeRow({1, 1}, 2), {1.011f, 1}, {0x1p-8}).isAccurate());
  // Of many numbers on average.
  constexpr size_t count = 1 << 16;
  ReferenceOutputs row = makeRow(std::vector<double>(count, 1.0), 1);
  std::vector<float> got(count, 1.0024f);
  EXPECT_TRUE(measureOutput(row, got, rounding).isAccurate());
  got.assign(count, 1.0026f);
  Accuracy all = measureOutput(row, got, rounding);
  EXPECT_FALSE(all.isAccurate());
  EXPECT_EQ("o has a relative root mean square error of 0.0026, but at most "
            "0.0025 is allowed (ratio 1.04)",
            all.describe("o"));
}

TEST_F(WeightsTest, MaximaAreOfFiniteNumbers) {
  for (int64_t key = 0, e = batch * kvHeads * keys; key < e; ++key)
    inputs.v.data[key * valueDim + key % 2] = key % 3 ? NAN : infinity;
  ReferenceOutputs outputs = evaluateOutput(R"(
    %s = posenc.dot %q, %k scale(1.0)
    %n = posenc.normalize softmax %s
    %o = posenc.weighted_sum %n, %v
  )");
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        double greatest = 0;
        for (int64_t j = 0; j < keys; ++j)
          for (int64_t c = 0; c < valueDim; ++c)
            if (std::isfinite(v(b, h, j, c)))
              greatest = std::max(greatest, std::abs(v(b, h, j, c)));
        EXPECT_EQ(outputs.maxValue.data[(b * heads + h) * queries + i],
                  greatest);
      }
}
