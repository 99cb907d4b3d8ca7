// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 2: the identities of query and key vectors.
#include "VectorIdentities.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCSIMPLIFYVECTORS
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

namespace {
struct SimplifyVectors
    : posenc::impl::PosencSimplifyVectorsBase<SimplifyVectors> {
  void runOnOperation() override {
    bool anyChanged = false;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // What a cache holds does not depend on identities.
      if (!kernel.isExpanded() || kernel.hasNewTokens())
        continue;
      // Factors come to stand side by side, then become one, then vanish.
      bool changed = orderVectorOps(kernel);
      changed |= mergeFactors(kernel);
      changed |= foldConstantFactors(kernel);
      if (changed)
        eraseDead(kernel.getBody().front());
      anyChanged |= changed;
    }
    if (!anyChanged)
      markAllAnalysesPreserved();
  }
};
} // namespace
