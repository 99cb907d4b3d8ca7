// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The identities that posenc-simplify-scores applies, one function each.
#ifndef POSENC_LIB_TRANSFORMS_SCOREIDENTITIES_H
#define POSENC_LIB_TRANSFORMS_SCOREIDENTITIES_H

#include "posenc/IR/Posenc.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"

namespace posenc {

/// Whether an input of a bias comes from a tensor that the caller passes. Such
/// tensors are the kernel's interface, which the pass must not change.
bool readsOperand(mlir::Value input);

/// The inputs that a bias must keep: those that reach its result, and operands.
llvm::BitVector getKeptInputs(BiasOp bias);

/// Drops biases that add the same number to all scores of a row, where nothing
/// can see it. Returns whether the kernel changed, as the others do.
bool dropRowConstants(KernelOp kernel);

/// Merges the Toeplitz biases of one sum that fit one strip.
bool mergeToeplitzBiases(KernelOp kernel);

/// Evaluates the parts of bias regions that depend on one constant table only.
bool foldConstantParts(KernelOp kernel);

/// Reports what was done, or was not and why.
inline void reportPassed(mlir::Location loc, llvm::StringRef name,
                         const llvm::Twine &message) {
  mlir::remark::passed(
      loc, mlir::remark::RemarkOpts::name(name).category("posenc-simplify"))
      << message.str();
}
inline void reportMissed(mlir::Location loc, llvm::StringRef name,
                         const llvm::Twine &message) {
  mlir::remark::missed(
      loc, mlir::remark::RemarkOpts::name(name).category("posenc-simplify"))
      << message.str();
}

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_SCOREIDENTITIES_H
