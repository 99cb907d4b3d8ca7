// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a specification file and finding a kernel in it.
#ifndef POSENC_TOOLS_SPEC_H
#define POSENC_TOOLS_SPEC_H

#include "posenc/IR/Posenc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace posenc {

/// Parses and verifies a specification (text or bytecode). Errors are
/// diagnostics at the file's lines; `sources` must be the manager that the
/// context's diagnostic handler prints with, so that it can show them.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadSpec(mlir::MLIRContext &context, llvm::SourceMgr &sources,
         llvm::StringRef path);

/// The kernel of that name; an empty name is the first kernel of the file. The
/// error lists the kernels that exist.
mlir::FailureOr<KernelOp> selectKernel(mlir::ModuleOp module,
                                       llvm::StringRef name);
/// The same for input embeddings.
mlir::FailureOr<EmbedOp> selectEmbed(mlir::ModuleOp module,
                                     llvm::StringRef name);

} // namespace posenc

#endif // POSENC_TOOLS_SPEC_H
