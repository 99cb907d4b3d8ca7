// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that do not depend on content, one at a time and in double precision:
// what strips, tables of rows and tables of angles are filled with.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERSCALAR_H
#define POSENC_LIB_TRANSFORMS_DRIVERSCALAR_H

#include "DriverFrame.h"
#include "DriverKernel.h"

namespace posenc {

/// Where a number is wanted: i64, null where it does not depend on one.
struct ScalarSite {
  mlir::Value batch;
  mlir::Value head;       // counted from the call's first: of operands
  mlir::Value kernelHead; // counted from the kernel's first: of constants
  mlir::Value query, key; // storage indices; queries may come before row 0
};

/// Emits where the builder stands; a value that is used twice is emitted once.
class ScalarEmitter {
public:
  using Value = mlir::Value;

  ScalarEmitter(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
                ScalarSite site)
      : b(b), frame(frame), kernel(kernel), site(site) {}

  /// A position, relation or score term, f64.
  Value emit(Value value);
  /// A number of a table. `row` is f64, or null without a row axis; `channel`
  /// is i64 or null.
  Value emitTable(Value table, Value row, Value channel);
  /// The frequency of a pair (i64). `offset` is that of counted positions.
  Value emitFrequency(Value freqs, Value pair, int64_t offset);
  /// What a region yields.
  Value emitRegion(mlir::Region &region, mlir::ValueRange arguments);

  Value f64(double number);
  Value toF64(Value integer);
  /// The sum of `term` over 0 .. extent - 1.
  Value emitSum(Value extent, llvm::function_ref<Value(Value index)> term);

private:
  Value emitPosition(PositionOp op);
  Value emitLaw(RelationOp op);
  Value emitBucket(ThresholdBucketAttr law, Value distance);
  Value emitTerm(mlir::Region &region, mlir::ValueRange scores,
                 mlir::ValueRange inputs);
  Value emitSummand(mlir::Region &region, mlir::ValueRange scores,
                    mlir::ValueRange inputs, Value index);
  Value emitOperand(TableOp op, OperandAttr law, Value row, Value channel);
  Value emitConstant(TableOp op, ConstantsAttr law, Value row, Value channel);
  Value emitPrefixSum(PrefixSumOp op);
  Value emitNumber(llvm::ArrayRef<double> numbers, Value index,
                   const llvm::Twine &name);
  Value clampRow(Value row, int64_t rows);
  Value emitRowIndex(Value row, int64_t rows);

  DriverBuilder &b;
  DriverFrame frame;
  DriverKernel &kernel;
  ScalarSite site;
  llvm::DenseMap<Value, Value> values;
};

/// The extents of the row and channel axes of any table; rows of a
/// posenc.table_map have no bounds.
std::optional<int64_t> getTableRows(mlir::Value table);
int64_t getTableChannels(mlir::Value table);

/// The posenc.position under any posenc.remap.
PositionOp findPosition(mlir::Value coord);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERSCALAR_H
