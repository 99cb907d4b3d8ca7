// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of one call of a tile function or key transform.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERARGUMENTS_H
#define POSENC_LIB_TRANSFORMS_DRIVERARGUMENTS_H

#include "DriverFrame.h"
#include "DriverKernel.h"
#include "DriverTables.h"

namespace posenc {

/// Where a call stands; i64 unless said.
struct CallSite {
  mlir::Value batch, head, kvHead; // in the key transform the keys' head is
                                   // both, unless each query head has its own
  mlir::Value heads;               // of the tile, from `head` on; null for one
  mlir::Value queryBegin, rows;    // null in the key transform
  mlir::Value keyBegin, keyCount;  // of new tokens where keys are theirs
  mlir::Value valueCount;          // null: as many as keys
  // Of the tile function; with several heads `tileRows` are those of one.
  mlir::Value tileRows, stateRows, stateColumns;
  llvm::SmallVector<mlir::Value> stepEnds; // keys of this call
  mlir::Value isFirst, isLast;             // i1: first and last run of the rows
  mlir::Value state;                       // address
  mlir::Value sums;                        // those of a recurrence
  mlir::Value scan;                        // that of the first scan
  mlir::Value transformed; // where the key transform writes; null: the place
                           // of these keys in the shared scratch
  // With networks: the address of their scores and the key of column 0. In the
  // call of a network `head` is null.
  mlir::Value scores, firstColumn;
  // What is drawn for the head, i64, if weights are dropped.
  mlir::Value dropout;
};

class DriverArguments {
public:
  DriverArguments(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
                  DriverPlan &plan)
      : b(b), frame(frame), kernel(kernel), plan(plan) {}

  llvm::SmallVector<mlir::Value> emit(const TileFunction &function,
                                      const CallSite &site);

  /// How many query rows (keys) one call of `function` may have, so that
  /// offsets within its buffers fit in 32 bits.
  mlir::Value emitRowLimit(const TileFunction &function);
  mlir::Value emitKeyLimit(const TileFunction &function);
  /// Whether the heads and queries of packed tiles leave offsets room for keys,
  /// i1.
  mlir::Value emitHeadsFit(const TileFunction &function);

private:
  struct Dimension {
    mlir::Value extent, stride;
    mlir::Value min = {}; // null for 0
  };
  using Dimensions = llvm::SmallVector<Dimension, 4>;

  mlir::Value emitBuffer(mlir::Value host, const Dimensions &dimensions,
                         bool isInteger = false,
                         Storage storage = Storage::F32);
  /// The factors of the codes of keys or values from a head and row on; of all
  /// heads without one.
  mlir::Value emitScales(bool areOfValues, const CallSite &site,
                         mlir::Value head, mlir::Value begin,
                         mlir::Value count);
  mlir::Value emitArgument(const TileArg &arg, const CallSite &site);
  mlir::Value emitKeys(const CallSite &site, llvm::StringRef symbol);
  mlir::Value emitKeptRow(int64_t vector, const CallSite &site);
  mlir::Value emitValuePairs(const CallSite &site);
  mlir::Value emitFirstRow(unsigned tensor, mlir::Value batch, mlir::Value head,
                           mlir::Value begin, bool isIndirect);
  mlir::Value emitVectors(unsigned tensor, mlir::Value batch, mlir::Value head,
                          mlir::Value begin, mlir::Value count, int64_t dim,
                          mlir::Value heads = {});
  mlir::Value emitRows(unsigned tensor, mlir::Value begin, mlir::Value count);
  mlir::Value emitScaleRows(bool areOfValues, mlir::Value begin,
                            mlir::Value count);
  mlir::Value emitOwnKey(const CallSite &site);
  mlir::Value emitScan(const TileArg &arg, const CallSite &site);
  mlir::Value emitAngles(const TileArg &arg, const CallSite &site, Side side);
  mlir::Value emitScores(const TileArg &arg, const CallSite &site);
  mlir::Value emitStrip(const TileArg &arg, const CallSite &site);
  mlir::Value emitTable(const TileArg &arg, const CallSite &site);
  mlir::Value emitConstants(const TileArg &arg, const CallSite &site);
  mlir::Value emitPrepared(const TileArg &arg, const CallSite &site);
  void cutRows(DriverTable &table, const CallSite &site, PreparedRows &rows);
  /// A slice of a table whose axes have these extents and strides, from the
  /// first row and key of the call on.
  mlir::Value emitSlice(const TileArg &arg, const CallSite &site,
                        mlir::Value address,
                        llvm::ArrayRef<mlir::Value> extents,
                        llvm::ArrayRef<mlir::Value> strides,
                        mlir::Value lowestRow = {}, mlir::Value restStride = {},
                        mlir::Type type = {});
  mlir::Value emitPositions(const TileArg &arg, const CallSite &site);
  mlir::Value emitOutput(const CallSite &site);
  mlir::Value emitDropoutWord(llvm::StringRef word, const CallSite &site);
  mlir::Value emitLogSumExp(const CallSite &site);
  mlir::Value emitLimit(const TileFunction &function,
                        llvm::ArrayRef<mlir::Value> strides);
  /// Strides of the operand tables that the function reads by `dim`.
  void addTableStrides(const TileFunction &function, TableAxis dim,
                       llvm::SmallVectorImpl<mlir::Value> &strides);

  DriverBuilder &b;
  DriverFrame frame;
  DriverKernel &kernel;
  DriverPlan &plan;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERARGUMENTS_H
