// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of a plan's steps as functions of the distances of their pairs.
#ifndef POSENC_LIB_TRANSFORMS_STEPBODIES_H
#define POSENC_LIB_TRANSFORMS_STEPBODIES_H

#include "posenc/Analysis/RelationBands.h"

namespace posenc {

/// What looks up a row by a relation: a posenc.table_dot, or a value table
/// among the results.
bool looksUpByRelation(mlir::OpOperand &operand);

/// Replaces selects of two scores by the one that they take and relations that
/// look up rows by the integers that they are, where the distances decide them.
void specializeStep(StepOp step, const DistanceFacts &facts);

/// Drops the masks over storage indices that hide pairs.
void dropIndexMasks(StepOp step);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_STEPBODIES_H
