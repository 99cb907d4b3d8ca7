// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the tables of a plan and the operations that read them.
#include "VerifyPlan.h"

#include "posenc/Analysis/BiasTraits.h"
#include "posenc/Halide/TileSignature.h"
#include "posenc/IR/FactorOps.h"

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

/// The rotation that a table of angles is made for; null if it is none.
static RotateOp getRotation(PrepareOp table) {
  return table.getBody()
      .front()
      .getTerminator()
      ->getOperand(0)
      .getDefiningOp<RotateOp>();
}

static LogicalResult verifyRotation(PlanOp plan, TileRotateOp rotate) {
  FailureOr<PrepareOp> table =
      lookup(plan, rotate, rotate.getTable(), TableKind::angles);
  if (failed(table))
    return failure();
  // Rows of queries' own positions have their numbers, others those of keys.
  RotateOp rotation = getRotation(*table);
  bool isOfQueries = rotation && isa<QueryType>(rotation.getType());
  if (isOfQueries && !isa<QueryType>(rotate.getType()))
    return rotate.emitOpError("expects a table of the keys' angles, but @")
           << rotate.getTable() << " has those of queries";
  if (!isOfQueries && rotation && isa<QueryType>(rotate.getType()) &&
      rotation.hasOwnQueries())
    return rotate.emitOpError("expects a table of the queries' angles, since "
                              "they have positions of their own, but @")
           << rotate.getTable() << " has those of keys";
  int64_t dims = rotate.getDims();
  int64_t expected = 2 * getRotation(*table).getNumPairs().value_or(0);
  if (dims != expected)
    return rotate.emitOpError("expects 'dims' to be ")
           << expected << ", two for each frequency of @" << rotate.getTable()
           << ", but got " << dims;
  return success();
}

/// What multiplies the pairs does not depend on the side and the channels:
/// there is one way to write it.
static LogicalResult verifyAngles(PrepareOp table) {
  RotateOp rotation = getRotation(table);
  if (!rotation || !isa<BlockArgument>(rotation.getInput()) ||
      (!isa<KeyType>(rotation.getType()) && !rotation.turnsOwnQueries()))
    return table.emitOpError("expects angles to be those of a posenc.rotate of "
                             "the keys, or of queries with positions of their "
                             "own");
  if (rotation.getPairing() != Pairing::half || rotation.getFirstDim() != 0)
    return rotation.emitOpError("expects pairing(half) first_dim(0) in a table "
                                "of angles, whatever channels it turns");
  return success();
}

static LogicalResult verifyLoad(PlanOp plan, TileLoadTableOp load) {
  FailureOr<PrepareOp> table =
      lookup(plan, load, load.getTable(), TableKind::rows);
  if (failed(table))
    return failure();
  Type type = table->getBody().front().back().getOperand(0).getType();
  if (type != load.getType())
    return load.emitOpError("expects the type of @")
           << load.getTable() << ", " << type << ", but got " << load.getType();
  return success();
}

/// tile_vector_c2
static LogicalResult verifyVector(PlanOp plan, TileVectorOp vector) {
  int64_t channels = 0;
  for (Value table : vector.getTables()) {
    std::optional<int64_t> count = getFactorChannels(table);
    if (!count)
      return vector.emitOpError("expects tables of posenc.tile.factors in a "
                                "posenc.prepare of its plan");
    channels += *count;
  }
  if (channels <= static_cast<int64_t>(plan.getHeadDim()))
    return success();
  return vector.emitOpError("expects at most ")
         << plan.getHeadDim() << " channels, the plan's 'head_dim', but got "
         << channels;
}

static bool hasUnboundedRows(Value table) {
  if (auto project = table.getDefiningOp<ProjectOp>())
    return hasUnboundedRows(project.getTable());
  return static_cast<bool>(table.getDefiningOp<TableMapOp>());
}

/// Rows without bounds are counted before the call.
static LogicalResult verifyRows(PrepareOp table) {
  Operation &yield = table.getBody().front().back();
  bool unbounded = hasUnboundedRows(yield.getOperand(0));
  if (unbounded != (yield.getNumOperands() == 2))
    return table.emitOpError("expects a relation exactly if the rows of its "
                             "table have no bounds");
  if (!unbounded)
    return success();
  auto relation = yield.getOperand(1).getDefiningOp<RelationOp>();
  if (!relation)
    return table.emitOpError("expects rows without bounds to be those of a "
                             "posenc.relation");
  for (Value side : {relation.getQuery(), relation.getKey()}) {
    auto position = side.getDefiningOp<PositionOp>();
    if (!position || !isa<IotaAttr>(position.getLaw()))
      return relation.emitOpError("expects positions of #posenc.iota in a "
                                  "table of rows");
  }
  return success();
}

static LogicalResult verifyStrip(PrepareOp table) {
  for (BiasOp bias : table.getBody().front().getOps<BiasOp>()) {
    BiasTraits traits = analyzeBias(bias);
    if (!traits.toeplitz)
      return bias.emitOpError("expects to be a function of head and distance "
                              "in a strip: of relations between positions of "
                              "one affine law and tables over row and head");
    // Decays that read both have all heads in a call.
    if (table.getKind() == TableKind::strip && !traits.fitsStrip())
      return bias.emitOpError("expects not to read both constants and an "
                              "operand with a head axis in a strip, since the "
                              "heads of a call may be a part of the kernel's");
  }
  return success();
}

static LogicalResult verifyTable(PrepareOp table) {
  switch (table.getKind()) {
  case TableKind::angles:
    return verifyAngles(table);
  case TableKind::strip:
  case TableKind::decays:
    return verifyStrip(table);
  case TableKind::rows:
    return verifyRows(table);
  }
  llvm_unreachable("unknown kind of table");
}

LogicalResult posenc::verifyTables(PlanOp plan) {
  for (PrepareOp table : plan.getPrepareOps())
    if (failed(verifyTable(table)))
      return failure();
  for (Operation &part : plan.getBody().front())
    for (Operation &op : part.getRegion(0).front()) {
      LogicalResult result = success();
      if (auto rotate = dyn_cast<TileRotateOp>(op))
        result = verifyRotation(plan, rotate);
      else if (auto load = dyn_cast<TileLoadTableOp>(op))
        result = verifyLoad(plan, load);
      else if (auto vector = dyn_cast<TileVectorOp>(op))
        result = verifyVector(plan, vector);
      else if (auto strip = dyn_cast<TileLoadStripOp>(op))
        result = lookup(plan, strip, strip.getTable(), TableKind::strip);
      else if (auto recurrence = dyn_cast<TileRecurrenceOp>(op);
               recurrence && recurrence.getDecays())
        result = lookup(plan, recurrence, *recurrence.getDecays(),
                        TableKind::decays);
      if (failed(result))
        return failure();
    }
  return success();
}
