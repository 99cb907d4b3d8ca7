// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the rows of keys and values in pages or rings are: a list of all rows
// of a sequence is made once per call, so that tiles know nothing of them.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERROWS_H
#define POSENC_LIB_TRANSFORMS_DRIVERROWS_H

#include "DriverFrame.h"
#include "DriverKernel.h"

namespace posenc {

/// The lists at the start of the shared scratch: int32 offsets in elements of
/// keys, then those of values, then those of the scales of both where each
/// token has one, for the longest keys of each batch entry that are in memory.
/// 0 bytes for keys that lie one after another.
mlir::Value emitRowBytes(DriverBuilder &b, DriverFrame frame,
                         DriverKernel &kernel);

/// The list of the frame's sequence for the tensor of keys, values or their
/// scales: where that of key 0 would be.
mlir::Value emitKeyRows(DriverBuilder &b, DriverFrame frame,
                        DriverKernel &kernel, unsigned tensor);

/// i32 (frame, batch entry, worker): fills the lists of a batch entry.
mlir::func::FuncOp emitRowItem(DriverBuilder &b, DriverKernel &kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERROWS_H
