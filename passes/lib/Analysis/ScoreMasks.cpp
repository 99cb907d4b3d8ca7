// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The masks that hide a pair from everything.
#include "posenc/Analysis/ScoreMasks.h"

using namespace mlir;
using namespace posenc;

bool posenc::isIndexMask(SelectOp select) {
  return select.getMaskAttr() && !select.getOther() &&
         select.getPositions().empty();
}

namespace {
/// What hides pairs from a score.
struct Masks {
  MaskSet overIndices;
  llvm::SetVector<Operation *> others;
};

/// Follows scores as far as a masked pair stays masked, and notes the scans.
class MaskSearch {
public:
  Masks find(Value score) {
    masks = {};
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
        masks.overIndices.insert(select.getMaskAttr());
      else if (!select.getOther())
        masks.others.insert(select);
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

  Masks masks;
  llvm::DenseSet<Value> visited;
  llvm::DenseSet<Operation *> searched;
};
} // namespace

/// What hides pairs from all scores and from the scans behind them.
static Masks findCommon(ArrayRef<Value> scores) {
  MaskSearch search;
  SmallVector<Masks> found;
  for (Value score : scores)
    found.push_back(search.find(score));
  for (size_t i = 0; i < search.scanned.size(); ++i)
    found.push_back(search.find(search.scanned[i]));
  Masks common = found.front();
  for (const Masks &masks : llvm::drop_begin(found)) {
    common.overIndices.remove_if([&](MaskAttrInterface mask) {
      return !masks.overIndices.contains(mask);
    });
    common.others.remove_if(
        [&](Operation *select) { return !masks.others.contains(select); });
  }
  return common;
}

MaskSet posenc::findCommonMasks(ArrayRef<Value> scores) {
  return findCommon(scores).overIndices;
}

SmallVector<SelectOp> posenc::findCommonPredicates(ArrayRef<Value> scores) {
  return llvm::map_to_vector(findCommon(scores).others, [](Operation *select) {
    return cast<SelectOp>(select);
  });
}
