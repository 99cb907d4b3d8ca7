// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the operations that the parts of a plan hold.
#include "VerifyPlan.h"

#include "posenc/IR/FactorOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

namespace {
/// The closed list of a kind of part.
struct PartRule {
  StringRef ops;
  bool (*allows)(Operation *);
};
} // namespace

template <typename... OpTs>
static bool isOneOf(Operation *op) {
  return isa<OpTs...>(op);
}

static PartRule getPrepareRule(TableKind kind) {
  switch (kind) {
  case TableKind::angles:
    return {
        "posenc.position, remap, freqs, freqs_map, table, rotate",
        isOneOf<PositionOp, RemapOp, FreqsOp, FreqsMapOp, TableOp, RotateOp>};
  case TableKind::strip:
  case TableKind::decays:
    return {"posenc.position, relation, relation_map, sum_index, table, "
            "table_map, bias, tile.to_base2",
            isOneOf<PositionOp, RelationOp, RelationMapOp, SumIndexOp, TableOp,
                    TableMapOp, BiasOp, TileToBase2Op>};
  case TableKind::rows:
    return {"posenc.position, remap, relation, relation_map, sum_index, table, "
            "table_map, at_query, project, prefix_sum, bias, tile.factors",
            isOneOf<PositionOp, RemapOp, RelationOp, RelationMapOp, SumIndexOp,
                    TableOp, TableMapOp, AtQueryOp, ProjectOp, PrefixSumOp,
                    BiasOp, TileFactorsOp>};
  }
  llvm_unreachable("unknown kind of table");
}

static PartRule getRule(Operation *part) {
  return llvm::TypeSwitch<Operation *, PartRule>(part)
      .Case<PrepareOp>(
          [](PrepareOp prepare) { return getPrepareRule(prepare.getKind()); })
      .Case<KeysOp>([](auto) -> PartRule {
        return {"posenc.tile.rotate, vadd, channel_scale, row_scale, "
                "vector_norm, vector_map, position, remap, table, table_map, "
                "tile.load_table, tile.vector",
                isOneOf<TileRotateOp, VaddOp, ChannelScaleOp, RowScaleOp,
                        VectorNormOp, VectorMapOp, PositionOp, RemapOp, TableOp,
                        TableMapOp, TileLoadTableOp, TileVectorOp>};
      })
      .Case<PrologueOp>([](auto) -> PartRule {
        return {"posenc.tile.rotate, tile.scale, vadd, channel_scale, "
                "row_scale, vector_norm, vector_map, position, remap, table, "
                "table_map, at_query, tile.load_table, tile.vector",
                isOneOf<TileRotateOp, TileScaleOp, VaddOp, ChannelScaleOp,
                        RowScaleOp, VectorNormOp, VectorMapOp, PositionOp,
                        RemapOp, TableOp, TableMapOp, AtQueryOp,
                        TileLoadTableOp, TileVectorOp>};
      })
      .Case<StepOp>([](auto) -> PartRule {
        return {
            "posenc.dot, table_dot, add, bias, map, head_mlp, select, rowscan, "
            "position, remap, relation, relation_map, sum_index, table, "
            "table_map, project, at_query, tile.load_table, "
            "tile.load_strip, tile.to_base2",
            isOneOf<DotOp, TableDotOp, AddOp, BiasOp, MapOp, HeadMlpOp,
                    SelectOp, RowscanOp, PositionOp, RemapOp, RelationOp,
                    RelationMapOp, SumIndexOp, TableOp, TableMapOp, ProjectOp,
                    AtQueryOp, TileLoadTableOp, TileLoadStripOp,
                    TileToBase2Op>};
      })
      .Case<EpilogueOp>([](auto) -> PartRule {
        return {"posenc.tile.normalize, tile.remainder, table",
                isOneOf<TileNormalizeOp, TileRemainderOp, TableOp>};
      })
      .Case<ChunkOp>([](auto) -> PartRule {
        return {"posenc.tile.recurrence", isOneOf<TileRecurrenceOp>};
      });
}

/// Scans walk a row once, from the right. Networks see keys of several blocks.
static LogicalResult verifyDirection(PlanOp plan) {
  SmallVector<StepOp, 4> steps = plan.getStepOps();
  for (StepOp step : steps)
    for (RowscanOp scan : step.getBody().front().getOps<RowscanOp>())
      if (!plan.getDescending() || steps.size() != 1)
        return scan.emitOpError("expects a plan that is 'descending' and has "
                                "one step");
  for (StepOp step : steps)
    for (HeadMlpOp mlp : step.getBody().front().getOps<HeadMlpOp>())
      if (plan.getDescending() || steps.size() != 1)
        return mlp.emitOpError("expects a plan that is not 'descending' and "
                               "has one step");
  if (plan.getDescending() && steps.size() != 1)
    return plan.emitOpError("expects one step, since it is 'descending', but "
                            "got ")
           << steps.size();
  return success();
}

/// The rows of a packed tile have heads of their own: what reads rows of tables
/// for a pair, or the scores of several heads, has no place there.
static LogicalResult verifyPacked(PlanOp plan) {
  if (!plan.getPacked())
    return success();
  if (plan.getNormalizeOp().getDropout())
    return plan.getNormalizeOp().emitOpError(
        "expects no 'dropout' in a 'packed' plan: random words are those of "
        "one head");
  for (StepOp step : plan.getStepOps()) {
    Block &body = step.getBody().front();
    for (Operation &op : body)
      if (isa<TableDotOp, HeadMlpOp>(op))
        return op.emitOpError("cannot stand in a 'packed' plan, whose tiles "
                              "have several heads");
    if (llvm::any_of(body.back().getOperandTypes(), llvm::IsaPred<TableType>))
      return step.emitOpError("expects to yield no table of values in a "
                              "'packed' plan");
  }
  return success();
}

/// The output is normalised once.
static LogicalResult verifyEpilogue(EpilogueOp epilogue) {
  Block &body = epilogue.getBody().front();
  if (llvm::range_size(body.getOps<TileNormalizeOp>()) == 1)
    return success();
  return epilogue.emitOpError("expects one posenc.tile.normalize");
}

LogicalResult posenc::verifyParts(PlanOp plan) {
  for (Operation &part : plan.getBody().front()) {
    PartRule rule = getRule(&part);
    for (Operation &op : part.getRegion(0).front().without_terminator()) {
      if (!rule.allows(&op))
        return op.emitOpError("cannot stand in ")
               << part.getName() << "; expected one of: " << rule.ops;
    }
  }
  if (plan.getAppend() || plan.getChunkOp())
    return success();
  if (failed(verifyEpilogue(plan.getEpilogueOp())))
    return failure();
  return success(succeeded(verifyDirection(plan)) &&
                 succeeded(verifyPacked(plan)));
}
