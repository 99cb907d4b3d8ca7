// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Specifications and inputs of the numeric tests.
#ifndef POSENC_NUMERICS_FIXTURE_H
#define POSENC_NUMERICS_FIXTURE_H

#include "posenc/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include <random>
#include <string>

namespace posenc::numerics {

/// A specification, parsed, with its first kernel expanded beside it.
class Spec {
public:
  /// Text that does not parse ends the program: it is the test's own.
  explicit Spec(llvm::StringRef text);

  mlir::ModuleOp getModule() const { return *module; }
  KernelOp getKernel() const { return kernel; }
  /// What fills its cache.
  KernelOp getAppend() const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module, expanded;
  KernelOp kernel;
};

mlir::MLIRContext &getContext();

/// `text` with `to` wherever it had `from`.
std::string replaceAll(std::string text, llvm::StringRef from,
                       llvm::StringRef to);

/// The extents of a call.
struct Extents {
  int64_t batch = 1, heads = 1, kvHeads = 1, queryLen = 1, keyLen = 1;
  int64_t headDim = 2, valueDim = 2;
};

/// Numbers that f32 holds exactly, about normal with deviation `magnitude`.
RealTensor makeRandom(std::mt19937 &random, llvm::ArrayRef<int64_t> shape,
                      double magnitude = 1);

/// Random q, k, v and operands of a kernel, which suit their names: positions
/// rise with gaps and some repeats, tables whose name starts with "one" have
/// one head, and so on.
ReferenceInputs makeInputs(KernelOp kernel, const Extents &extents,
                           unsigned seed, double magnitude = 1);

/// evaluateReference() of what must be valid.
ReferenceOutputs evaluate(KernelOp kernel, const ReferenceInputs &inputs);

/// What differs by more than `tolerance`, in one line, or nothing. Infinities
/// must be equal.
std::string compare(llvm::StringRef name, const RealTensor &got,
                    const RealTensor &wanted, double tolerance);

/// The same of scores, outputs and log-sum-exps.
std::string compareAll(const ReferenceOutputs &got,
                       const ReferenceOutputs &wanted, double tolerance);

/// Elements [begin, end) of an axis.
template <typename TensorT>
TensorT slice(const TensorT &from, size_t axis, int64_t begin, int64_t end) {
  TensorT result;
  result.shape = from.shape;
  result.shape[axis] = end - begin;
  int64_t inner = 1, outer = 1;
  for (size_t x = 0; x < from.shape.size(); ++x)
    (x < axis ? outer : inner) *= x == axis ? 1 : from.shape[x];
  for (int64_t o = 0; o < outer; ++o) {
    auto start = from.data.begin() + o * from.shape[axis] * inner;
    result.data.insert(result.data.end(), start + begin * inner,
                       start + end * inner);
  }
  return result;
}

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_FIXTURE_H
