// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of posenc-verify-plan. Each function reports the first breach that
// it finds; those before it in this list have passed.
#ifndef POSENC_LIB_TRANSFORMS_VERIFYPLAN_H
#define POSENC_LIB_TRANSFORMS_VERIFYPLAN_H

#include "posenc/IR/Posenc.h"

namespace posenc {

/// Parts hold operations of their closed lists only.
mlir::LogicalResult verifyParts(PlanOp plan);

/// References name tables of the right kind, rotations fit their table and the
/// head, strips are functions of head and distance, and rows without bounds can
/// be counted.
mlir::LogicalResult verifyTables(PlanOp plan);

/// Steps are ranges of keys over (q_begin, q_end, lq, lk) that apply every mask
/// where it hides keys and end where the masks end.
mlir::LogicalResult verifyRanges(PlanOp plan);

/// Steps yield the same at distances that several of them have, but for masks.
mlir::LogicalResult verifyBodies(PlanOp plan);

/// Every score that is exponentiated is in base 2 exactly once, others never.
mlir::LogicalResult verifyBases(PlanOp plan);

/// Distances between positions fit in 32 bits.
mlir::LogicalResult verifyPositions(PlanOp plan);

/// All of these.
mlir::LogicalResult verifyPlan(PlanOp plan);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_VERIFYPLAN_H
