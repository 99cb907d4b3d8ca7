// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of posenc and the pipeline that runs them.
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

} // namespace posenc

#endif // POSENC_TRANSFORMS_PASSES_H
