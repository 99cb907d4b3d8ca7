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
  Operation *op = input.getDefiningOp();
  if (auto table = dyn_cast<TableOp>(op))
    return isa<OperandAttr>(table.getLaw());
  if (auto position = dyn_cast<PositionOp>(op))
    return isa<PositionTensorAttr>(position.getLaw());
  return llvm::any_of(op->getOperands(), readsOperand);
}

llvm::BitVector posenc::getKeptInputs(BiasOp bias) {
  llvm::BitVector kept = analyzeBias(bias).usedInputs;
  std::optional<unsigned> row, channel; // what looks up the next table
  for (auto [index, input] : llvm::enumerate(bias.getInputs())) {
    auto table = dyn_cast<TableType>(input.getType());
    if (!table)
      row = index;
    if (input.getDefiningOp<SumIndexOp>())
      channel = index;
    if (!readsOperand(input))
      continue;
    kept.set(index);
    if (table && table.hasAxis(TableAxis::row) && row)
      kept.set(*row);
    if (table && table.hasAxis(TableAxis::channel) && channel)
      kept.set(*channel);
  }
  return kept;
}

void posenc::eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct SimplifyScores : posenc::impl::PosencSimplifyScoresBase<SimplifyScores> {
  using Base::Base;

  void runOnOperation() override {
    bool anyChanged = false;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // What a cache holds does not depend on identities.
      if (!kernel.isExpanded() || kernel.hasNewTokens())
        continue;
      // A dropped bias need not be merged, and merging can join parts of
      // regions that then depend on one table.
      bool changed = dropRowConstants(kernel);
      changed |= addVectorsToQueries(kernel);
      if (networks)
        changed |= foldNetworks(kernel);
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
