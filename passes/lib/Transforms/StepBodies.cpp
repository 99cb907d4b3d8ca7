// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of a plan's steps as functions of the distances of their pairs.
#include "StepBodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace posenc;

bool posenc::looksUpByRelation(OpOperand &operand) {
  if (!isa<RelationType>(operand.get().getType()))
    return false;
  if (auto dot = dyn_cast<TableDotOp>(operand.getOwner()))
    return operand.get() == dot.getIndex();
  return isa<YieldOp>(operand.getOwner());
}

static std::optional<int64_t> getCardinality(Value relation) {
  if (auto op = relation.getDefiningOp<RelationOp>())
    return op.getLaw().getCardinality();
  return relation.getDefiningOp<RelationMapOp>().getRows();
}

/// A relation that is the same for all pairs.
static Value writeConstant(OpBuilder &builder, Location loc, int64_t row,
                           int64_t rows) {
  auto map = RelationMapOp::create(
      builder, loc, RelationType::get(builder.getContext()), ValueRange(),
      builder.getI64IntegerAttr(rows));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&map.getBody());
  Value number = arith::ConstantOp::create(
      builder, loc, builder.getF64FloatAttr(static_cast<double>(row)));
  YieldOp::create(builder, loc, number);
  return map;
}

static void eraseUnused(Block &body) {
  for (Operation *op = body.getTerminator()->getPrevNode(); op;) {
    Operation *previous = op->getPrevNode();
    if (op->use_empty())
      op->erase();
    op = previous;
  }
}

void posenc::specializeStep(StepOp step, const DistanceFacts &facts) {
  Block &body = step.getBody().front();
  for (SelectOp select : body.getOps<SelectOp>())
    if (select.getOther())
      if (std::optional<bool> isAllowed = facts.decide(select))
        select.getResult().replaceAllUsesWith(*isAllowed ? select.getScore()
                                                         : select.getOther());
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isa<RelationOp, RelationMapOp>(op) ||
        isSameForAllPairs(op.getResult(0)))
      continue;
    Value relation = op.getResult(0);
    std::optional<int64_t> rows = getCardinality(relation),
                           row = facts.getConstant(relation);
    if (!rows || !row || *row < 0 || *row >= *rows ||
        llvm::none_of(relation.getUses(), looksUpByRelation))
      continue;
    OpBuilder builder(&op);
    Value constant = writeConstant(builder, op.getLoc(), *row, *rows);
    relation.replaceUsesWithIf(constant, looksUpByRelation);
  }
  eraseUnused(body);
}

void posenc::dropIndexMasks(StepOp step) {
  Block &body = step.getBody().front();
  for (SelectOp select : body.getOps<SelectOp>())
    if (isIndexMask(select))
      select.getResult().replaceAllUsesWith(select.getScore());
  eraseUnused(body);
}
