// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What numbers of a kernel compiled code can hold.
#ifndef POSENC_LIB_TRANSFORMS_PLANNUMBERS_H
#define POSENC_LIB_TRANSFORMS_PLANNUMBERS_H

#include "posenc/IR/Posenc.h"

namespace posenc {

/// Compiled code computes scores and vectors in f32: refuses numbers of f64 in
/// memory, factors of products, offsets of channel scales, epsilons of norms,
/// constants of tables and constants in functions of scores and vectors that
/// are too large or too small for it.
mlir::LogicalResult checkNumbers(KernelOp kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANNUMBERS_H
