// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which distances the pairs of a plan's step have, proved from its ranges.
#ifndef POSENC_ANALYSIS_STEPDISTANCES_H
#define POSENC_ANALYSIS_STEPDISTANCES_H

#include "posenc/Analysis/ScoreMasks.h"

namespace posenc {

/// Distances from `low` to `high` between storage indices: that of a query,
/// aligned with the keys, minus that of a key.
struct Distances {
  /// Farther than any two tokens of a call.
  static constexpr int64_t kFarthest = int64_t{1} << 31;

  int64_t low = -kFarthest, high = kFarthest;

  int64_t size() const { return high - low + 1; }
  bool isEmpty() const { return low > high; }
};

/// `row + offset`, where the row is the first of a tile or the one after its
/// last, aligned with the keys.
struct TileBound {
  bool isEnd;
  int64_t offset;
};

/// What an expression over (q_begin, q_end, lq, lk) is, if it is that.
std::optional<TileBound> matchTileBound(mlir::AffineExpr expr,
                                        Alignment alignment);
mlir::AffineExpr makeTileBound(mlir::MLIRContext *context, TileBound bound,
                               Alignment alignment);

/// Whether `a <= b` in tiles of at most that many rows. All keys are before
/// `lk`.
bool isAtMost(mlir::AffineExpr a, mlir::AffineExpr b, int64_t rows);

/// The distances of pairs that none of the masks hides, at most.
Distances getSeenDistances(const MaskSet &masks, Alignment alignment);

/// The distances of pairs that count in a step, at most: those of its keys with
/// the rows of a tile, `rows` at most, without those that its own masks hide or
/// that masks hide which it may leave out. The last step also computes those of
/// a step with `maximum`.
Distances getStepDistances(StepOp step, Alignment alignment, int64_t rows);

} // namespace posenc

#endif // POSENC_ANALYSIS_STEPDISTANCES_H
