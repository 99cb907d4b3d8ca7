// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores.
#include "KernelTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace posenc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static const char *const positions = R"(
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %clip = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
    %d = posenc.dot %q, %k scale(1.0))";

static int64_t clip(int64_t distance) {
  return std::clamp<int64_t>(distance, -1, 1) + 1;
}

TEST_F(KernelTest, DotOfChannels) {
  expectScores("%s = posenc.dot %q, %k scale(-2.0) channels([1, 2, 2])",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 return -2 * (q(b, h, i, 1) * k(b, h, j, 2) +
                              q(b, h, i, 2) * k(b, h, j, 3));
               });
}

TEST_F(KernelTest, TableDot) {
  addTable("shared", {4, 3});
  addTable("own", {3, heads, 4});
  expectScores(std::string(positions) + R"(
    %a = posenc.table law(#posenc.operand<"shared", rows = 3, channels = 4>) : !posenc.table<channel, row>
    %b = posenc.table law(#posenc.operand<"own", rows = 3, channels = 4>) : !posenc.table<row, head, channel>
    %x = posenc.table_dot %q, %a at(%clip) scale(0.5) : !posenc.query, !posenc.table<channel, row>, !posenc.relation
    %y = posenc.table_dot %k, %b at(%clip) scale(3.0) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
    %s = posenc.add %x, %y)",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 int64_t row = clip(place(i) - j);
                 double sum = 0;
                 for (int64_t c = 0; c < 4; ++c)
                   sum += 0.5 * q(b, h, i, c) * table("shared", {c, row}) +
                          3 * k(b, h, j, c) * table("own", {row, h, c});
                 return sum;
               });
}

/// Between rows by a score; outside the table the rows at its ends. A masked
/// index masks.
TEST_F(KernelTest, TableDotByScores) {
  addTable("rows", {3, 4});
  expectScores(std::string(positions) + R"(
    %a = posenc.table law(#posenc.operand<"rows", rows = 3, channels = 4>) : !posenc.table<row, channel>
    %n = posenc.map %d() {
    ^bb0(%x: f64):
      %two = arith.constant 2.0 : f64
      %y = arith.mulf %x, %two : f64
      posenc.yield %y : f64
    }
    %m = posenc.select %n mask(#posenc.causal)
    %s = posenc.table_dot %q, %a at(%m) scale(1.0) : !posenc.query, !posenc.table<row, channel>, !posenc.score)",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 if (j > place(i))
                   return -infinity;
                 double at = 2 * dot(b, h, i, j), w = at - std::floor(at);
                 int64_t f = std::floor(at);
                 int64_t low = std::clamp<int64_t>(f, 0, 2);
                 int64_t high = std::clamp<int64_t>(f + 1, 0, 2);
                 double sum = 0;
                 for (int64_t c = 0; c < 4; ++c)
                   sum += q(b, h, i, c) * ((1 - w) * table("rows", {low, c}) +
                                           w * table("rows", {high, c}));
                 return sum;
               });
}

/// A projected table without bounds, and one with.
TEST_F(KernelTest, Project) {
  addTable("w", {2, heads, 4});
  addTable("rows", {3, 2});
  expectScores(std::string(positions) + R"(
    %w = posenc.table law(#posenc.operand<"w", rows = 2, channels = 4>) : !posenc.table<row, head, channel>
    %t = posenc.table_map channels(2) {
    ^bb0(%row: f64, %channel: f64):
      %y = arith.addf %row, %channel : f64
      %z = math.sin %y : f64
      posenc.yield %z : f64
    }
    %u = posenc.table law(#posenc.operand<"rows", rows = 3, channels = 2>) : !posenc.table<row, channel>
    %pt = posenc.project %t, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
    %pu = posenc.project %u, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
    %x = posenc.table_dot %q, %pt at(%r) scale(1.0) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
    %y = posenc.table_dot %q, %pu at(%clip) scale(1.0) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
    %s = posenc.add %x, %y)",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 double sum = 0;
                 for (int64_t c = 0; c < 4; ++c)
                   for (int64_t m = 0; m < 2; ++m)
                     sum += q(b, h, i, c) * table("w", {m, h, c}) *
                            (std::sin(double(place(i) - j + m)) +
                             table("rows", {clip(place(i) - j), m}));
                 return sum;
               });
}

/// Masked in either is masked, and stays so.
TEST_F(KernelTest, MapOfScores) {
  expectScores(std::string(positions) + R"(
    %a = posenc.select %d mask(#posenc.causal)
    %b = posenc.select %d mask(#posenc.window<left = 1, right = 5>)
    %s = posenc.map %d, %a, %b(%r) : !posenc.relation {
    ^bb0(%x: f64, %y: f64, %z: f64, %n: f64):
      %u = arith.mulf %x, %n : f64
      %zero = arith.constant 0.0 : f64
      %w = arith.maximumf %u, %zero : f64
      posenc.yield %w : f64
    })",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 int64_t distance = place(i) - j;
                 return distance < 0 || distance > 1
                            ? -infinity
                            : std::max(0.0, dot(b, h, i, j) * distance);
               });
}

