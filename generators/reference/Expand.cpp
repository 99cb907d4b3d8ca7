// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of level 1 are expanded before they are interpreted.
#include "posenc/Reference/Reference.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace posenc;

llvm::Expected<OwningOpRef<ModuleOp>> posenc::cloneExpanded(ModuleOp module) {
  OwningOpRef<ModuleOp> clone = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createPosencExpandEncodings());
  // Operands that nothing reads are no operands of a compiled kernel either.
  passes.addPass(createCanonicalizerPass());
  if (failed(passes.run(*clone)))
    return llvm::createStringError("expected the module's kernels to expand");
  return clone;
}
