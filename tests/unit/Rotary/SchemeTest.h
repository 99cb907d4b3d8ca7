// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the reference, and what formulas of schemes are written with.
#ifndef POSENC_TESTS_UNIT_ROTARY_SCHEMETEST_H
#define POSENC_TESTS_UNIT_ROTARY_SCHEMETEST_H

#include "posenc/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <random>
#include <string>

namespace posenc {

using Vector = std::vector<double>;
constexpr double masked = -INFINITY;

/// The vector with its pairs multiplied by m(k) e^(i angle(k)). Channels of
/// pair k: (k, k + n) if half, (2k, 2k + 1) if not, counted from `first`.
Vector turn(
    Vector x, bool half, int first, int pairs, std::function<double(int)> angle,
    std::function<double(int)> m = [](int) { return 1.0; });
double dot(const Vector &a, const Vector &b);

class SchemeTest : public testing::Test {
protected:
  SchemeTest();

  /// Random q, k and v.
  void make(int batch, int heads, int kvHeads, int queries, int keys,
            int headDim, int valueDim = 3);
  /// A random table of the call.
  RealTensor &table(llvm::StringRef name, std::vector<int64_t> shape);
  IntTensor &positions(llvm::StringRef name, std::vector<int64_t> shape,
                       std::vector<int64_t> values);

  ReferenceOutputs evaluate(llvm::StringRef clauses);
  /// Compares scores, and outputs by softmax, with a formula of one score.
  void expectScores(llvm::StringRef clauses,
                    std::function<double(int b, int h, int i, int j)> score);
  void expectSame(const ReferenceOutputs &got, const ReferenceOutputs &wanted,
                  double tolerance = 1e-12);
  /// The frequencies of the kernel's first rotation.
  Vector frequencies(llvm::StringRef clauses, int headDim);
  double dotScale(llvm::StringRef clauses, int headDim);

  Vector query(int b, int h, int i) const;
  Vector key(int b, int h, int j) const;
  /// The position of query i among the keys.
  int at(int i) const { return i + Lk - Lq; }

  mlir::MLIRContext context;
  ReferenceInputs inputs;
  int B = 1, H = 1, Hkv = 1, Lq = 1, Lk = 1, D = 2, Dv = 3;
  std::mt19937 random{1};

private:
  mlir::OwningOpRef<mlir::ModuleOp> expand(const std::string &text);
  RealTensor makeRandom(std::vector<int64_t> shape);
};

} // namespace posenc

#endif // POSENC_TESTS_UNIT_ROTARY_SCHEMETEST_H
