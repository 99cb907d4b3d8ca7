// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 2: the identities of scores that their traits allow.
#include "ScoreIdentities.h"
#include "posenc/Analysis/BiasTraits.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCSIMPLIFYSCORES
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

bool posenc::readsOperand(Value input) {
  if (auto table = input.getDefiningOp<TableOp>())
    return isa<OperandAttr>(table.getLaw());
  if (auto position = input.getDefiningOp<PositionOp>())
    return isa<PositionTensorAttr>(position.getLaw());
  auto relation = input.getDefiningOp<RelationOp>();
  return relation &&
         (readsOperand(relation.getQuery()) || readsOperand(relation.getKey()));
}

llvm::BitVector posenc::getKeptInputs(BiasOp bias) {
  llvm::BitVector kept = analyzeBias(bias).usedInputs;
  std::optional<unsigned> relation;
  for (auto [index, input] : llvm::enumerate(bias.getInputs())) {
    if (isa<RelationType>(input.getType()))
      relation = index;
    if (!readsOperand(input))
      continue;
    kept.set(index);
    auto table = dyn_cast<TableType>(input.getType());
    if (table && table.hasAxis(TableAxis::row) && relation)
      kept.set(*relation);
  }
  return kept;
}

/// Erases the primitives that nothing uses any more.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct SimplifyScores : posenc::impl::PosencSimplifyScoresBase<SimplifyScores> {
  void runOnOperation() override {
    bool anyChanged = false;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel.isExpanded())
        continue;
      // A dropped bias need not be merged, and merging can join parts of
      // regions that then depend on one table.
      bool changed = dropRowConstants(kernel);
      changed |= mergeToeplitzBiases(kernel);
      changed |= foldConstantParts(kernel);
      if (changed)
        eraseDead(kernel.getBody().front());
      anyChanged |= changed;
    }
    if (!anyChanged)
      markAllAnalysesPreserved();
  }
};
} // namespace
