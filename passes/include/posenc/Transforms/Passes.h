// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of posenc, and the pipeline that takes what they make to LLVM.
#ifndef POSENC_TRANSFORMS_PASSES_H
#define POSENC_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace posenc {

#define GEN_PASS_DECL
#include "posenc/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "posenc/Transforms/Passes.h.inc"

/// Upstream passes that take the host program, as posenc-lower-driver leaves
/// it, to the LLVM dialect.
void buildDriverToLLVMPipeline(mlir::OpPassManager &manager);

/// Registers the pipelines by name: posenc-driver-to-llvm.
void registerPosencPipelines();

} // namespace posenc

#endif // POSENC_TRANSFORMS_PASSES_H
