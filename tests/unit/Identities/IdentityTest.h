// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of level 2, evaluated by the reference on random inputs.
#ifndef POSENC_TESTS_UNIT_IDENTITIES_IDENTITYTEST_H
#define POSENC_TESTS_UNIT_IDENTITIES_IDENTITYTEST_H

#include "posenc/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <random>
#include <string>

namespace posenc {

struct Lengths {
  int queries, keys;
};

/// Odd lengths, one token, decoding.
inline constexpr Lengths lengths[] = {{1, 1}, {1, 9}, {6, 6}, {5, 11}};

class IdentityTest : public testing::Test {
protected:
  static constexpr int batch = 2, heads = 2, headDim = 8, valueDim = 3;

  IdentityTest();

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);
  static KernelOp getKernel(mlir::ModuleOp module) {
    return *module.getOps<KernelOp>().begin();
  }
  /// A kernel of 2 heads of 8 channels with that body; `%q`, `%k` and `%v` are
  /// its vectors, `%s` is the score that it makes.
  static std::string withSoftmax(const std::string &operations,
                                 const std::string &clauses = "");

  /// Random vectors and operands for a kernel.
  ReferenceInputs makeInputs(KernelOp kernel, Lengths lengths);
  RealTensor makeTensor(std::vector<int64_t> shape);

  static ReferenceOutputs evaluate(KernelOp kernel,
                                   const ReferenceInputs &inputs);
  ReferenceOutputs evaluate(const std::string &text,
                            const ReferenceInputs &inputs);

  mlir::MLIRContext context;
  std::mt19937 random{1};
};

/// The largest difference, relative to the larger of 1 and the number wanted.
/// Infinities must be equal.
double getDifference(const RealTensor &got, const RealTensor &wanted);

} // namespace posenc

#endif // POSENC_TESTS_UNIT_IDENTITIES_IDENTITYTEST_H
