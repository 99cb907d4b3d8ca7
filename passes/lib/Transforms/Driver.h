// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the host program that are made once per kernel.
#ifndef POSENC_LIB_TRANSFORMS_DRIVER_H
#define POSENC_LIB_TRANSFORMS_DRIVER_H

#include "DriverItems.h"

namespace posenc {

/// The kernel's posenc_kernel_desc, internal constant data.
mlir::LLVM::GlobalOp emitDescription(DriverBuilder &b, DriverKernel &kernel);

/// The functions that a program calls and all that they need.
void emitDriver(DriverBuilder &b, DriverKernel &kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVER_H
