// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of a plan as Halide modules.
#ifndef POSENC_GENERATORS_HALIDE_TILEPIPELINE_H
#define POSENC_GENERATORS_HALIDE_TILEPIPELINE_H

#include "TileShape.h"

#include "Halide.h"

namespace posenc {

/// Lowered modules in the order of emitTileObjects, each with one function.
/// Halide's errors pass through.
mlir::FailureOr<std::vector<Halide::Module>>
buildTileModules(PlanOp plan, const InstructionSet &isa,
                 const Platform &platform);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_TILEPIPELINE_H
