// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host program of a kernel as machine code.
#ifndef POSENC_GENERATORS_LIBRARY_HOSTOBJECT_H
#define POSENC_GENERATORS_LIBRARY_HOSTOBJECT_H

#include "posenc/Analysis/InstructionSets.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace posenc {

/// Lowers a module with one kernel and its plans through the driver to an
/// object file (or assembly text) of a platform. The module is consumed.
mlir::FailureOr<std::string>
emitHostObject(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> lowering,
               const Platform &platform, bool emitAssembly);

} // namespace posenc

#endif // POSENC_GENERATORS_LIBRARY_HOSTOBJECT_H
