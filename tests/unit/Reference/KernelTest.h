// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small kernels of level 2 against a few lines of arithmetic.
#ifndef POSENC_TESTS_KERNELTEST_H
#define POSENC_TESTS_KERNELTEST_H

#include "posenc/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <functional>

namespace posenc {

/// 2 batch entries, 4 query and 2 key heads, 3 queries, 5 keys, head_dim 4 and
/// value_dim 3, with arbitrary numbers of magnitude 1.
class KernelTest : public testing::Test {
protected:
  KernelTest();

  static constexpr int64_t batch = 2, heads = 4, kvHeads = 2, queries = 3,
                           keys = 5, headDim = 4, valueDim = 3;
  using PairFunction =
      std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)>;
  using OutputFunction =
      std::function<double(int64_t b, int64_t h, int64_t i, int64_t c)>;

  /// Numbers that differ from those of any other name.
  RealTensor &addTable(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);

  double q(int64_t b, int64_t h, int64_t i, int64_t c) const;
  double k(int64_t b, int64_t h, int64_t j, int64_t c) const;
  double v(int64_t b, int64_t h, int64_t j, int64_t c) const;
  double table(llvm::StringRef name, llvm::ArrayRef<int64_t> index) const;
  double dot(int64_t b, int64_t h, int64_t i, int64_t j) const;
  /// Storage indices are aligned at the last query.
  static int64_t place(int64_t i) { return i + keys - queries; }

  /// A kernel of those operations; `%q`, `%k` and `%v` are its vectors.
  llvm::Expected<ReferenceOutputs> evaluate(llvm::StringRef operations);
  /// Operations that make a score %s.
  ReferenceOutputs evaluateScores(llvm::StringRef operations);
  void expectScores(llvm::StringRef operations, const PairFunction &wanted);
  /// Operations that make an output %o.
  ReferenceOutputs evaluateOutput(llvm::StringRef operations);
  void expectOutput(llvm::StringRef operations, const OutputFunction &wanted);
  std::string refusal(llvm::StringRef operations);

  mlir::MLIRContext context;
  ReferenceInputs inputs;
};

} // namespace posenc

#endif // POSENC_TESTS_KERNELTEST_H
