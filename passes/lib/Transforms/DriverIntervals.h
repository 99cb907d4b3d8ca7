// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between which numbers positions, relations and functions of them lie for some
// queries and some keys: whether a mask can show any of their pairs.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERINTERVALS_H
#define POSENC_LIB_TRANSFORMS_DRIVERINTERVALS_H

#include "DriverFrame.h"
#include "DriverKernel.h"

namespace posenc {

/// The bounds of a number, f64, which may be infinite; those of a truth value
/// are i1: whether it is surely true, and whether it may be. A bound that is
/// NaN says nothing.
struct Interval {
  mlir::Value low, high;
};

/// Tokens [begin, end), at least one; i64.
struct TokenRange {
  mlir::Value begin, end;
};

/// Emits where the builder stands; a value that is used twice is emitted once.
class IntervalEmitter {
public:
  using Value = mlir::Value;

  struct Site {
    Value batch, head; // counted from the call's first
    TokenRange queries, keys;
  };

  IntervalEmitter(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
                  Site site)
      : b(b), frame(frame), kernel(kernel), site(site) {}

  /// Emits what a select reads of the queries alone.
  void emitQueries(SelectOp select);
  /// The same for other keys, with what has been emitted of the queries.
  IntervalEmitter withKeys(TokenRange keys) const;
  /// Whether a select may keep the score of a pair, i1.
  Value emitMayAllow(SelectOp select);
  /// A position, a relation, or a number of a table.
  Interval emit(Value value);

private:
  Interval emitPosition(PositionOp op);
  Interval emitRelation(RelationOp op);
  Interval emitRelationMap(RelationMapOp op);
  Interval emitTable(TableOp op);
  Interval emitRegion(mlir::Region &region, mlir::ValueRange inputs);
  /// The extremes of numbers of tokens.
  Interval emitExtremes(TokenRange tokens,
                        llvm::function_ref<Value(Value token)> number);
  void hoist(Value value);
  Interval anything();
  Value f64(double value);
  Value toF64(Value integer);

  DriverBuilder &b;
  DriverFrame frame;
  DriverKernel &kernel;
  Site site;
  llvm::DenseMap<Value, Interval> known;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERINTERVALS_H
