// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RegionVerifier.h"

#include "posenc/IR/ScalarRegion.h"

using namespace mlir;
using namespace posenc;

LogicalResult posenc::verifyScalarRegion(Operation *op, Region &region,
                                         unsigned arguments, bool yieldsTruth) {
  Block &block = region.front();
  if (block.getNumArguments() != arguments)
    return op->emitOpError("expects its region to have ")
           << arguments << " arguments, but it has " << block.getNumArguments();
  for (BlockArgument argument : block.getArguments())
    if (!argument.getType().isF64())
      return op->emitOpError("expects argument #")
             << argument.getArgNumber() << " of its region to be f64, but got "
             << argument.getType();
  for (Operation &nested : block.without_terminator())
    if (!isScalarOp(&nested))
      return nested.emitOpError("cannot stand in a region of real numbers; "
                                "expected one of ")
             << listScalarOps();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  auto isRight = [&](Type type) {
    return yieldsTruth ? type.isInteger(1) : type.isF64();
  };
  if (!yield || yield.getNumOperands() != 1 ||
      !isRight(yield.getOperand(0).getType()))
    return block.getTerminator()->emitOpError(
               "expects a region of real numbers to end with a posenc.yield of "
               "one ")
           << (yieldsTruth ? "i1" : "f64");
  return success();
}

std::optional<int64_t> posenc::getCardinality(Value relation) {
  if (auto op = relation.getDefiningOp<RelationOp>())
    return op.getLaw().getCardinality();
  if (auto op = relation.getDefiningOp<RelationMapOp>())
    return op.getRows();
  if (auto op = relation.getDefiningOp<SumIndexOp>())
    return op.getExtent();
  return std::nullopt;
}

std::optional<int64_t> posenc::getNumRows(Value table) {
  if (auto op = table.getDefiningOp<TableOp>())
    return op.getNumRows();
  return std::nullopt;
}

std::optional<int64_t> posenc::getNumChannels(Value table) {
  if (auto op = table.getDefiningOp<TableOp>())
    return op.getNumChannels();
  if (auto op = table.getDefiningOp<TableMapOp>())
    return op.getChannels();
  if (auto op = table.getDefiningOp<ProjectOp>())
    return getNumChannels(op.getWeights());
  return std::nullopt;
}

bool posenc::hasAxes(TableType type, ArrayRef<TableAxis> required,
                     ArrayRef<TableAxis> allowed) {
  return llvm::all_of(required,
                      [&](TableAxis axis) { return type.hasAxis(axis); }) &&
         llvm::all_of(type.getAxes(), [&](TableAxis axis) {
           return llvm::is_contained(required, axis) ||
                  llvm::is_contained(allowed, axis);
         });
}

LogicalResult posenc::verifyLookups(Operation *op, ValueRange inputs,
                                    bool allowsSum) {
  Value row, channel; // what looks up the next table
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (isa<RelationType, CoordType>(input.getType())) {
      row = input;
      if (!input.getDefiningOp<SumIndexOp>())
        continue;
      // bias_c4
      if (!allowsSum)
        return op->emitOpError("expects no posenc.sum_index among its inputs");
      if (channel && channel != input)
        return op->emitOpError("expects at most one posenc.sum_index among its "
                               "inputs");
      channel = input;
      continue;
    }
    auto type = dyn_cast<TableType>(input.getType());
    if (!type)
      continue;
    // bias_c3
    if (type.hasAxis(TableAxis::row)) {
      if (!row)
        return op->emitOpError("expects input #")
               << index
               << ", a table with a row axis, to come after a relation";
      std::optional<int64_t> cardinality = getCardinality(row);
      std::optional<int64_t> rows = getNumRows(input);
      bool isUnbounded =
          input.getDefiningOp<TableMapOp>() || input.getDefiningOp<ProjectOp>();
      if (isa<RelationType>(row.getType()) && !cardinality && !isUnbounded) {
        InFlightDiagnostic diag = op->emitOpError("expects the relation that "
                                                  "looks up input #")
                                  << index << " to have finitely many values";
        if (auto relation = row.getDefiningOp<RelationOp>())
          diag << ", but its law is " << relation.getLaw();
        return diag;
      }
      if (rows && cardinality && *cardinality > *rows)
        return op->emitOpError("expects the table of input #")
               << index << " to have at least " << *cardinality
               << " rows, one for each value of its relation, but it has "
               << *rows;
    }
    if (type.hasAxis(TableAxis::channel)) {
      if (!channel)
        return op->emitOpError("expects input #")
               << index
               << ", a table with a channel axis, to come after a "
                  "posenc.sum_index";
      std::optional<int64_t> channels = getNumChannels(input);
      int64_t extent = *getCardinality(channel);
      if (channels && extent > *channels)
        return op->emitOpError("expects the table of input #")
               << index << " to have at least " << extent
               << " channels, one for each value of its index, but it has "
               << *channels;
    }
  }
  return success();
}
