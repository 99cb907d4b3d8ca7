// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which distances the pairs of a plan's step have, proved from its ranges.
#include "posenc/Analysis/StepDistances.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The first row of a tile, or the one after its last.
static AffineExpr getRow(MLIRContext *context, bool isEnd,
                         Alignment alignment) {
  AffineExpr qBegin, qEnd, lq, lk;
  bindDims(context, qBegin, qEnd, lq, lk);
  AffineExpr row = isEnd ? qEnd : qBegin;
  return alignment == Alignment::bottom_right ? row + lk - lq : row;
}

static std::optional<int64_t> getDifference(AffineExpr a, AffineExpr b) {
  auto difference =
      dyn_cast<AffineConstantExpr>(simplifyAffineExpr(a - b, 4, 0));
  return difference ? std::optional(difference.getValue()) : std::nullopt;
}

std::optional<TileBound> posenc::matchTileBound(AffineExpr expr,
                                                Alignment alignment) {
  for (bool isEnd : {false, true})
    if (std::optional<int64_t> offset =
            getDifference(expr, getRow(expr.getContext(), isEnd, alignment)))
      return TileBound{isEnd, *offset};
  return std::nullopt;
}

AffineExpr posenc::makeTileBound(MLIRContext *context, TileBound bound,
                                 Alignment alignment) {
  return getRow(context, bound.isEnd, alignment) + bound.offset;
}

static bool isAllKeys(AffineExpr expr) {
  return expr == getAffineDimExpr(3, expr.getContext());
}

bool posenc::isAtMost(AffineExpr a, AffineExpr b, int64_t rows) {
  if (isAllKeys(b))
    return true;
  for (Alignment alignment : {Alignment::bottom_right, Alignment::top_left}) {
    std::optional<TileBound> first = matchTileBound(a, alignment),
                             second = matchTileBound(b, alignment);
    if (!first || !second)
      continue;
    int64_t most = first->isEnd == second->isEnd ? 0 : first->isEnd ? rows : 0;
    if (first->offset + most <= second->offset)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

// Of one row i: q_begin = i and q_end = i + 1.
Distances posenc::getSeenDistances(const MaskSet &masks, Alignment alignment) {
  Distances seen;
  for (MaskAttrInterface mask : masks) {
    for (AffineExpr begin : mask.getKeysBegin().getResults())
      if (auto bound = matchTileBound(begin, alignment))
        seen.high = std::min(seen.high, -bound->offset - bound->isEnd);
    for (AffineExpr end : mask.getKeysEnd().getResults())
      if (auto bound = matchTileBound(end, alignment))
        seen.low = std::max(seen.low, 1 - bound->offset - bound->isEnd);
  }
  return seen;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
/// The distances of a tile's rows from keys on one side of a bound.
class TileDistances {
public:
  TileDistances(Alignment alignment, int64_t rows)
      : alignment(alignment), rows(rows) {}

  /// The least, of keys before `end`.
  int64_t getLow(AffineExpr end) const {
    std::optional<TileBound> bound = matchTileBound(end, alignment);
    if (!bound)
      return -Distances::kFarthest;
    return 1 - bound->offset - (bound->isEnd ? rows : 0);
  }

  /// The largest, of keys from `begin` on.
  int64_t getHigh(AffineExpr begin) const {
    std::optional<TileBound> bound = matchTileBound(begin, alignment);
    if (!bound)
      return Distances::kFarthest;
    return (bound->isEnd ? 0 : rows) - 1 - bound->offset;
  }

  /// The largest in `step` if an earlier one has taken the keys up to its end.
  int64_t getHighBehind(StepOp earlier, StepOp step) const {
    int64_t high =
        earlier.getMaximum() ? Distances::kFarthest : -Distances::kFarthest;
    for (AffineExpr end : earlier.getUntil().getResults()) {
      // Where the earlier one stopped there, nothing is left for this one.
      bool isOver = isAllKeys(end) ||
                    (!step.getMaximum() &&
                     llvm::is_contained(step.getUntil().getResults(), end));
      int64_t there = isOver ? -Distances::kFarthest : getHigh(end);
      high =
          earlier.getMaximum() ? std::min(high, there) : std::max(high, there);
    }
    return high;
  }

private:
  Alignment alignment;
  int64_t rows;
};
} // namespace

/// By the step's own keys alone.
static Distances getOwnDistances(StepOp step, const TileDistances &tile) {
  Distances own;
  auto plan = cast<PlanOp>(step->getParentOp());
  if (std::optional<AffineMap> from = plan.getFrom())
    for (AffineExpr begin : from->getResults())
      own.high = std::min(own.high, tile.getHigh(begin));
  for (StepOp earlier : plan.getStepOps()) {
    if (earlier == step)
      break;
    // What a step of whole blocks leaves belongs to those that follow.
    if (!earlier.getWholeBlocks())
      own.high = std::min(own.high, tile.getHighBehind(earlier, step));
  }
  ArrayRef<AffineExpr> ends = step.getUntil().getResults();
  if (!step.getMaximum() || ends.size() == 1)
    for (AffineExpr end : ends)
      own.low = std::max(own.low, tile.getLow(end));
  return own;
}

static Distances intersect(Distances a, Distances b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

Distances posenc::getStepDistances(StepOp step, Alignment alignment,
                                   int64_t rows) {
  TileDistances tile(alignment, rows);
  SmallVector<StepOp, 4> steps = cast<PlanOp>(step->getParentOp()).getStepOps();
  StepOp last = steps.back(), first = steps.front();
  SmallVector<Value> scores = llvm::filter_to_vector(
      last.getBody().front().back().getOperands(),
      [](Value value) { return isa<ScoreType>(value.getType()); });
  Distances seen = getSeenDistances(findCommonMasks(scores), alignment);
  Distances distances = getOwnDistances(step, tile);
  // These two have one body.
  bool hasEntry = first.getMaximum() && first != last;
  if (hasEntry && (step == first || step == last)) {
    Distances other = getOwnDistances(step == first ? last : first, tile);
    distances = {std::min(distances.low, other.low),
                 std::max(distances.high, other.high)};
  }
  return intersect(distances, seen);
}
