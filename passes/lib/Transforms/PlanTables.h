// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a plan, and the terms that are copied into its parts.
#ifndef POSENC_LIB_TRANSFORMS_PLANTABLES_H
#define POSENC_LIB_TRANSFORMS_PLANTABLES_H

#include "posenc/Analysis/BiasFactors.h"
#include "posenc/Analysis/BiasTraits.h"

#include "mlir/IR/IRMapping.h"

namespace posenc {

/// Whether a table has a row for every integer.
bool hasUnboundedRows(mlir::Value table);

/// Whether the rows that `index` looks up can be counted when a call is
/// prepared: it is a relation between positions of #posenc.iota.
bool isCountable(mlir::Value index);

/// Whether a product with rows of the table is made by projecting the vector,
/// since the rows are not known before the call.
bool isProjectedPerScore(mlir::Value table, mlir::Value index);

/// Checks that every table that `op` reads by these inputs has a place.
mlir::LogicalResult checkLookups(mlir::Operation *op, mlir::ValueRange inputs);

/// The same for the one table that `op` looks up at `index`, which may be null.
mlir::LogicalResult checkTable(mlir::Operation *op, mlir::Value table,
                               mlir::Value index);

/// A prepared table of one side's factors.
struct PreparedFactors {
  llvm::StringRef name;
  TableType type;
};

/// The posenc.prepare operations of a plan, by name. Equal tables are one.
class PlanTables {
public:
  explicit PlanTables(PlanOp plan);

  /// The cosines and sines of a rotation of either side.
  llvm::StringRef getAngles(RotateOp rotation);
  /// The bias as a function of head and distance, in base 2 if `base2`.
  llvm::StringRef getStrip(BiasOp bias, const BiasTraits &traits, bool base2);
  /// The powers of a recurrence's decay.
  llvm::StringRef getDecays(RecurrenceOp op);
  /// A computed table; `index` is the relation whose values are its rows if
  /// these have no bounds, and null otherwise.
  llvm::StringRef getRows(mlir::Value table, mlir::Value index);
  /// The numbers that a region yields for the tokens of one side.
  PreparedFactors getFactors(mlir::Location loc, FactorRegion factors,
                             TableType type);

private:
  llvm::StringRef
  add(mlir::Location loc, TableKind kind, mlir::TypeRange arguments,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Block &)>
          writeBody);

  PlanOp plan;
  mlir::OpBuilder builder;
};

/// Copies positions, relations and tables to where the builder stands, each
/// once. Computed tables are read from the plan's.
class TermCloner {
public:
  TermCloner(mlir::OpBuilder &builder, PlanTables &tables)
      : builder(builder), tables(tables) {}

  /// What defines a position or relation, and what it needs.
  mlir::Value clone(mlir::Value input);
  /// A table that is looked up at `index`, which may be null. With `inlined` a
  /// function of the row stays one.
  mlir::Value cloneTable(mlir::Value table, mlir::Value index, bool inlined);
  /// The inputs of a region.
  llvm::SmallVector<mlir::Value> cloneInputs(mlir::ValueRange inputs);
  /// `op` with a region over `inputs`, which come last among its operands.
  mlir::Operation *cloneWithInputs(mlir::Operation *op,
                                   mlir::ValueRange inputs);
  /// A bias without the inputs that do not reach its result.
  mlir::Value cloneBias(BiasOp bias, const llvm::BitVector &usedInputs);

  mlir::IRMapping &getMapping() { return mapping; }

private:
  mlir::OpBuilder &builder;
  PlanTables &tables;
  mlir::IRMapping mapping;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> computed;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANTABLES_H