TEST_F(KernelTest, Select) {
  expectScores(std::string(positions) + R"(
    %far = posenc.dot %q, %k scale(7.0)
    %s = posenc.select %d else(%far) mask(#posenc.window<left = 1, right = 0>))",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 int64_t distance = place(i) - j;
                 bool isNear = distance >= 0 && distance <= 1;
                 return (isNear ? 1 : 7) * dot(b, h, i, j);
               });
  IntTensor &segments = inputs.positions["segments"];
  segments.shape = {batch, keys};
  segments.data = {0, 0, 1, 1, 2, 5, 4, 5, 4, 5};
  auto segment = [&](int64_t b, int64_t j) {
    return segments.data[b * keys + j];
  };
  const char *given = R"(
    %si = posenc.position query law(#posenc.position_tensor<name = "segments">)
    %sj = posenc.position key law(#posenc.position_tensor<name = "segments">))";
  expectScores(std::string(positions) + given + R"(
    %s = posenc.select %d mask(#posenc.causal) at(%si, %sj))",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 return segment(b, j) <= segment(b, place(i)) ? dot(b, h, i, j)
                                                              : -infinity;
               });
  expectScores(std::string(positions) + given + R"(
    %far = posenc.select %d mask(#posenc.causal)
    %s = posenc.select %d else(%far) where(%si, %sj) : !posenc.coord, !posenc.coord {
    ^bb0(%a: f64, %b: f64):
      %c = arith.cmpf oeq, %a, %b : f64
      posenc.yield %c : i1
    })",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 bool isSame = segment(b, j) == segment(b, place(i));
                 return isSame || j <= place(i) ? dot(b, h, i, j) : -infinity;
               });
}

TEST_F(KernelTest, Rowscan) {
  for (bool isInclusive : {false, true})
    expectScores(std::string(positions) + R"(
    %m = posenc.select %d mask(#posenc.causal)
    %s = posenc.rowscan %m )" +
                     (isInclusive ? "inclusive" : "exclusive") + R"( {
    ^bb0(%x: f64):
      %e = math.exp %x : f64
      posenc.yield %e : f64
    })",
                 [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                   if (j > place(i))
                     return -infinity;
                   double sum = 0;
                   for (int64_t t = isInclusive ? j : j + 1; t <= place(i); ++t)
                     sum += std::exp(dot(b, h, i, t));
                   return sum;
                 });
}

/// Two scores, 3 hidden units; keys beyond the ends and masked pairs are 0.
TEST_F(KernelTest, HeadMlp) {
  for (int64_t taps : {1, 3}) {
    addTable("w1", {2 * heads * taps, 3});
    addTable("b1", {3});
    addTable("w2", {3 * taps, heads});
    addTable("b2", {heads});
    std::string n1 = std::to_string(8 * taps), n2 = std::to_string(3 * taps);
    auto sees = [](int64_t i, int64_t j) {
      return j >= 0 && j < keys && j <= place(i);
    };
    auto score = [&](int64_t s, int64_t b, int64_t g, int64_t i, int64_t j) {
      if (!sees(i, j))
        return 0.0;
      return s == 0 ? dot(b, g, i, j) : double(place(i) - j);
    };
    auto unit = [&](int64_t m, int64_t b, int64_t i, int64_t j) {
      if (!sees(i, j))
        return 0.0;
      double sum = table("b1", {m});
      for (int64_t s = 0; s < 2; ++s)
        for (int64_t g = 0; g < heads; ++g)
          for (int64_t t = 0; t < taps; ++t)
            sum += table("w1", {(s * heads + g) * taps + t, m}) *
                   score(s, b, g, i, j + t - taps / 2);
      return std::max(sum, 0.0);
    };
    expectScores(std::string(positions) + R"(
    %m = posenc.select %d mask(#posenc.causal)
    %b0 = posenc.bias(%r) : !posenc.relation {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %n = posenc.select %b0 mask(#posenc.causal)
    %w1 = posenc.table law(#posenc.operand<"w1", rows = )" +
                     n1 + R"(, channels = 3>) : !posenc.table<row, channel>
    %b1 = posenc.table law(#posenc.operand<"b1", rows = 0, channels = 3>) : !posenc.table<channel>
    %w2 = posenc.table law(#posenc.operand<"w2", rows = )" +
                     n2 + R"(>) : !posenc.table<row, head>
    %b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
    %s = posenc.head_mlp(%m, %n) weights(%w1, %b1, %w2, %b2) taps()" +
                     std::to_string(taps) + R"() {
    ^bb0(%x: f64):
      %zero = arith.constant 0.0 : f64
      %y = arith.maximumf %x, %zero : f64
      posenc.yield %y : f64
    })",
                 [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                   if (!sees(i, j))
                     return -infinity;
                   double sum = table("b2", {h});
                   for (int64_t m = 0; m < 3; ++m)
                     for (int64_t t = 0; t < taps; ++t)
                       sum += table("w2", {m * taps + t, h}) *
                              unit(m, b, i, j + t - taps / 2);
                   return sum;
                 });
  }
}

/// Calls without keys or queries.
TEST_F(KernelTest, NothingToAttendTo) {
  addTable("w1", {heads, 1});
  addTable("b1", {1});
  addTable("w2", {1, heads});
  addTable("b2", {heads});
  const char *text = R"(
    %d = posenc.dot %q, %k scale(1.0)
    %w1 = posenc.table law(#posenc.operand<"w1", rows = 4, channels = 1>) : !posenc.table<row, channel>
    %b1 = posenc.table law(#posenc.operand<"b1", rows = 0, channels = 1>) : !posenc.table<channel>
    %w2 = posenc.table law(#posenc.operand<"w2", rows = 1>) : !posenc.table<row, head>
    %b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
    %s = posenc.head_mlp(%d) weights(%w1, %b1, %w2, %b2) taps(1) {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    })";
  inputs.k = {{batch, kvHeads, 0, headDim}, {}};
  inputs.v = {{batch, kvHeads, 0, valueDim}, {}};
  ReferenceOutputs outputs = evaluateScores(text);
  EXPECT_EQ(outputs.lse.data,
            std::vector<double>(batch * heads * queries, -infinity));
  EXPECT_EQ(outputs.o.data,
            std::vector<double>(batch * heads * queries * valueDim));
  inputs.q = {{batch, heads, 0, headDim}, {}};
  EXPECT_TRUE(evaluateScores(text).o.data.empty());
}
