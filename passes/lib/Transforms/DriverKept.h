// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the key function of a plan keeps behind the lists of rows in the shared
// scratch: transformed keys as f32, then pairs of values.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERKEPT_H
#define POSENC_LIB_TRANSFORMS_DRIVERKEPT_H

#include "DriverFrame.h"
#include "DriverKernel.h"

namespace posenc {

/// Bytes of the transformed keys, and of all that is kept for the tiles of a
/// plan.
mlir::Value emitKeyVectorBytes(DriverBuilder &b, DriverFrame frame,
                               DriverPlan &plan);
mlir::Value emitTransformedBytes(DriverBuilder &b, DriverFrame frame,
                                 DriverPlan &plan);

/// Bytes of the pairs of one key's values.
inline int64_t getPairBytes(DriverPlan &plan) {
  return 2 * sizeof(uint16_t) * plan.op.getValueDim();
}

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERKEPT_H
