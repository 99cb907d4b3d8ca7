// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that kernels and their plans have in common.
#ifndef POSENC_LIB_IR_KERNELSHAPE_H
#define POSENC_LIB_IR_KERNELSHAPE_H

#include "mlir/IR/Operation.h"

namespace posenc {

/// kernel_c1, kernel_c2, plan_c1.
inline llvm::LogicalResult verifyKernelShape(mlir::Operation *op, int64_t heads,
                                             int64_t kvHeads, int64_t headDim,
                                             int64_t valueDim) {
  if (heads <= 0 || heads > 65536)
    return op->emitOpError(
               "expects 'heads' to be between 1 and 65536, but got ")
           << heads;
  if (kvHeads <= 0 || heads % kvHeads != 0)
    return op->emitOpError("expects 'kv_heads' to be a positive divisor of "
                           "'heads' (")
           << heads << "), but got " << kvHeads;
  if (headDim < 2 || headDim > 256 || headDim % 2 != 0)
    return op->emitOpError("expects 'head_dim' to be even and between 2 and "
                           "256, but got ")
           << headDim;
  if (valueDim < 1 || valueDim > 256)
    return op->emitOpError("expects 'value_dim' to be between 1 and 256, but "
                           "got ")
           << valueDim;
  return llvm::success();
}

/// Whether [first, first + count) lies within [0, size).
inline bool isWithin(int64_t first, int64_t count, int64_t size) {
  return first >= 0 && count <= size && first <= size - count;
}

} // namespace posenc

#endif // POSENC_LIB_IR_KERNELSHAPE_H
