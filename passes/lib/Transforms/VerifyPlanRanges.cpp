// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the ranges of keys of a plan's steps, and its masks.
#include "VerifyPlan.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

using Masks = llvm::SetVector<MaskAttrInterface>;

static Masks getMasks(StepOp step) {
  Masks masks;
  for (SelectOp select : step.getBody().front().getOps<SelectOp>())
    masks.insert(select.getMaskAttr());
  return masks;
}

static LogicalResult verifyUntil(StepOp step, bool isLast) {
  AffineMap until = step.getUntil();
  if (until.getNumDims() != 4 || until.getNumSymbols() != 0 ||
      until.getNumResults() == 0)
    return step.emitOpError("expects 'until' to be a map over (q_begin, q_end, "
                            "lq, lk) without symbols and with results, but it "
                            "has ")
           << until.getNumDims() << " dimensions, " << until.getNumSymbols()
           << " symbols and " << until.getNumResults() << " results";
  if (isLast && step.getWholeBlocks())
    return step.emitOpError("expects no 'whole_blocks' on the last step, which "
                            "takes all keys that are left");
  return success();
}

/// A step that leaves out a mask ends before that mask hides keys.
static LogicalResult verifyInterior(StepOp step, const Masks &masks) {
  Masks applied = getMasks(step);
  for (MaskAttrInterface mask : masks) {
    if (applied.contains(mask))
      continue;
    for (AffineExpr end : mask.getInteriorEnd().getResults())
      if (!llvm::is_contained(step.getUntil().getResults(), end))
        return step.emitOpError("expects 'until' to have the results of ")
               << AffineMapAttr::get(mask.getInteriorEnd())
               << ", since the step does not apply " << mask
               << " of the last step";
  }
  return success();
}

/// The last step ends where the masks end.
static LogicalResult verifyEnd(StepOp step, const Masks &masks) {
  llvm::SetVector<AffineExpr> expected;
  for (MaskAttrInterface mask : masks)
    expected.insert_range(mask.getKeysEnd().getResults());
  if (expected.empty())
    expected.insert(getAffineDimExpr(3, step.getContext()));
  AffineMap until = step.getUntil();
  llvm::SetVector<AffineExpr> actual;
  actual.insert_range(until.getResults());
  bool same =
      actual.size() == expected.size() &&
      llvm::all_of(actual, [&](AffineExpr e) { return expected.contains(e); });
  if (same)
    return success();
  return step.emitOpError("expects the last 'until' to end where the masks of "
                          "the step end, ")
         << AffineMapAttr::get(
                AffineMap::get(4, 0, expected.getArrayRef(), step.getContext()))
         << ", but got " << AffineMapAttr::get(until);
}

/// Tiles get one number for how queries are aligned with keys.
static LogicalResult verifyAlignments(PlanOp plan) {
  Operation *first = nullptr;
  Alignment alignment{};
  auto visit = [&](Operation *op, std::optional<Alignment> own) {
    if (!own || (first && *own == alignment))
      return success();
    if (!first) {
      first = op;
      alignment = *own;
      return success();
    }
    InFlightDiagnostic diag = op->emitOpError("expects the alignment ")
                              << stringifyAlignment(alignment)
                              << " that another term of the plan has, but got "
                              << stringifyAlignment(*own);
    diag.attachNote(first->getLoc()) << "the other term is here";
    return LogicalResult(diag);
  };
  for (Operation &part : plan.getBody().front())
    for (Operation &op : part.getRegion(0).front()) {
      LogicalResult result = success();
      if (auto select = dyn_cast<SelectOp>(op)) {
        result = visit(&op, select.getMaskAttr().getMaskAlignment());
      } else if (auto position = dyn_cast<PositionOp>(op)) {
        if (position.getSide() == Side::query)
          result = visit(&op, position.getLaw().getAlignment());
      } else if (auto rotate = dyn_cast<TileRotateOp>(op);
                 rotate && isa<PrologueOp>(part)) {
        Block &table = plan.lookupPrepare(rotate.getTable()).getBody().front();
        result = visit(
            &op, (*table.getOps<PositionOp>().begin()).getLaw().getAlignment());
      }
      if (failed(result))
        return failure();
    }
  return success();
}

LogicalResult posenc::verifyRanges(PlanOp plan) {
  SmallVector<StepOp, 4> steps = plan.getStepOps();
  Masks masks = getMasks(steps.back());
  for (StepOp step : steps)
    if (failed(verifyUntil(step, step == steps.back())))
      return failure();
  for (StepOp step : llvm::ArrayRef(steps).drop_back())
    if (failed(verifyInterior(step, masks)))
      return failure();
  if (failed(verifyEnd(steps.back(), masks)))
    return failure();
  return verifyAlignments(plan);
}
