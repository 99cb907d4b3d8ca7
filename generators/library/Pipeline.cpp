// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel from level 1 to level 2 and to its plans.
#include "posenc/Compiler/Compile.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace posenc;

/// A module of its own for a kernel, at the kernel's location, and for the
/// kernel that fills its cache if there is one already.
static OwningOpRef<ModuleOp> isolate(Operation *op) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  module->push_back(op->clone());
  if (auto kernel = dyn_cast<KernelOp>(op))
    if (KernelOp append = findAppendKernel(kernel))
      module->push_back(append->clone());
  return module;
}

KernelOp posenc::findAppendKernel(KernelOp kernel) {
  auto name = StringAttr::get(kernel.getContext(), kernel.getAppendName());
  auto append = dyn_cast_or_null<KernelOp>(
      SymbolTable::lookupNearestSymbolFrom(kernel, name));
  return append && append.isAppend() ? append : KernelOp();
}

bool posenc::isOfAnotherKernel(KernelOp append) {
  auto module = append->getParentOfType<ModuleOp>();
  return append.isAppend() &&
         llvm::any_of(module.getOps<KernelOp>(), [&](KernelOp kernel) {
           return findAppendKernel(kernel) == append;
         });
}

static void addLevel2Passes(OpPassManager &manager) {
  manager.addPass(createPosencExpandEncodings());
  manager.addPass(createPosencSplitCache());
  manager.addPass(createPosencFormRecurrences());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createPosencSimplifyPositions());
  manager.addPass(createPosencSimplifyVectors());
  manager.addPass(createPosencSimplifyScores());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

FailureOr<OwningOpRef<ModuleOp>> posenc::lowerToLevel2(KernelOp kernel) {
  OwningOpRef<ModuleOp> module = isolate(kernel);
  PassManager manager(kernel.getContext());
  addLevel2Passes(manager);
  if (failed(manager.run(*module)))
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> posenc::lowerToLevel2(EmbedOp embed) {
  OwningOpRef<ModuleOp> module = isolate(embed);
  PassManager manager(embed->getContext());
  manager.addPass(createPosencExpandEncodings());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  if (failed(manager.run(*module)))
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>>
posenc::lowerToPlans(KernelOp kernel, ArrayRef<std::string> isas,
                     ArrayRef<std::string> tiles) {
  OwningOpRef<ModuleOp> module = isolate(kernel);
  PassManager manager(kernel.getContext());
  addLevel2Passes(manager);
  PosencPlanOptions options;
  options.isa.assign(isas.begin(), isas.end());
  options.tiles.assign(tiles.begin(), tiles.end());
  manager.addPass(createPosencPlan(options));
  manager.addPass(createPosencVerifyPlan());
  if (failed(manager.run(*module)))
    return failure();
  return module;
}
