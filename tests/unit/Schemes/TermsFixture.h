// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the reference, and what formulas of schemes are written with.
#ifndef POSENC_TESTS_UNIT_SCHEMES_TERMSFIXTURE_H
#define POSENC_TESTS_UNIT_SCHEMES_TERMSFIXTURE_H

#include "posenc/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace posenc {

constexpr double masked = -INFINITY;

class TermsTest : public testing::Test {
protected:
  TermsTest();

  struct Extents {
    int B = 1, H = 2, Hkv = 1, Lq = 5, Lk = 5, D = 4, Dv = 3;
  };

  /// A kernel of those clauses, and random numbers for all that it reads.
  void make(const std::string &clauses, Extents extents);
  void evaluate();

  /// The score of a pair, masked ones included.
  using Score = std::function<double(int b, int h, int i, int j)>;
  using Output = std::function<double(int b, int h, int i, int c)>;
  /// evaluate(), and compares scores, and outputs with their softmax.
  void expectScores(const Score &score);
  /// Compares what the normaliser reads.
  void expectPairs(const Score &score);
  void expectOutput(const Output &output);
  /// softmax of `score` times the values, with a sink if it is finite.
  Output softmax(const Score &score, std::function<double(int h)> sink = {});

  double q(int b, int h, int i, int c) const {
    return inputs.q.data[((b * e.H + h) * e.Lq + i) * e.D + c];
  }
  double k(int b, int h, int j, int c) const {
    return inputs.k.data[((b * e.Hkv + h * e.Hkv / e.H) * e.Lk + j) * e.D + c];
  }
  double v(int b, int h, int j, int c) const {
    return inputs.v.data[((b * e.Hkv + h * e.Hkv / e.H) * e.Lk + j) * e.Dv + c];
  }
  double dot(int b, int h, int i, int j) const;
  double sdot(int b, int h, int i, int j) const {
    return dot(b, h, i, j) / std::sqrt(e.D);
  }
  /// A number of a table, in C order of its own axes.
  double t(const std::string &name, int i, int j = -1, int l = -1) const;
  int position(const std::string &name, int b, int j) const {
    return inputs.positions.find(name)->second.data[b * e.Lk + j];
  }
  /// The key at which query i stands.
  int at(int i) const { return i + e.Lk - e.Lq; }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string clauses;
  ReferenceInputs inputs;
  ReferenceOutputs got;
  Extents e;
  std::mt19937 random{1};
};

} // namespace posenc

#endif // POSENC_TESTS_UNIT_SCHEMES_TERMSFIXTURE_H
