// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets that tiles are made for and the shape of their tiles.
// No Halide here: the driver needs the sizes too.
#ifndef POSENC_GENERATORS_HALIDE_TILETARGET_H
#define POSENC_GENERATORS_HALIDE_TILETARGET_H

#include "posenc/IR/Posenc.h"

namespace posenc {

/// Accumulators of one score, for the sake of accuracy: see OnlineSoftmax.cpp.
constexpr int kDotAccumulators = 2;

/// One line of the table of instruction sets.
struct TileTarget {
  llvm::StringRef isa;
  /// Halide's name. Every feature is spelled out: the machine that compiles
  /// does not matter.
  llvm::StringRef halideTarget;
  /// f32 lanes of a vector register.
  int64_t lanes;
  /// Keys, and value columns, whose accumulators are in registers together;
  /// a score has kDotAccumulators of them.
  int64_t keys, values;
  /// Edge of the square blocks that are transposed in registers.
  int64_t transpose;
};

/// Null for an instruction set without a generator.
const TileTarget *findTileTarget(llvm::StringRef isa);

/// "x86-64, x86-64-avx2, ...": for diagnostics.
std::string listTileTargets();

/// The sizes of one tile function.
struct TileShape {
  int64_t rows;
  int64_t lanes;
  int64_t keys, values;
  int64_t transpose;
  /// Keys between two updates of the running state.
  int64_t block;
  int64_t headDim, valueDim;

  /// Numbers that each row carries besides its output: see OnlineSoftmax.cpp.
  /// Padded so that the output starts at a register tile.
  static constexpr int64_t kRunningValues = 4;
  int64_t stateSlots() const { return llvm::alignTo(kRunningValues, values); }
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

#endif // POSENC_GENERATORS_HALIDE_TILETARGET_H
