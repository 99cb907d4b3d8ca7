// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where functions of the distance between two tokens are constant, proved by
// evaluating their regions on intervals.
#ifndef POSENC_ANALYSIS_RELATIONBANDS_H
#define POSENC_ANALYSIS_RELATIONBANDS_H

#include "posenc/Analysis/StepDistances.h"

namespace posenc {

/// What an interval of distances decides. Positions count from the storage
/// index, those of queries with one alignment; of others nothing is known.
class DistanceFacts {
public:
  DistanceFacts(Alignment alignment, Distances distances)
      : alignment(alignment), distances(distances) {}

  /// Which score a select of two takes for all pairs, if it is one.
  std::optional<bool> decide(SelectOp select) const;
  /// The integer that a relation is for all pairs, if it is one.
  std::optional<int64_t> getConstant(mlir::Value relation) const;

private:
  Alignment alignment;
  Distances distances;
};

/// Whether a relation is written as one integer.
bool isSameForAllPairs(mlir::Value relation);

/// A function of distances whose values are told apart by numbers, where it is
/// known to have one.
using DistanceFunction = llvm::function_ref<std::optional<int64_t>(Distances)>;

/// Distances that share a value.
struct DistanceRun {
  Distances distances;
  int64_t value;
};

/// The runs of at least `shortest` distances at either end of `all`, up to
/// where the function varies faster, from the largest distance to the least.
llvm::SmallVector<DistanceRun> findDistanceRuns(Distances all, int64_t shortest,
                                                DistanceFunction function);

/// The alignment of the first query position that counts storage indices, among
/// the operations of a block.
std::optional<Alignment> findAlignment(mlir::Block &block);

} // namespace posenc

#endif // POSENC_ANALYSIS_RELATIONBANDS_H
