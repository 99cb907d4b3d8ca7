// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which keys the query rows of a tile walk, and how long runs are split.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERRANGES_H
#define POSENC_LIB_TRANSFORMS_DRIVERRANGES_H

#include "DriverFrame.h"
#include "DriverKernel.h"
#include "DriverTiling.h"

#include <memory>

namespace posenc {

/// Storage indices of keys.
struct KeyRange {
  mlir::Value begin;
  /// Keys before this one are the last step's, in calls of their own. Null if
  /// there is no such step.
  mlir::Value entryEnd;
  /// Where each step of a tile function would end if its keys need not be whole
  /// blocks; the last one is the end of the range.
  llvm::SmallVector<mlir::Value> stepEnds;

  mlir::Value end() const { return stepEnds.back(); }
};

/// The keys of the rows [begin, end).
KeyRange emitKeyRange(DriverBuilder &b, DriverFrame frame, DriverPlan &plan,
                      mlir::Value begin, mlir::Value end);

/// The (batch entry, head) pairs whose tiles are items of their own; a network
/// mixes all heads, and packed tiles are those of a key head.
mlir::Value emitSeparateHeads(DriverBuilder &b, DriverFrame frame,
                              DriverPlan &plan);

/// All tiles of a call.
mlir::Value emitTiles(DriverBuilder &b, DriverFrame frame, DriverPlan &plan,
                      const TileCut &cut);

/// Long runs of keys against few tiles are split, so that several threads can
/// share a tile. Each part leaves a state in the shared scratch; those of a
/// tile are merged in their order. The number of parts depends on shapes and
/// strides only, so that results do not depend on the threads.
class KeySplits {
public:
  /// Defines the functions that the methods below call.
  KeySplits(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan,
            std::shared_ptr<const TileCut> cut);

  /// Whether the states of two parts can be merged, and are those of one head.
  static bool canSplit(DriverPlan &plan) {
    return !plan.hasOneRun() && plan.networks.empty();
  }

  /// The parts of every tile of a call.
  mlir::Value emitCount(DriverBuilder &b, DriverFrame frame) const;
  /// The bytes of all their states: 0 for one part, whose state is in the
  /// scratch of a worker.
  mlir::Value emitBytes(DriverBuilder &b, DriverFrame frame) const;
  /// Adds the second state of a tile to the first. `outputColumns` are those of
  /// the tile function.
  struct StateShape {
    mlir::Value rows, columns, firstOutput, outputColumns;
  };
  void emitMerge(DriverBuilder &b, mlir::Value first, mlir::Value second,
                 const StateShape &shape) const;

private:
  void defineCount(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan);
  void defineMerge(DriverBuilder &b, DriverPlan &plan);

  DriverPlan *plan;
  std::shared_ptr<const TileCut> cut;
  int64_t stateBytes;
  std::string count, merge; // names of functions; empty for one part
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERRANGES_H
