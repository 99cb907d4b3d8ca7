// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the tables of a plan and the operations that read them.
#include "VerifyPlan.h"

#include "posenc/Analysis/BiasTraits.h"

using namespace mlir;
using namespace posenc;

/// The table that `op` refers to.
static FailureOr<PrepareOp> lookup(PlanOp plan, Operation *op, StringRef name,
                                   TableKind kind) {
  PrepareOp table = plan.lookupPrepare(name);
  if (!table)
    return op->emitOpError("expects @")
           << name << " to be a posenc.prepare of its plan";
  if (table.getKind() == kind)
    return table;
  InFlightDiagnostic diag = op->emitOpError("expects @")
                            << name << " to be a table of kind "
                            << stringifyTableKind(kind) << ", but it is one of "
                            << stringifyTableKind(table.getKind());
  diag.attachNote(table.getLoc()) << "the table is here";
  return diag;
}

static LogicalResult verifyRotation(PlanOp plan, TileRotateOp rotate) {
  FailureOr<PrepareOp> table =
      lookup(plan, rotate, rotate.getTable(), TableKind::angles);
  if (failed(table))
    return failure();
  auto freqs = cast<YieldOp>(table->getBody().front().back())
                   .getOperand(1)
                   .getDefiningOp<FreqsOp>();
  int64_t dims = rotate.getDims();
  int64_t expected = 2 * freqs.getLaw().getFrequencies().size();
  if (dims != expected)
    return rotate.emitOpError("expects 'dims' to be ")
           << expected << ", two for each frequency of @" << rotate.getTable()
           << ", but got " << dims;
  return success();
}

static LogicalResult verifyAngles(PrepareOp table) {
  auto yield = cast<YieldOp>(table.getBody().front().back());
  auto position = yield.getOperand(0).getDefiningOp<PositionOp>();
  if (position.getSide() != Side::key)
    return position.emitOpError("expects side key in a table of angles, whose "
                                "rows are positions of keys");
  return success();
}

static LogicalResult verifyStrip(PrepareOp table) {
  for (BiasOp bias : table.getBody().front().getOps<BiasOp>()) {
    BiasTraits traits = analyzeBias(bias);
    if (!traits.toeplitz)
      return bias.emitOpError("expects to be a function of head and distance "
                              "in a strip: of relations between positions of "
                              "one affine law and tables over row and head");
    if (!traits.fitsStrip())
      return bias.emitOpError("expects not to read both constants and an "
                              "operand with a head axis in a strip, since the "
                              "heads of a call may be a part of the kernel's");
  }
  return success();
}

LogicalResult posenc::verifyTables(PlanOp plan) {
  for (PrepareOp table : plan.getPrepareOps())
    if (failed(table.getKind() == TableKind::angles ? verifyAngles(table)
                                                    : verifyStrip(table)))
      return failure();
  for (Operation &part : plan.getBody().front())
    for (Operation &op : part.getRegion(0).front()) {
      if (auto rotate = dyn_cast<TileRotateOp>(op)) {
        if (failed(verifyRotation(plan, rotate)))
          return failure();
      } else if (auto strip = dyn_cast<TileLoadStripOp>(op)) {
        if (failed(lookup(plan, strip, strip.getTable(), TableKind::strip)))
          return failure();
      }
    }
  return success();
}
