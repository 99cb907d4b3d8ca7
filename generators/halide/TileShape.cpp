// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileShape.h"

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
    if (rows < step || rows > 256 || rows % step != 0)
      return plan.emitOpError("has rows of ")
             << rows << "; expected a multiple of " << step << " up to 256 on "
             << target->name;
    TileShape shape;
    shape.rows = rows;
    shape.lanes = target->lanes;
    shape.keys = target->keys;
    shape.values = target->values;
    shape.transpose = target->transpose;
    shape.block = block;
    shape.headDim = plan.getHeadDim();
    shape.valueDim = plan.getValueDim();
    if (needsWeightSum(plan))
      shape.runningValues = 5;
    shapes.push_back(shape);
  }
  return shapes;
}
