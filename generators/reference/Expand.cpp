// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of level 1 are expanded before they are interpreted.
#include "posenc/Reference/Reference.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace posenc;

llvm::Expected<OwningOpRef<ModuleOp>> posenc::cloneExpanded(ModuleOp module) {
  OwningOpRef<ModuleOp> clone = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createPosencExpandEncodings());
  if (failed(passes.run(*clone)))
    return llvm::createStringError("expected the module's kernels to expand");
  return clone;
}
