// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract between plans and the generators that read them.
#include "VerifyPlan.h"

#include "posenc/Transforms/Passes.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCVERIFYPLAN
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

LogicalResult posenc::verifyPlan(PlanOp plan) {
  return success(
      succeeded(verifyParts(plan)) && succeeded(verifyTables(plan)) &&
      (plan.getAppend() || plan.getChunkOp() ||
       (succeeded(verifyRanges(plan)) && succeeded(verifyBodies(plan)))) &&
      succeeded(verifyBases(plan)) && succeeded(verifyPositions(plan)));
}

namespace {
struct VerifyPlan : posenc::impl::PosencVerifyPlanBase<VerifyPlan> {
  using Base::Base;

  void runOnOperation() override {
    for (PlanOp plan : getOperation().getOps<PlanOp>())
      if (failed(verifyPlan(plan)))
        signalPassFailure();
  }
};
} // namespace
