// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Positions, relations and tables.
#include "KernelTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace posenc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_F(KernelTest, PositionsAndRemap) {
  IntTensor &positions = inputs.positions["axes"];
  positions.shape = {2, batch, keys};
  for (int64_t x = 0; x < 2 * batch * keys; ++x)
    positions.data.push_back(3 * x % 7 - 2);
  auto at = [&](int64_t axis, int64_t b, int64_t j) {
    return double(positions.data[(axis * batch + b) * keys + j]);
  };
  // Halves stay halves: the difference of remapped positions is real.
  expectScores(R"(
    %i = posenc.position query law(#posenc.position_tensor<name = "axes", axes = 2, axis = 1>)
    %j = posenc.position key law(#posenc.position_tensor<name = "axes", axes = 2>)
    %g = posenc.remap %i {
    ^bb0(%p: f64):
      %half = arith.constant 0.5 : f64
      %x = arith.mulf %p, %half : f64
      posenc.yield %x : f64
    }
    %r = posenc.relation %g, %j law(#posenc.difference<key_minus_query>)
    %s = posenc.bias(%r) : !posenc.relation {
    ^bb0(%d: f64):
      posenc.yield %d : f64
    })",
               [&](int64_t b, int64_t, int64_t i, int64_t j) {
                 return at(0, b, j) - at(1, b, place(i)) / 2;
               });
  expectScores(R"(
    %i = posenc.position query law(#posenc.iota<offset = 10, align = top_left>)
    %j = posenc.position key law(#posenc.iota<offset = -3>)
    %s = posenc.bias(%i, %j) : !posenc.coord, !posenc.coord {
    ^bb0(%a: f64, %b: f64):
      %hundred = arith.constant 100.0 : f64
      %x = arith.mulf %a, %hundred : f64
      %y = arith.addf %x, %b : f64
      posenc.yield %y : f64
    })",
               [&](int64_t, int64_t, int64_t i, int64_t j) {
                 return 100 * double(i + 10) + double(j - 3);
               });
}

static const char *const positions = R"(
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>))";

TEST_F(KernelTest, RelationMap) {
  addTable("rows", {3, heads});
  // Values beyond the rows are clamped to them.
  expectScores(std::string(positions) + R"(
    %m = posenc.relation_map(%r, %j) : !posenc.relation, !posenc.coord rows(3) {
    ^bb0(%d: f64, %b: f64):
      %two = arith.constant 2.0 : f64
      %x = arith.mulf %d, %two : f64
      %y = arith.addf %x, %b : f64
      posenc.yield %y : f64
    }
    %t = posenc.table law(#posenc.operand<"rows", rows = 3>) : !posenc.table<row, head>
    %s = posenc.bias(%m, %t) : !posenc.relation, !posenc.table<row, head> {
    ^bb0(%row: f64, %x: f64):
      %ten = arith.constant 10.0 : f64
      %y = arith.mulf %row, %ten : f64
      %z = arith.addf %x, %y : f64
      posenc.yield %z : f64
    })",
               [&](int64_t, int64_t h, int64_t i, int64_t j) {
                 int64_t row =
                     std::clamp<int64_t>(2 * (place(i) - j) + j, 0, 2);
                 return table("rows", {row, h}) + 10 * double(row);
               });
}

/// A network of one hidden layer per head: the sum runs over hidden units.
TEST_F(KernelTest, SumIndexOverRows) {
  addTable("w1", {6});
  addTable("w2", {6, heads});
  expectScores(std::string(positions) + R"(
    %m = posenc.sum_index extent(6)
    %w1 = posenc.table law(#posenc.operand<"w1", rows = 6>) : !posenc.table<row>
    %w2 = posenc.table law(#posenc.operand<"w2", rows = 6>) : !posenc.table<row, head>
    %s = posenc.bias(%r, %m, %w1, %w2) : !posenc.relation, !posenc.relation, !posenc.table<row>, !posenc.table<row, head> {
    ^bb0(%d: f64, %unit: f64, %a: f64, %b: f64):
      %zero = arith.constant 0.0 : f64
      %x = arith.mulf %a, %d : f64
      %y = arith.maximumf %x, %zero : f64
      %z = arith.mulf %y, %b : f64
      %w = arith.addf %z, %unit : f64
      posenc.yield %w : f64
    })",
               [&](int64_t, int64_t h, int64_t i, int64_t j) {
                 double sum = 15; // of the units' numbers
                 for (int64_t m = 0; m < 6; ++m)
                   sum +=
                       std::max(0.0, table("w1", {m}) * double(place(i) - j)) *
                       table("w2", {m, h});
                 return sum;
               });
}

/// A product of two position vectors: rows by position, channels summed over.
TEST_F(KernelTest, SumIndexOverChannels) {
  addTable("a", {2, 3, heads});
  addTable("b", {5, 3});
  expectScores(std::string(positions) + R"(
    %c = posenc.sum_index extent(3)
    %ta = posenc.table law(#posenc.operand<"a", rows = 2, channels = 3>) : !posenc.table<row, channel, head>
    %tb = posenc.table law(#posenc.operand<"b", rows = 5, channels = 3>) : !posenc.table<row, channel>
    %s = posenc.bias(%c, %i, %ta, %j, %tb) : !posenc.relation, !posenc.coord, !posenc.table<row, channel, head>, !posenc.coord, !posenc.table<row, channel> {
    ^bb0(%channel: f64, %pi: f64, %x: f64, %pj: f64, %y: f64):
      %z = arith.mulf %x, %y : f64
      posenc.yield %z : f64
    })",
               [&](int64_t, int64_t h, int64_t i, int64_t j) {
                 double sum = 0;
                 for (int64_t c = 0; c < 3; ++c) // 2 rows: 3 and 4 are clamped
                   sum += table("a", {std::min<int64_t>(place(i), 1), c, h}) *
                          table("b", {j, c});
                 return sum;
               });
  expectScores(std::string(positions) + R"(
    %c = posenc.sum_index extent(3)
    %tb = posenc.table law(#posenc.operand<"b", rows = 5, channels = 3>) : !posenc.table<row, channel>
    %m = posenc.relation_map(%c, %j, %tb) : !posenc.relation, !posenc.coord, !posenc.table<row, channel> {
    ^bb0(%channel: f64, %p: f64, %x: f64):
      posenc.yield %x : f64
    }
    %s = posenc.bias(%m) : !posenc.relation {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    })",
               [&](int64_t, int64_t, int64_t, int64_t j) {
                 return table("b", {j, 0}) + table("b", {j, 1}) +
                        table("b", {j, 2});
               });
}

/// Tables of every axis; those of pairs mask.
TEST_F(KernelTest, TableAxes) {
  addTable("dense", {batch, 1, queries, keys}).data[7] = -2e30;
  addTable("keys", {keys, heads, batch});
  const char *dense = R"(
    %d = posenc.table law(#posenc.operand<"dense">) : !posenc.table<batch, head, query, key>
    %n = posenc.table law(#posenc.operand<"keys">) : !posenc.table<key, head, batch>)";
  auto wanted = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    double x = table("dense", {b, 0, i, j});
    return x <= -1e30 ? -infinity : x * table("keys", {j, h, b});
  };
  expectScores(std::string(dense) + R"(
    %s = posenc.bias(%d, %n) : !posenc.table<batch, head, query, key>, !posenc.table<key, head, batch> {
    ^bb0(%x: f64, %y: f64):
      %z = arith.mulf %x, %y : f64
      posenc.yield %z : f64
    })",
               wanted);
  // In a predicate too, whatever it says.
  expectScores(std::string(dense) + R"(
    %t = posenc.dot %q, %k scale(1.0)
    %u = posenc.dot %q, %k scale(2.0)
    %s = posenc.select %t else(%u) where(%d) : !posenc.table<batch, head, query, key> {
    ^bb0(%x: f64):
      %zero = arith.constant 0.0 : f64
      %c = arith.cmpf ogt, %x, %zero : f64
      posenc.yield %c : i1
    })",
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 double x = table("dense", {b, 0, i, j});
                 if (x <= -1e30)
                   return -infinity;
                 return (x > 0 ? 1 : 2) * dot(b, h, i, j);
               });
}

