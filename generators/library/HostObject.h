// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host program of a kernel as machine code.
#ifndef POSENC_GENERATORS_LIBRARY_HOSTOBJECT_H
#define POSENC_GENERATORS_LIBRARY_HOSTOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace posenc {

/// Lowers a module with one kernel and its plans through the driver to an
/// x86-64 object file (or assembly text). The module is consumed.
mlir::FailureOr<std::string>
emitHostObject(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> lowering,
               bool emitAssembly);

} // namespace posenc

#endif // POSENC_GENERATORS_LIBRARY_HOSTOBJECT_H
