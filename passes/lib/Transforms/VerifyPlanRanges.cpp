// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the ranges of keys of a plan's steps, and its masks.
#include "VerifyPlan.h"

#include "posenc/Analysis/ScoreMasks.h"

using namespace mlir;
using namespace posenc;

/// The scores that a step yields: with linear normalisation two.
static SmallVector<Value> getScores(StepOp step) {
  return llvm::filter_to_vector(
      step.getBody().front().back().getOperands(),
      [](Value value) { return isa<ScoreType>(value.getType()); });
}

/// Masks over storage indices anywhere in a step.
static MaskSet getMasks(StepOp step) {
  MaskSet masks;
  for (SelectOp select : step.getBody().front().getOps<SelectOp>())
    if (select.getMaskAttr() && select.getPositions().empty())
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
static LogicalResult verifyInterior(StepOp step, const MaskSet &masks) {
  MaskSet applied = getMasks(step);
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
static LogicalResult verifyEnd(StepOp step, const MaskSet &masks) {
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

LogicalResult posenc::verifyRanges(PlanOp plan) {
  SmallVector<StepOp, 4> steps = plan.getStepOps();
  MaskSet masks = getMasks(steps.back());
  for (StepOp step : steps)
    if (failed(verifyUntil(step, step == steps.back())))
      return failure();
  for (StepOp step : llvm::ArrayRef(steps).drop_back())
    if (failed(verifyInterior(step, masks)))
      return failure();
  return verifyEnd(steps.back(), findCommonMasks(getScores(steps.back())));
}
