// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tiles are predicted to cost. posenc-plan takes the cheapest ones; the
// predictions are for comparing tiles and placements of one kernel on one core,
// in cycles for a vector of scores: one key for as many queries as a vector has
// lanes.
#ifndef POSENC_ANALYSIS_COSTMODEL_H
#define POSENC_ANALYSIS_COSTMODEL_H

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/IR/Posenc.h"

#include <optional>
#include <string>
#include <vector>

namespace posenc {

/// The tiles of a plan: heights, tallest first, and keys of a block.
struct TileSizes {
  llvm::SmallVector<int64_t, 2> rows;
  int64_t keys;

  bool operator==(const TileSizes &other) const {
    return rows == other.rows && keys == other.keys;
  }
  /// "48+32x256".
  std::string str() const;
  /// Nothing for text of another form.
  static std::optional<TileSizes> parse(llvm::StringRef text);
};

TileSizes getTileSizes(PlanOp plan);

/// Whether a shorter sequence never has more tiles than a longer one, which is
/// what counts the tiles of packed sequences: one height, or a second of two
/// thirds of it or more.
bool areHeightsOrdered(llvm::ArrayRef<int64_t> rows);

/// What the cost of a kernel's tiles depends on besides their sizes.
struct TileWork {
  /// Multiplications and additions of a score, over all its products, and of a
  /// weight.
  int64_t scoreChannels = 0, valueChannels = 0;
  /// Whether pairs of bf16 are multiplied at once.
  bool pairedScores = false, pairedValues = false;
  /// Vector operations of a score besides products.
  double termOps = 0;
  /// Channels of a key and its value that tiles copy for each block.
  int64_t copiedChannels = 0;
  /// Bytes of a key and its value as products read them.
  int64_t keyBytes = 0;
  /// The most keys of a block: where the caller lists blocks of keys, those are
  /// whole ones if they fit.
  int64_t mostKeys = 0;
  /// Whether keys behind a query are hidden, whatever the distance.
  bool isCausal = false;
};

/// Of a kernel of level 2 whose terms have no place yet.
TileWork getTileWork(KernelOp kernel, const InstructionSet &isa);
/// Of a plan for many queries, by the step that takes most keys.
TileWork getTileWork(PlanOp plan, const InstructionSet &isa);

/// Vector operations of a step for a vector of scores and weights: what steps
/// are compared by.
double countScoreOps(StepOp step);

/// Cycles for a vector of scores, by what takes them.
struct TileCost {
  double products = 0; // both matrix products
  double softmax = 0;  // exponentials, maxima and sums
  double terms = 0;    // biases, maps and masks
  double state = 0;    // rescaling of outputs where a block ends
  double traffic = 0;  // keys and values from the second cache
  double copies = 0;   // of blocks that products cannot read in place
  double waste = 0;    // rows and keys that are computed for nothing
  /// What the products take if nothing else but multiplications did.
  double peak = 0;

  double getTotal() const {
    return products + softmax + terms + state + traffic + copies + waste;
  }
};

/// Of sequences of as many queries as keys, kPredictedLength unless said.
constexpr int64_t kPredictedLength = 2048;
TileCost predictCost(const TileWork &work, const TileSizes &sizes,
                     const InstructionSet &isa,
                     int64_t length = kPredictedLength);

struct TileCandidate {
  TileSizes sizes;
  TileCost cost;
};

/// The tiles that fit a kernel on an instruction set, cheapest first.
std::vector<TileCandidate> getTileCandidates(const TileWork &work,
                                             const InstructionSet &isa);

} // namespace posenc

#endif // POSENC_ANALYSIS_COSTMODEL_H
