// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which names kernels may have in C.
#ifndef POSENC_GENERATORS_LIBRARY_KERNELNAMES_H
#define POSENC_GENERATORS_LIBRARY_KERNELNAMES_H

#include "posenc/IR/Posenc.h"

#include "mlir/IR/BuiltinOps.h"

namespace posenc {

/// Fails unless the kernel's name can be declared in a C or C++ program next to
/// the standard library and the runtime.
llvm::LogicalResult checkKernelName(mlir::SymbolOpInterface kernel);

/// Fails when names that are made from one kernel's name (NAME_prepare, ...)
/// are another's. Looks at all kernels of the module, since they are linked
/// into one program also when they are compiled one by one.
llvm::LogicalResult checkDerivedNames(mlir::ModuleOp module);

} // namespace posenc

#endif // POSENC_GENERATORS_LIBRARY_KERNELNAMES_H
