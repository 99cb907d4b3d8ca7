// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of a plan's tiles. No Halide here: the driver needs the sizes too.
#ifndef POSENC_GENERATORS_HALIDE_TILESHAPE_H
#define POSENC_GENERATORS_HALIDE_TILESHAPE_H

#include "posenc/Analysis/PairProducts.h"
#include "posenc/IR/Posenc.h"

namespace posenc {

/// The sizes of one tile function.
struct TileShape {
  int64_t rows;
  /// Of a register, and of vectors of rows.
  int64_t registerLanes, lanes;
  int64_t keys, values;
  int64_t transpose;
  /// Keys between two updates of the running state.
  int64_t block;
  int64_t headDim, valueDim;
  /// Which products are those of pairs of bf16.
  PairProducts pairs;

  /// In packed plans: whether buffers have a dimension of heads, and how many
  /// heads the rows of a tile alternate between.
  bool hasHeads = false;
  int64_t group = 1;
  /// The queries that rows belong to.
  int64_t queries() const { return llvm::divideCeil(rows, group); }

  /// A tile of few rows has channels as lanes, so many in a vector, where
  /// queries meet keys and weights meet values; 0: its rows are lanes. `keys`
  /// are then those of as many scores, and `values` counts vectors.
  int64_t channelLanes = 0;
  bool hasChannelLanes() const { return channelLanes != 0; }
  /// Whether all rows read keys and values from a copy of each block.
  bool copiesBlocks = false;
  /// The vectors of an output.
  int64_t valueVectors() const { return valueDim / channelLanes; }

  /// Numbers that each row carries besides its output: see OnlineSoftmax.h.
  /// Padded so that the output starts at a register tile.
  int64_t runningValues = 4;
  int64_t stateSlots() const { return llvm::alignTo(runningValues, values); }
  /// With channels as lanes the output of a row is columns one after another.
  int64_t stateRows() const { return hasChannelLanes() ? channelLanes : rows; }
  int64_t stateLanes() const {
    return hasChannelLanes() ? channelLanes : lanes;
  }
  int64_t stateColumns() const {
    return stateSlots() + (hasChannelLanes() ? rows * valueVectors()
                                             : llvm::alignTo(valueDim, values));
  }

  /// Room for the keys of one block. In plans with whole blocks more than
  /// `block`, so that what a causal mask leaves behind the last of them (up to
  /// block - 1 + rows keys) is one block and not two.
  int64_t extraKeys = 0;
  int64_t blockCapacity() const {
    return llvm::alignTo(block + extraKeys, keys);
  }
};

/// The shape of each entry of the plan's `rows`, or a diagnostic.
mlir::FailureOr<llvm::SmallVector<TileShape>> getTileShapes(PlanOp plan);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_TILESHAPE_H
