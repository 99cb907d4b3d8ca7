// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers of one part of a prepared table.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERFILL_H
#define POSENC_LIB_TRANSFORMS_DRIVERFILL_H

#include "DriverScalar.h"

namespace posenc {

/// The extents of a prepared table; see DriverTables.h.
struct TableLayout {
  mlir::Value batches, heads;             // parts; 1 where they do not differ
  llvm::SmallVector<mlir::Value, 4> axes; // of a part, outermost first
  mlir::Value partSize; // their product, twice for numbers in two parts
};
TableLayout emitTableLayout(DriverBuilder &b, DriverFrame frame,
                            DriverKernel &kernel, DriverTable &table);

/// The relation's value of the first row of a table without bounds; null for 0.
mlir::Value emitLowestRow(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, DriverTable &table);

/// The token of the first row of a table of angles.
mlir::Value emitFirstToken(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, DriverTable &table);

/// What an item counts: tokens of angles, entries of a strip, rows or entries
/// of a table of rows, or all of a part. Their number, and what one costs.
mlir::Value emitPartUnits(DriverBuilder &b, DriverTable &table,
                          const TableLayout &layout);
int64_t getUnitCost(DriverTable &table);

class TableFill {
public:
  using Value = mlir::Value;

  TableFill(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
            DriverTable &table, const TableLayout &layout)
      : b(b), frame(frame), kernel(kernel), table(table), layout(layout) {}

  /// Units begin .. end - 1 of a part at `address`.
  void emit(Value part, Value address, Value begin, Value end);

private:
  void emitAngles(Value begin, Value end);
  void emitAnglesRow(Value row);
  void emitMixedRow(ScalarEmitter &emitter, llvm::ArrayRef<Value> positions,
                    Value cosines);
  Value emitAngle(ScalarEmitter &emitter, llvm::ArrayRef<Value> positions,
                  Value number);
  void storePair(ScalarEmitter &emitter, llvm::ArrayRef<Value> positions,
                 Value pair, Value cosine, Value sine, Value cosines);
  void emitFrequencies();
  ScalarSite getToken(Value row);

  void emitStrip(Value begin, Value end);
  void emitDecays(Value begin, Value end);
  void emitEntries(Value begin, Value end);
  void emitProjected(ProjectOp project, Value begin, Value end);
  void emitRunningSum(PrefixSumOp sum);

  void storeEntry(Value value, Value entry);
  void storeParts(Value value, Value entry, Value rest);
  Value stackNumbers(int64_t count);
  Value loadNumber(Value numbers, Value index);
  void storeNumber(Value value, Value numbers, Value index);

  DriverBuilder &b;
  DriverFrame frame;
  DriverKernel &kernel;
  DriverTable &table;
  const TableLayout &layout;
  Value address;
  /// The batch entry and head of the part.
  ScalarSite site;
  /// Angles: f64 frequencies of each axis, computed once for an item.
  llvm::SmallVector<Value> frequencies;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERFILL_H
