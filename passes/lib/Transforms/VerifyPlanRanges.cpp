// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the ranges of keys of a plan's steps, and its masks.
#include "VerifyPlan.h"

#include "posenc/Analysis/StepDistances.h"

#include "mlir/IR/OperationSupport.h"

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
  if (isLast && step.getMaximum())
    return step.emitOpError("expects no 'maximum' on the last step, which ends "
                            "where the first mask ends");
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

/// A step whose keys the last one computes in calls of their own.
static LogicalResult verifyEntry(StepOp step, ArrayRef<StepOp> steps) {
  if (!step.getMaximum())
    return success();
  if (step != steps.front())
    return step.emitOpError("expects only the first step to have 'maximum'");
  bool isSame = OperationEquivalence::isRegionEquivalentTo(
      &step.getBody(), &StepOp(steps.back()).getBody(),
      OperationEquivalence::IgnoreLocations);
  if (isSame)
    return success();
  return step.emitOpError("expects the body of the last step, which computes "
                          "its keys, since it has 'maximum'");
}

/// Where the keys of a step begin at the earliest: those of which it is certain
/// that they are taken by the steps before.
static llvm::SetVector<AffineExpr> getBegins(StepOp step) {
  llvm::SetVector<AffineExpr> begins;
  auto plan = cast<PlanOp>(step->getParentOp());
  if (std::optional<AffineMap> from = plan.getFrom())
    begins.insert_range(from->getResults());
  for (StepOp previous : plan.getStepOps()) {
    if (previous == step)
      return begins;
    if (!previous.getWholeBlocks() &&
        (previous.getMaximum() || previous.getUntil().getNumResults() == 1))
      begins.insert_range(previous.getUntil().getResults());
  }
  llvm_unreachable("the step is one of the plan's");
}

/// A step that leaves out a mask has only keys that this mask hides from no
/// row.
static LogicalResult verifyInterior(StepOp step, const MaskSet &masks) {
  MaskSet applied = getMasks(step);
  int64_t rows = cast<PlanOp>(step->getParentOp()).getRows().front();
  llvm::SetVector<AffineExpr> begins = getBegins(step);
  for (MaskAttrInterface mask : masks) {
    if (applied.contains(mask))
      continue;
    for (AffineExpr end : mask.getInteriorEnd().getResults())
      if (step.getMaximum() ||
          llvm::none_of(step.getUntil().getResults(), [&](AffineExpr result) {
            return result == end || isAtMost(result, end, rows);
          }))
        return step.emitOpError("expects 'until' to have the results of ")
               << AffineMapAttr::get(mask.getInteriorEnd())
               << " or lesser ones, since the step does not apply " << mask
               << " of the last step";
    for (AffineExpr begin : mask.getInteriorBegin().getResults())
      if (!begins.contains(begin))
        return step.emitOpError("expects a step before it with 'maximum' and "
                                "the results of ")
               << AffineMapAttr::get(mask.getInteriorBegin())
               << ", since the step does not apply " << mask
               << " of the last step";
  }
  return success();
}

/// No key that some row sees is before the first.
static LogicalResult verifyFrom(PlanOp plan, const MaskSet &masks) {
  std::optional<AffineMap> from = plan.getFrom();
  if (!from)
    return success();
  llvm::SetVector<AffineExpr> allowed;
  for (MaskAttrInterface mask : masks)
    allowed.insert_range(mask.getKeysBegin().getResults());
  for (AffineExpr begin : from->getResults())
    if (!allowed.contains(begin))
      return plan.emitOpError("expects 'from' to have only results that come "
                              "from masks of the last step, ")
             << AffineMapAttr::get(AffineMap::get(4, 0, allowed.getArrayRef(),
                                                  plan.getContext()))
             << ", but got " << AffineMapAttr::get(*from);
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
    if (failed(verifyUntil(step, step == steps.back())) ||
        failed(verifyEntry(step, steps)))
      return failure();
  for (StepOp step : llvm::ArrayRef(steps).drop_back())
    if (failed(verifyInterior(step, masks)))
      return failure();
  MaskSet common = findCommonMasks(getScores(steps.back()));
  return success(succeeded(verifyFrom(plan, common)) &&
                 succeeded(verifyEnd(steps.back(), common)));
}