/// Rows of a function of the row have no bounds, also beyond those that the
/// storage indices reach.
TEST_F(KernelTest, TableMap) {
  IntTensor &far = inputs.positions["far"];
  far.shape = {batch, keys};
  far.data = {0, 1, 2, 3, 4, -5000000, 0, 7, 70, 900};
  expectScores(R"(
    %i = posenc.position query law(#posenc.position_tensor<name = "far">)
    %j = posenc.position key law(#posenc.position_tensor<name = "far">)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %c = posenc.sum_index extent(2)
    %t = posenc.table_map channels(2) {
    ^bb0(%row: f64, %channel: f64):
      %one = arith.constant 1.0 : f64
      %x = arith.addf %channel, %one : f64
      %y = arith.mulf %x, %row : f64
      posenc.yield %y : f64
    }
    %s = posenc.bias(%c, %r, %t) : !posenc.relation, !posenc.relation, !posenc.table<row, channel> {
    ^bb0(%channel: f64, %d: f64, %x: f64):
      posenc.yield %x : f64
    })",
               [&](int64_t b, int64_t, int64_t i, int64_t j) {
                 return 3 * double(far.data[b * keys + place(i)] -
                                   far.data[b * keys + j]);
               });
}

TEST_F(KernelTest, PrefixSumAtQuery) {
  addTable("gate", {batch, heads, keys});
  auto sum = [&](int64_t b, int64_t h, int64_t last) {
    double result = 0;
    for (int64_t j = 0; j <= last; ++j)
      result += 2 * table("gate", {b, h, j});
    return result;
  };
  auto text = [](StringRef alignment) {
    return (R"(
    %g = posenc.table law(#posenc.operand<"gate">) : !posenc.table<batch, head, key>
    %c = posenc.prefix_sum %g : !posenc.table<batch, head, key> {
    ^bb0(%x: f64):
      %y = arith.addf %x, %x : f64
      posenc.yield %y : f64
    }
    %ci = posenc.at_query %c )" +
            alignment +
            R"( : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>
    %s = posenc.bias(%ci, %c) : !posenc.table<batch, head, query>, !posenc.table<batch, head, key> {
    ^bb0(%x: f64, %y: f64):
      %z = arith.subf %x, %y : f64
      posenc.yield %z : f64
    })")
        .str();
  };
  expectScores(text("bottom_right"),
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 return sum(b, h, place(i)) - sum(b, h, j);
               });
  expectScores(text("top_left"),
               [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 return sum(b, h, i) - sum(b, h, j);
               });
}

TEST_F(KernelTest, AtQueryNeedsAKeyForEachQuery) {
  inputs.q.shape[2] = 6;
  inputs.q.data.resize(batch * heads * 6 * headDim);
  addTable("gate", {keys});
  EXPECT_EQ(refusal(R"(
    %g = posenc.table law(#posenc.operand<"gate">) : !posenc.table<key>
    %c = posenc.at_query %g bottom_right : !posenc.table<key> -> !posenc.table<query>
    %s = posenc.bias(%c) : !posenc.table<query> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %p = posenc.normalize softmax %s
    %o = posenc.weighted_sum %p, %v)"),
            "expected at most as many queries as keys (5), since "
            "'posenc.at_query' reads a key at each query's place, but got 6");
}
