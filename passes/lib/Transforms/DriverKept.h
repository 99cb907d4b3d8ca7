// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the key function keeps at the start of the shared scratch: transformed
// keys as f32, then pairs of values.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERKEPT_H
#define POSENC_LIB_TRANSFORMS_DRIVERKEPT_H

#include "DriverFrame.h"
#include "DriverKernel.h"

namespace posenc {

/// Bytes of the transformed keys, and of all that is kept.
mlir::Value emitKeyVectorBytes(DriverBuilder &b, DriverFrame frame,
                               DriverKernel &kernel);
mlir::Value emitTransformedBytes(DriverBuilder &b, DriverFrame frame,
                                 DriverKernel &kernel);

/// Bytes of the pairs of one key's values.
inline int64_t getPairBytes(DriverKernel &kernel) {
  return 2 * sizeof(uint16_t) * kernel.op.getValueSize();
}

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERKEPT_H
