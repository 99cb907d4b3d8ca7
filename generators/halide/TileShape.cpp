// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileShape.h"

#include "posenc/Analysis/ChannelLanes.h"

using namespace posenc;

/// What is left over of weights that are no shares of their own sum needs a sum
/// of its own.
static bool needsWeightSum(PlanOp plan) {
  if (plan.getChunkOp())
    return false;
  mlir::Block &body = plan.getEpilogueOp().getBody().front();
  return !body.getOps<TileRemainderOp>().empty() &&
         llvm::any_of(body.getOps<TileNormalizeOp>(), [](TileNormalizeOp op) {
           return op.getKind() == NormalizeKind::abs_sum ||
                  op.getKind() == NormalizeKind::linear;
         });
}

/// Channels as lanes: a square of scores is summed at once, and a register tile
/// has the outputs of several rows or a part of one.
static void useChannelLanes(TileShape &shape, int64_t lanes, int64_t vectors) {
  shape.channelLanes = lanes;
  shape.keys = lanes / shape.rows;
  int64_t ofRow = shape.valueVectors();
  if (ofRow <= vectors) {
    int64_t rows = std::min<int64_t>(shape.rows, vectors / ofRow);
    shape.values = ofRow * llvm::bit_floor<uint64_t>(rows);
    return;
  }
  shape.values = vectors;
  while (ofRow % shape.values != 0)
    --shape.values;
}

/// What packing changes.
static void packRows(TileShape &shape, PlanOp plan,
                     const InstructionSet &target) {
  shape.hasHeads = plan.getGroup() > 1;
  shape.group = std::min(plan.getGroup(), shape.rows);
  shape.lanes = std::min(shape.lanes, shape.rows);
  shape.transpose = std::min(shape.transpose, shape.rows);
  shape.keys = target.packedKeys;
  shape.values = target.packedValues;
  shape.extraKeys = 0;
  int64_t lanes = getChannelLanes(plan, target.lanes);
  // A square of scores has at least one key.
  shape.copiesBlocks = shape.rows > lanes;
  if (!shape.copiesBlocks)
    useChannelLanes(shape, lanes, target.channelVectors);
}

mlir::FailureOr<llvm::SmallVector<TileShape>>
posenc::getTileShapes(PlanOp plan) {
  const InstructionSet *target = findInstructionSet(plan.getIsa());
  if (!target)
    return plan.emitOpError("has no CPU generator for the instruction set '")
           << plan.getIsa() << "'; expected one of: " << listInstructionSets();

  int64_t block = plan.getKeys();
  if (block < target->keys || block > 4096 || block % target->keys != 0)
    return plan.emitOpError("has keys(")
           << block << "); expected a multiple of " << target->keys
           << " up to 4096 on " << target->name;

  llvm::SmallVector<TileShape> shapes;
  for (int64_t rows : plan.getRows()) {
    int64_t step = std::max(target->lanes, target->transpose);
    bool isPart = plan.getPacked() && rows < step && llvm::isPowerOf2_64(rows);
    if (!isPart && (rows < step || rows > 256 || rows % step != 0))
      return plan.emitOpError("has rows of ")
             << rows << "; expected a multiple of " << step << " up to 256"
             << (plan.getPacked() ? " or a lesser power of 2" : "") << " on "
             << target->name;
    TileShape shape;
    shape.rows = rows;
    shape.registerLanes = shape.lanes = target->lanes;
    shape.pairs = getPairProducts(plan);
    shape.keys = shape.pairs.scores ? target->pairKeys : target->keys;
    shape.values = target->values;
    shape.transpose = target->transpose;
    shape.block = block;
    shape.headDim = plan.getHeadDim();
    shape.valueDim = plan.getValueDim();
    shape.extraKeys = rows;
    if (needsWeightSum(plan))
      shape.runningValues = 5;
    if (plan.getPacked())
      packRows(shape, plan, *target);
    if (block % shape.keys != 0)
      return plan.emitOpError("has keys(")
             << block << "); expected a multiple of " << shape.keys
             << " for tiles of " << rows << " rows on " << target->name;
    shapes.push_back(shape);
  }
  return shapes;
}
