// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to vectors. Scores are dot products with the vectors as given.
#include "KernelTest.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace posenc;

namespace {
using Vector = std::vector<double>;

double multiply(const Vector &x, const Vector &y) {
  double sum = 0;
  for (size_t c = 0; c < x.size(); ++c)
    sum += x[c] * y[c];
  return sum;
}

class VectorsTest : public KernelTest {
protected:
  Vector query(int64_t b, int64_t h, int64_t i) const {
    return {q(b, h, i, 0), q(b, h, i, 1), q(b, h, i, 2), q(b, h, i, 3)};
  }
  Vector key(int64_t b, int64_t h, int64_t j) const {
    return {k(b, h, j, 0), k(b, h, j, 1), k(b, h, j, 2), k(b, h, j, 3)};
  }

  using VectorFunction = std::function<Vector(int64_t b, int64_t h, int64_t t)>;
  /// Operations that make %x of the queries.
  void expectQueries(const std::string &operations,
                     const VectorFunction &wanted) {
    expectDots(operations + "\n%s = posenc.dot %x, %k scale(1.0)", wanted,
               [&](int64_t b, int64_t h, int64_t j) { return key(b, h, j); });
  }
  /// Operations that make %y of the keys.
  void expectKeys(const std::string &operations, const VectorFunction &wanted) {
    expectDots(
        operations + "\n%s = posenc.dot %q, %y scale(1.0)",
        [&](int64_t b, int64_t h, int64_t i) { return query(b, h, i); },
        wanted);
  }
  void expectDots(const std::string &operations, const VectorFunction &left,
                  const VectorFunction &right) {
    expectScores(operations, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
      return multiply(left(b, h, i), right(b, h, j));
    });
  }
};
} // namespace

/// Two axes, interleaved pairs from channel 0, with a modulus of the first.
TEST_F(VectorsTest, RotateByTwoAxes) {
  IntTensor &positions = inputs.positions["axes"];
  positions.shape = {2, batch, keys};
  for (int64_t x = 0; x < 2 * batch * keys; ++x)
    positions.data.push_back(x * x % 11);
  expectKeys(R"(
    %a = posenc.position key law(#posenc.position_tensor<name = "axes", axes = 2>)
    %b = posenc.position key law(#posenc.position_tensor<name = "axes", axes = 2, axis = 1>)
    %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.0]>)
    %g = posenc.freqs law(#posenc.frequencies<[0.25, 0.5]>)
    %y = posenc.rotate %k by(%a, %b) freqs(%f, %g) pairing(interleaved) first_dim(0) : !posenc.key modulus {
    ^bb0(%pair: f64, %p: f64):
      %two = arith.constant 2.0 : f64
      %m = arith.addf %pair, %two : f64
      %n = arith.addf %m, %p : f64
      posenc.yield %n : f64
    })",
             [&](int64_t b, int64_t h, int64_t j) {
               double p0 = positions.data[b * keys + j];
               double p1 = positions.data[(batch + b) * keys + j];
               double t[] = {p0 + 0.25 * p1, 0.5 * p1};
               Vector x = key(b, h, j), y(4);
               for (int64_t n = 0; n < 2; ++n) {
                 double m = n + 2 + p0;
                 y[2 * n] = m * (x[2 * n] * std::cos(t[n]) -
                                 x[2 * n + 1] * std::sin(t[n]));
                 y[2 * n + 1] = m * (x[2 * n] * std::sin(t[n]) +
                                     x[2 * n + 1] * std::cos(t[n]));
               }
               return y;
             });
}

/// Three frequencies mixed to one pair, of channels 2 and 3, per head. Keys
/// then differ within a group of query heads.
TEST_F(VectorsTest, RotateWithMix) {
  addTable("cos", {3, heads, 1});
  addTable("sin", {3, 1});
  const double frequencies[] = {1, 0.5, 0.125};
  expectKeys(
      R"(
    %j = posenc.position key law(#posenc.iota<offset = 2>)
    %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.125]>)
    %c = posenc.table law(#posenc.operand<"cos", rows = 3, channels = 1>) : !posenc.table<row, head, channel>
    %s0 = posenc.table law(#posenc.operand<"sin", rows = 3, channels = 1>) : !posenc.table<row, channel>
    %y = posenc.rotate %k by(%j) freqs(%f) mix(%c, %s0 : !posenc.table<row, head, channel>, !posenc.table<row, channel>) pairing(half) first_dim(2) : !posenc.key)",
      [&](int64_t b, int64_t h, int64_t j) {
        double c = 0, s = 0;
        for (int64_t m = 0; m < 3; ++m) {
          c += table("cos", {m, h, 0}) * std::cos((j + 2) * frequencies[m]);
          s += table("sin", {m, 0}) * std::sin((j + 2) * frequencies[m]);
        }
        Vector x = key(b, h, j);
        return Vector{x[0], x[1], x[2] * c - x[3] * s, x[2] * s + x[3] * c};
      });
}

