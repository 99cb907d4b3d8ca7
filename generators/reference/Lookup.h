// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions over positions, relations and tables.
#ifndef POSENC_REFERENCE_LOOKUP_H
#define POSENC_REFERENCE_LOOKUP_H

#include "RegionLanes.h"
#include "Tables.h"

namespace posenc {

/// The region's value at each number.
Numbers mapNumbers(mlir::Region &region, const Numbers &numbers);

/// The tokens of the elements of a register: element x is at query + x
/// queryStep and key + x keyStep.
struct Place {
  int64_t query = 0, queryStep = 0, key = 0, keyStep = 0, count = 0;
};

/// Evaluates one region with inputs (posenc.bias and its like) in runs of at
/// most RegionLanes::width elements.
class RegionEvaluator {
public:
  /// Arguments of scores come before those of the inputs.
  RegionEvaluator(mlir::Region &region, mlir::ValueRange inputs,
                  unsigned numScores, const Positions &positions,
                  const Tables &tables);

  /// The argument of a score, to be filled before each run.
  RegionLanes::Register &getScore(unsigned index) { return lanes[index]; }

  /// Writes place.count results; `relations` gives the numbers of a relation
  /// at the place. Sets what a table of pairs masks in `masked`.
  void run(const Place &place,
           llvm::function_ref<const double *(mlir::Value)> relations,
           double *result, bool *masked);

private:
  struct Input {
    mlir::Value value;
    /// The register of the row that a table is looked up at; none: -1.
    int rowRegister = -1;
    int channelRegister = -1;
    /// Whether it changes with the index that is summed over.
    bool varies = false;
    const Numbers *position = nullptr;
    bool isOfQuery = false;
    const Table *table = nullptr;
  };

  void fill(unsigned index, const Place &place,
            llvm::function_ref<const double *(mlir::Value)> relations,
            int64_t summed, bool *masked);
  void fillFromTable(const Input &input, RegionLanes::Register &argument,
                     const Place &place, bool *masked);

  mlir::Region &region;
  llvm::SmallVector<Input> inputs;
  unsigned numScores;
  std::optional<int64_t> sumExtent;
  RegionLanes lanes;
};

} // namespace posenc

#endif // POSENC_REFERENCE_LOOKUP_H
