// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the steps of a plan compute one score.
#include "StepBodies.h"
#include "VerifyPlan.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace posenc;

/// A copy of a step that stands nowhere, without its masks over storage
/// indices.
static OwningOpRef<StepOp> copyUnmasked(StepOp step) {
  OwningOpRef<StepOp> copy(cast<StepOp>(step->clone()));
  dropIndexMasks(*copy);
  return copy;
}

/// Both steps as they are for pairs that either may have.
static bool yieldTheSame(StepOp a, StepOp b, int64_t rows) {
  OwningOpRef<StepOp> first = copyUnmasked(a), second = copyUnmasked(b);
  for (Alignment alignment : {Alignment::bottom_right, Alignment::top_left}) {
    Distances ofA = getStepDistances(a, alignment, rows),
              ofB = getStepDistances(b, alignment, rows);
    Distances common = {std::max(ofA.low, ofB.low),
                        std::min(ofA.high, ofB.high)};
    // Then they have no pair in common.
    if (common.isEmpty())
      return true;
    for (StepOp copy : {*first, *second})
      specializeStep(copy, DistanceFacts(alignment, common));
  }
  return OperationEquivalence::isRegionEquivalentTo(
      &first->getBody(), &second->getBody(),
      OperationEquivalence::IgnoreLocations);
}

/// A score is a function of the pair: two steps yield the same at distances
/// that both have, but for masks.
LogicalResult posenc::verifyBodies(PlanOp plan) {
  SmallVector<StepOp, 4> steps = plan.getStepOps();
  int64_t rows = plan.getRows().front();
  for (auto [index, step] : llvm::enumerate(steps))
    for (StepOp earlier : ArrayRef(steps).take_front(index)) {
      if (yieldTheSame(earlier, step, rows))
        continue;
      InFlightDiagnostic diag =
          step.emitOpError("expects to yield what @")
          << earlier.getSymName()
          << " yields at the distances that both have, but for masks over "
             "storage indices";
      diag.attachNote(earlier.getLoc()) << "the other step is here";
      return diag;
    }
  return success();
}
