// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the query and key vectors of a kernel.
#include "PlanVectors.h"
#include "PlanRemarks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

static LogicalResult checkInputs(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<RotateOp>([](RotateOp rotation) -> LogicalResult {
        if (rotation.getNumPairs())
          return success();
        return rotation.emitOpError("cannot be placed in a plan; expected the "
                                    "number of its pairs to be known");
      })
      .Case<RowScaleOp>([](RowScaleOp scale) {
        return checkLookups(scale, scale.getInputs());
      })
      .Case<VaddOp>([](VaddOp add) {
        return checkTable(add, add.getTable(), add.getPosition());
      })
      .Case<VectorNormOp>([](VectorNormOp norm) -> LogicalResult {
        if (norm.getOver() == NormAxis::head ||
            isa<BlockArgument>(norm.getInput()))
          return success();
        InFlightDiagnostic diag = norm.emitOpError(
            "cannot be placed in a plan; expected a norm over "
            "all heads to be the first operation on the "
            "kernel's vectors: a tile has those of other heads "
            "as the caller passes them");
        diag.attachNote(norm.getInput().getLoc()) << "they are changed here";
        return diag;
      })
      .Case<ChannelScaleOp, VectorMapOp>([](auto) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError("cannot be placed in a plan; expected an "
                                  "operation on vectors");
      });
}

LogicalResult posenc::checkVector(Value vector) {
  for (; Operation *op = vector.getDefiningOp(); vector = op->getOperand(0))
    if (failed(checkInputs(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Value VectorWriter::write(Value vector) {
  if (isa<BlockArgument>(vector))
    return argument;
  if (Value value = written.lookup(vector))
    return value;
  Value value = writeNew(vector.getDefiningOp());
  written[vector] = value;
  return value;
}

Value VectorWriter::writeRotation(RotateOp rotation, Value input) {
  StringRef table = tables.getAngles(rotation);
  if (isa<QueryType>(rotation.getType()))
    planned(rotation, "QueryRotation",
            "queries are rotated once per tile, by the prepared table @" +
                table);
  else
    planned(rotation, "KeyRotation",
            "keys are rotated once per call and not once per query tile, by "
            "the prepared table @" +
                table);
  return TileRotateOp::create(builder, rotation.getLoc(), input, table,
                              rotation.getPairing(), rotation.getFirstDim(),
                              2 * *rotation.getNumPairs());
}

Value VectorWriter::writeNew(Operation *op) {
  Value input = write(op->getOperand(0));
  if (auto rotation = dyn_cast<RotateOp>(op))
    return writeRotation(rotation, input);
  planned(op, "Vector",
          isa<QueryType>(op->getResult(0).getType())
              ? "queries are changed once per tile"
              : "keys are changed once per call and not once per query tile");
  terms.getMapping().map(op->getOperand(0), input);
  if (auto scale = dyn_cast<RowScaleOp>(op))
    return terms.cloneWithInputs(scale, scale.getInputs())->getResult(0);
  if (auto add = dyn_cast<VaddOp>(op)) {
    Value position;
    if (add.getPosition())
      position = terms.clone(add.getPosition());
    Value table =
        terms.cloneTable(add.getTable(), add.getPosition(), /*inlined=*/true);
    return VaddOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                          input, table, position);
  }
  if (auto scale = dyn_cast<ChannelScaleOp>(op)) {
    Value table = terms.cloneTable(scale.getTable(), Value(), /*inlined=*/true);
    return ChannelScaleOp::create(builder, op->getLoc(),
                                  op->getResult(0).getType(), input, table,
                                  scale.getOffset());
  }
  return builder.clone(*op, terms.getMapping())->getResult(0);
}
