// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How posenc-plan says what it decided.
#ifndef POSENC_LIB_TRANSFORMS_PLANREMARKS_H
#define POSENC_LIB_TRANSFORMS_PLANREMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace posenc {

inline mlir::remark::RemarkOpts planRemark(llvm::StringRef name) {
  return mlir::remark::RemarkOpts::name(name).category("posenc-plan");
}

/// A term that got the place that costs least. Says nothing unless asked for.
inline void planned(mlir::Operation *op, llvm::StringRef name,
                    const llvm::Twine &text) {
  mlir::remark::passed(op->getLoc(), planRemark(name)) << text.str();
}

/// A term that had to take a place that costs more.
inline void missed(mlir::Operation *op, llvm::StringRef name,
                   const llvm::Twine &text) {
  mlir::remark::missed(op->getLoc(), planRemark(name)) << text.str();
}

/// A fact that was decided for a kernel as a whole.
inline void noted(mlir::Operation *op, llvm::StringRef name,
                  const llvm::Twine &text) {
  mlir::remark::analysis(op->getLoc(), planRemark(name)) << text.str();
}

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANREMARKS_H
