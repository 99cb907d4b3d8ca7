// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The items of work of one plan: chunks of keys and query tiles.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERITEMS_H
#define POSENC_LIB_TRANSFORMS_DRIVERITEMS_H

#include "DriverFrame.h"
#include "DriverKernel.h"
#include "DriverTiling.h"

namespace posenc {

/// A function (frame, item, worker) -> status and the number of its items.
struct DriverItems {
  mlir::func::FuncOp function;
  std::function<mlir::Value(DriverBuilder &, DriverFrame)> emitCount;
};

/// Transforms the keys of one (batch entry, key head) by chunks, or those of
/// one query head where query heads have their own.
DriverItems emitKeyItems(DriverBuilder &b, DriverKernel &kernel,
                         DriverPlan &plan);

/// Computes the query tiles of one (batch entry, head), long ones first; with
/// networks over heads those of all heads of a batch entry.
DriverItems emitTileItems(DriverBuilder &b, DriverKernel &kernel,
                          DriverPlan &plan);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERITEMS_H
