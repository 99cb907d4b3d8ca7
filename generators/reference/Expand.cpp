// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of level 1 are expanded before they are interpreted.
#include "posenc/Reference/Reference.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace posenc;

/// Operands that nothing reads are no operands of a compiled kernel either.
static void eraseDeadOps(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

llvm::Expected<OwningOpRef<ModuleOp>> posenc::cloneExpanded(ModuleOp module) {
  OwningOpRef<ModuleOp> clone = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createPosencExpandEncodings());
  passes.addPass(createPosencSplitCache());
  passes.addPass(createPosencFormRecurrences());
  if (failed(passes.run(*clone)))
    return llvm::createStringError(""); // a diagnostic says why
  for (KernelOp kernel : clone->getOps<KernelOp>())
    eraseDeadOps(kernel.getBody().front());
  for (EmbedOp embed : clone->getOps<EmbedOp>())
    eraseDeadOps(embed.getBody().front());
  return clone;
}