/// Frequencies of the length (with the offset) and of a table per head.
TEST_F(VectorsTest, FrequenciesOfTheCall) {
  addTable("freq", {2, heads});
  auto wanted = [&](double length) {
    return [&, length](int64_t b, int64_t h, int64_t i) {
      Vector x = query(b, h, i), y(4);
      for (int64_t n = 0; n < 2; ++n) {
        double t = (place(i) + length - keys) *
                   (table("freq", {n, h}) * length + double(n));
        y[n] = x[n] * std::cos(t) - x[n + 2] * std::sin(t);
        y[n + 2] = x[n] * std::sin(t) + x[n + 2] * std::cos(t);
      }
      return y;
    };
  };
  auto text = [](const std::string &law) {
    return "%i0 = posenc.position query law(" + law + R"()
    %i = posenc.remap %i0 {
    ^bb0(%p: f64):
      posenc.yield %p : f64
    }
    %w = posenc.table law(#posenc.operand<"freq", rows = 2>) : !posenc.table<row, head>
    %f = posenc.freqs_map(%w) : !posenc.table<row, head> pairs(2) {
    ^bb0(%pair: f64, %length: f64, %x: f64):
      %y = arith.mulf %x, %length : f64
      %z = arith.addf %y, %pair : f64
      posenc.yield %z : f64
    }
    %x = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query)";
  };
  expectQueries(text("#posenc.iota"), wanted(keys));
  expectQueries(text("#posenc.iota<offset = 3>"), wanted(keys + 3));
}

