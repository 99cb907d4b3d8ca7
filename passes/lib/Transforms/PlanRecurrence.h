// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of a kernel whose output is a posenc.recurrence.
#ifndef POSENC_LIB_TRANSFORMS_PLANRECURRENCE_H
#define POSENC_LIB_TRANSFORMS_PLANRECURRENCE_H

#include "posenc/Analysis/CostModel.h"
#include "posenc/IR/Posenc.h"

namespace posenc {

/// The tokens of a chunk, and of the function that ends a sequence.
TileSizes getChunks(const InstructionSet &isa);

/// Writes the parts of the plan, which is empty.
mlir::LogicalResult planRecurrence(RecurrenceOp op, PlanOp plan);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANRECURRENCE_H
