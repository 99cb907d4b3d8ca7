// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the running state to the output and the log-sum-exp.
#ifndef POSENC_GENERATORS_HALIDE_EPILOGUE_H
#define POSENC_GENERATORS_HALIDE_EPILOGUE_H

#include "TileContext.h"

namespace posenc {

/// Fully scheduled outputs of the pipeline: the output, and the log-sum-exp
/// where there is one.
mlir::FailureOr<std::vector<Halide::Func>>
buildEpilogue(EpilogueOp op, const TileContext &context, Halide::Func state);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_EPILOGUE_H
