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

/// Returns the code of a function of the generator as a status.
void returnStatus(DriverBuilder &b, DriverFrame frame, mlir::Value code);

/// The key head that a query head reads.
mlir::Value emitKeyHead(DriverBuilder &b, DriverKernel &kernel,
                        mlir::Value head);

/// Transforms the keys of one (batch entry, key head) by chunks, or those of
/// one query head where query heads have their own.
DriverItems emitKeyItems(DriverBuilder &b, DriverKernel &kernel,
                         DriverPlan &plan);

/// The query tiles of a plan, long ones first; with networks over heads a tile
/// is that of all heads.
struct TileItems {
  DriverItems tiles;
  /// Run after the tiles: merges what their parts left. No function if tiles
  /// are never split, no items in calls that split none.
  DriverItems merges;
  /// What parts leave, behind the transformed keys in the shared scratch.
  std::function<mlir::Value(DriverBuilder &, DriverFrame)> emitPartBytes;
};
TileItems emitTileItems(DriverBuilder &b, DriverKernel &kernel,
                        DriverPlan &plan);

/// Whether a call has few enough queries for a packed plan, i1: by shapes and
/// strides alone.
mlir::Value emitUsesPacked(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, DriverPlan &packed);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERITEMS_H
