// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The masks over storage indices that hide a pair from everything.
#include "posenc/Analysis/ScoreMasks.h"

using namespace mlir;
using namespace posenc;

bool posenc::isIndexMask(SelectOp select) {
  return select.getMaskAttr() && !select.getOther() &&
         select.getPositions().empty();
}

namespace {
/// Follows scores as far as a masked pair stays masked, and notes the scans.
class MaskSearch {
public:
  MaskSet find(Value score) {
    masks.clear();
    visited.clear();
    visit(score);
    return masks;
  }

  llvm::SetVector<Value> scanned;

private:
  void visit(Value score) {
    if (!isa<ScoreType>(score.getType()) || !visited.insert(score).second)
      return;
    Operation *op = score.getDefiningOp();
    if (!op)
      return;
    findScans(op);
    if (auto select = dyn_cast<SelectOp>(op)) {
      if (isIndexMask(select))
        masks.insert(select.getMaskAttr());
      if (!select.getOther())
        visit(select.getScore());
    } else if (isa<AddOp, MapOp, RowscanOp, TileToBase2Op>(op)) {
      for (Value operand : op->getOperands())
        visit(operand);
    }
  }

  /// Scans anywhere behind the operation.
  void findScans(Operation *op) {
    if (!searched.insert(op).second)
      return;
    if (auto scan = dyn_cast<RowscanOp>(op))
      scanned.insert(scan.getScore());
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        findScans(definition);
  }

  MaskSet masks;
  llvm::DenseSet<Value> visited;
  llvm::DenseSet<Operation *> searched;
};
} // namespace

MaskSet posenc::findCommonMasks(ArrayRef<Value> scores) {
  MaskSearch search;
  SmallVector<MaskSet> sets;
  for (Value score : scores)
    sets.push_back(search.find(score));
  for (size_t i = 0; i < search.scanned.size(); ++i)
    sets.push_back(search.find(search.scanned[i]));
  MaskSet common = sets.front();
  for (const MaskSet &set : llvm::drop_begin(sets))
    common.remove_if([&](MaskAttrInterface mask) { return !set.contains(mask); });
  return common;
}
