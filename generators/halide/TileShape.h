// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of a plan's tiles. No Halide here: the driver needs the sizes too.
#ifndef POSENC_GENERATORS_HALIDE_TILESHAPE_H
#define POSENC_GENERATORS_HALIDE_TILESHAPE_H

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/IR/Posenc.h"

namespace posenc {

/// The sizes of one tile function.
struct TileShape {
  int64_t rows;
  int64_t lanes;
  int64_t keys, values;
  int64_t transpose;
  /// Keys between two updates of the running state.
  int64_t block;
  int64_t headDim, valueDim;

  /// Numbers that each row carries besides its output: see OnlineSoftmax.h.
  /// Padded so that the output starts at a register tile.
  int64_t runningValues = 4;
  int64_t stateSlots() const { return llvm::alignTo(runningValues, values); }
  int64_t stateColumns() const {
    return stateSlots() + llvm::alignTo(valueDim, values);
  }

  /// Room for the keys of one block. More than `block`, so that what a causal
  /// mask leaves behind the last whole block (up to block - 1 + rows keys) is
  /// one block and not two.
  int64_t blockCapacity() const { return llvm::alignTo(block + rows, keys); }
};

/// The shape of each entry of the plan's `rows`, or a diagnostic.
mlir::FailureOr<llvm::SmallVector<TileShape>> getTileShapes(PlanOp plan);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_TILESHAPE_H
