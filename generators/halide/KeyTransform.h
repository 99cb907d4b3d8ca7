// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens to the keys once per (batch, key head), before the tiles.
#ifndef POSENC_GENERATORS_HALIDE_KEYTRANSFORM_H
#define POSENC_GENERATORS_HALIDE_KEYTRANSFORM_H

#include "TileParams.h"
#include "TileShape.h"

namespace posenc {

/// The key transform of a plan that has one; its output is the only Func.
mlir::FailureOr<Halide::Pipeline>
buildKeyTransform(PlanOp plan, const TileParams &params, int64_t lanes);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_KEYTRANSFORM_H
