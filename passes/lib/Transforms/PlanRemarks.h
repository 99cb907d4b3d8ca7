// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How posenc-plan says what it decided.
#ifndef POSENC_LIB_TRANSFORMS_PLANREMARKS_H
#define POSENC_LIB_TRANSFORMS_PLANREMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace posenc {

inline constexpr llvm::StringLiteral kPlanCategory = "posenc-plan";

/// A term that got the place that costs least.
inline mlir::remark::detail::InFlightRemark planned(mlir::Operation *op,
                                                    llvm::StringRef name) {
  return mlir::remark::passed(
      op->getLoc(),
      mlir::remark::RemarkOpts::name(name).category(kPlanCategory));
}

/// A term that had to take a place that costs more.
inline mlir::remark::detail::InFlightRemark missed(mlir::Operation *op,
                                                   llvm::StringRef name) {
  return mlir::remark::missed(
      op->getLoc(),
      mlir::remark::RemarkOpts::name(name).category(kPlanCategory));
}

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANREMARKS_H
