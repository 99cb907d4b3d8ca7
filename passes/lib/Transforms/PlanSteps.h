// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where posenc-plan cuts the keys of a tile into steps.
#ifndef POSENC_LIB_TRANSFORMS_PLANSTEPS_H
#define POSENC_LIB_TRANSFORMS_PLANSTEPS_H

#include "PlanScores.h"
#include "StepBodies.h"

#include <string>

namespace posenc {

/// One step of a plan, without its body.
struct StepRange {
  std::string name;
  mlir::AffineMap until;
  bool isMasked = false, isMaximum = false, hasWholeBlocks = false;
};

/// The steps of a plan, first to last. `general` is a step with the body that
/// suits every pair but for masks; it stands in a plan and is left as it is.
/// Tiles have at most `rows` rows, and blocks `keys` keys.
llvm::SmallVector<StepRange> planSteps(const ScoreTerms &terms, StepOp general,
                                       int64_t rows, int64_t keys);

/// Specializes the bodies of a plan's steps to the distances of their pairs.
void specializeSteps(PlanOp plan, int64_t rows);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANSTEPS_H
