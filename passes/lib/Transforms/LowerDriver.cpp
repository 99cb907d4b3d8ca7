// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass that writes the host program of a kernel around its tile functions.
#include "Driver.h"
#include "VerifyPlan.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OwningOpRef.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCLOWERDRIVER
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

namespace {
struct LowerDriver : posenc::impl::PosencLowerDriverBase<LowerDriver> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

void LowerDriver::runOnOperation() {
  ModuleOp module = getOperation();
  auto kernels = llvm::to_vector(module.getOps<KernelOp>());
  auto plans = llvm::to_vector(module.getOps<PlanOp>());
  if (kernels.size() != 1) {
    module.emitError("expects one posenc.kernel in the module, but has ")
        << kernels.size();
    return signalPassFailure();
  }
  KernelOp op = kernels.front();
  for (PlanOp plan : plans)
    if (plan.getKernel() != op.getSymName()) {
      plan.emitOpError("expects to be a plan of @")
          << op.getSymName() << ", but is one of @" << plan.getKernel();
      return signalPassFailure();
    }
  if (!llvm::all_of(plans,
                    [](PlanOp plan) { return succeeded(verifyPlan(plan)); }))
    return signalPassFailure();
  FailureOr<DriverKernel> kernel = analyzeKernel(op, plans);
  if (failed(kernel))
    return signalPassFailure();

  // The entry point takes the kernel's name: build beside the module.
  OwningOpRef<ModuleOp> host = ModuleOp::create(op.getLoc());
  DriverBuilder builder(op.getLoc(), *host);
  emitDriver(builder, *kernel);
  op.erase();
  for (PlanOp plan : plans)
    plan.erase();
  Block &body = *module.getBody();
  body.getOperations().splice(body.end(), host->getBody()->getOperations());
}
