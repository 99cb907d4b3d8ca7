// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunks of a recurrence: outputs of some tokens, and the state behind
// them.
#ifndef POSENC_GENERATORS_HALIDE_RECURRENCE_H
#define POSENC_GENERATORS_HALIDE_RECURRENCE_H

#include "TileParams.h"
#include "TileShape.h"

namespace posenc {

/// The outputs of a chunk, given the state before it.
mlir::FailureOr<Halide::Pipeline> buildChunkOutputs(PlanOp plan,
                                                    const TileShape &shape,
                                                    const TileParams &params);

/// The state behind a chunk, in the place of that before it.
Halide::Pipeline buildChunkState(PlanOp plan, const TileShape &shape,
                                 const TileParams &params);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_RECURRENCE_H