TEST_F(VectorsTest, Vadd) {
  addTable("u", {heads, 4});
  addTable("rows", {4, 3});
  expectQueries(R"(
    %u = posenc.table law(#posenc.operand<"u", rows = 0, channels = 4>) : !posenc.table<head, channel>
    %x = posenc.vadd %q, %u : !posenc.query, !posenc.table<head, channel>)",
                [&](int64_t b, int64_t h, int64_t i) {
                  Vector x = query(b, h, i);
                  for (int64_t c = 0; c < 4; ++c)
                    x[c] += table("u", {h, c});
                  return x;
                });
  // Rows of positions, beyond the table the last one.
  expectKeys(R"(
    %j = posenc.position key law(#posenc.iota)
    %t = posenc.table law(#posenc.operand<"rows", rows = 3, channels = 4>) : !posenc.table<channel, row>
    %y = posenc.vadd %k, %t at(%j) : !posenc.key, !posenc.table<channel, row>)",
             [&](int64_t b, int64_t h, int64_t j) {
               Vector x = key(b, h, j);
               for (int64_t c = 0; c < 4; ++c)
                 x[c] += table("rows", {c, std::min<int64_t>(j, 2)});
               return x;
             });
}

TEST_F(VectorsTest, ChannelScaleAndMap) {
  addTable("gain", {heads, 4});
  expectKeys(R"(
    %g = posenc.table law(#posenc.operand<"gain", rows = 0, channels = 4>) : !posenc.table<head, channel>
    %a = posenc.channel_scale %k, %g offset(1.0) : !posenc.key, !posenc.table<head, channel>
    %y = posenc.vector_map %a : !posenc.key {
    ^bb0(%e: f64):
      %f = math.exp %e : f64
      posenc.yield %f : f64
    })",
             [&](int64_t b, int64_t h, int64_t j) {
               Vector x = key(b, h, j);
               for (int64_t c = 0; c < 4; ++c)
                 x[c] = std::exp(x[c] * (1 + table("gain", {h, c})));
               return x;
             });
}

TEST_F(VectorsTest, RowScale) {
  addTable("token", {batch, queries});
  addTable("rows", {4, heads});
  expectQueries(R"(
    %i = posenc.position query law(#posenc.iota)
    %t = posenc.table law(#posenc.operand<"token">) : !posenc.table<batch, query>
    %r = posenc.table law(#posenc.operand<"rows", rows = 4>) : !posenc.table<row, head>
    %x = posenc.row_scale %q(%i, %r, %t) : !posenc.query, !posenc.coord, !posenc.table<row, head>, !posenc.table<batch, query> {
    ^bb0(%p: f64, %a: f64, %b: f64):
      %u = arith.mulf %a, %b : f64
      %w = arith.addf %u, %p : f64
      posenc.yield %w : f64
    })",
                [&](int64_t b, int64_t h, int64_t i) {
                  Vector x = query(b, h, i);
                  int64_t row = std::min<int64_t>(place(i), 3);
                  for (double &e : x)
                    e *= place(i) +
                         table("rows", {row, h}) * table("token", {b, i});
                  return x;
                });
}

/// Takes off the mean and divides, over the channels of some vectors.
static Vector normalize(const Vector &vector, ArrayRef<Vector> all,
                        StringRef kind, double epsilon, bool isFloor) {
  double mean = 0, squares = 0, count = 4.0 * all.size();
  for (const Vector &x : all)
    for (double e : x)
      mean += kind == "layer" ? e / count : 0;
  for (const Vector &x : all)
    for (double e : x)
      squares += (e - mean) * (e - mean) / (kind == "l2" ? 1 : count);
  double norm = isFloor ? std::max(std::sqrt(squares), epsilon)
                        : std::sqrt(squares + epsilon);
  Vector result;
  for (double e : vector)
    result.push_back((e - mean) / norm);
  return result;
}

TEST_F(VectorsTest, NormsOfAHead) {
  for (StringRef kind : {"l2", "rms", "layer"})
    for (StringRef site : {"added", "floor"})
      for (double epsilon : {0.25, 1.0}) {
        std::string text =
            ("%x = posenc.vector_norm %q " + kind + " over(head) epsilon(" +
             (epsilon == 1 ? "1.0" : "0.25") + ") " + site + " : !posenc.query")
                .str();
        expectQueries(text, [&](int64_t b, int64_t h, int64_t i) {
          Vector x = query(b, h, i);
          return normalize(x, x, kind, epsilon, site == "floor");
        });
      }
}

/// Over the 4 query heads, and over the 2 key heads, of what came before.
TEST_F(VectorsTest, NormsOfAllHeads) {
  addTable("u", {heads, 4});
  for (StringRef kind : {"l2", "rms", "layer"}) {
    std::string norm =
        (" " + kind + " over(all_heads) epsilon(0.0625) added : !posenc.")
            .str();
    auto added = [&](int64_t b, int64_t h, int64_t i) {
      Vector x = query(b, h, i);
      for (int64_t c = 0; c < 4; ++c)
        x[c] += table("u", {h, c});
      return x;
    };
    expectQueries(R"(
      %u = posenc.table law(#posenc.operand<"u", rows = 0, channels = 4>) : !posenc.table<head, channel>
      %a = posenc.vadd %q, %u : !posenc.query, !posenc.table<head, channel>
      %x = posenc.vector_norm %a)" +
                      norm + "query",
                  [&](int64_t b, int64_t h, int64_t i) {
                    std::vector<Vector> all;
                    for (int64_t g = 0; g < heads; ++g)
                      all.push_back(added(b, g, i));
                    return normalize(added(b, h, i), all, kind, 0.0625, false);
                  });
    expectKeys("%y = posenc.vector_norm %k" + norm + "key",
               [&](int64_t b, int64_t h, int64_t j) {
                 std::vector<Vector> all = {key(b, 0, j), key(b, 2, j)};
                 return normalize(key(b, h, j), all, kind, 0.0625, false);
               });
  }
}

TEST_F(VectorsTest, NormsThatNeedOtherHeads) {
  addTable("u", {heads, 4});
  const char *rest = R"(
    %s = posenc.dot %q, %y scale(1.0)
    %p = posenc.normalize softmax %s
    %o = posenc.weighted_sum %p, %v)";
  EXPECT_EQ(refusal(std::string(R"(
    %u = posenc.table law(#posenc.operand<"u", rows = 0, channels = 4>) : !posenc.table<head, channel>
    %a = posenc.vadd %k, %u : !posenc.key, !posenc.table<head, channel>
    %y = posenc.vector_norm %a l2 over(all_heads) epsilon(1.0) added : !posenc.key)") +
                    rest),
            "expected the keys under 'posenc.vector_norm' over all heads to be "
            "the same for the query heads of a group, but a table over head "
            "takes part in them");
  inputs.q.shape[1] = 2;
  inputs.q.data.resize(batch * 2 * queries * headDim);
  inputs.k.shape[1] = inputs.v.shape[1] = 1;
  inputs.k.data.resize(batch * keys * headDim);
  inputs.v.data.resize(batch * keys * valueDim);
  EXPECT_EQ(refusal(std::string("%y = posenc.vector_norm %k l2 over(all_heads) "
                                "epsilon(1.0) added : !posenc.key") +
                    rest),
            "expected all 4 heads of the kernel, which 'posenc.vector_norm' "
            "reads together, but got 2");
}
