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

/// A kernel, and the one that fills its cache.
static LogicalResult checkKernels(ModuleOp module, ArrayRef<KernelOp> kernels) {
  auto isAppend = [](KernelOp kernel) { return kernel.isAppend(); };
  size_t appends = llvm::count_if(kernels, isAppend);
  if (kernels.size() - appends > 1 || appends > 1 || kernels.empty())
    return module.emitError("expects one posenc.kernel in the module, but has ")
           << kernels.size();
  return success();
}

/// Each plan is of one of the kernels.
static LogicalResult checkPlans(ArrayRef<KernelOp> kernels,
                                ArrayRef<PlanOp> plans) {
  for (PlanOp plan : plans) {
    bool isKnown = llvm::any_of(kernels, [&](KernelOp kernel) {
      return plan.getKernel() == KernelOp(kernel).getSymName();
    });
    if (!isKnown)
      return PlanOp(plan).emitOpError("expects to be a plan of @")
             << KernelOp(kernels.front()).getSymName() << ", but is one of @"
             << PlanOp(plan).getKernel();
    if (failed(verifyPlan(plan)))
      return failure();
  }
  return success();
}

void LowerDriver::runOnOperation() {
  ModuleOp module = getOperation();
  auto kernels = llvm::to_vector(module.getOps<KernelOp>());
  auto plans = llvm::to_vector(module.getOps<PlanOp>());
  if (failed(checkKernels(module, kernels)) ||
      failed(checkPlans(kernels, plans)))
    return signalPassFailure();

  // The entry points take the kernels' names: build beside the module.
  OwningOpRef<ModuleOp> host = ModuleOp::create(kernels.front().getLoc());
  DriverBuilder builder(kernels.front().getLoc(), *host);
  for (KernelOp op : kernels) {
    FailureOr<DriverKernel> kernel =
        analyzeKernel(op, llvm::filter_to_vector(plans, [&](PlanOp plan) {
                        return plan.getKernel() == op.getSymName();
                      }));
    if (failed(kernel))
      return signalPassFailure();
    if (op.isAppend())
      emitAppendDriver(builder, *kernel);
    else
      emitDriver(builder, *kernel);
  }
  for (KernelOp op : kernels)
    op.erase();
  for (PlanOp plan : plans)
    plan.erase();
  Block &body = *module.getBody();
  body.getOperations().splice(body.end(), host->getBody()->getOperations());
}
