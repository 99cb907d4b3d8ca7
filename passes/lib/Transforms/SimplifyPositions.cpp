// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 2: the identities of positions.
#include "PositionIdentities.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCSIMPLIFYPOSITIONS
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

namespace {
struct SimplifyPositions
    : posenc::impl::PosencSimplifyPositionsBase<SimplifyPositions> {
  void runOnOperation() override {
    bool anyChanged = false;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // What a cache holds does not depend on identities.
      if (!kernel.isExpanded() || kernel.hasNewTokens())
        continue;
      // Shifts are looked for last: the others leave positions bare.
      bool changed = foldPositionScales(kernel);
      changed |= foldAffinePositions(kernel);
      if (changed)
        eraseDead(kernel.getBody().front());
      changed |= dropPositionShifts(kernel);
      anyChanged |= changed;
    }
    if (!anyChanged)
      markAllAnalysesPreserved();
  }
};
} // namespace
