// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the passes that apply identities say and have in common.
#ifndef POSENC_LIB_TRANSFORMS_IDENTITYREMARKS_H
#define POSENC_LIB_TRANSFORMS_IDENTITYREMARKS_H

#include "posenc/IR/Posenc.h"

#include "mlir/IR/Remarks.h"

namespace posenc {

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

/// Whether a number comes from a tensor that the caller passes. Such
/// tensors are the kernel's interface, which a pass must not change.
bool readsOperand(mlir::Value input);

/// Erases the primitives that nothing uses any more.
void eraseDead(mlir::Block &block);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_IDENTITYREMARKS_H
