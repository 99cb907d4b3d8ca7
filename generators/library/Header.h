// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C header and the manifest of a compiled kernel.
#ifndef POSENC_GENERATORS_LIBRARY_HEADER_H
#define POSENC_GENERATORS_LIBRARY_HEADER_H

#include "posenc/Compiler/Compile.h"

namespace posenc {

/// The C11 and C++17 header of the entry points.
/// `append` fills the kernel's cache; null if it has none.
std::string makeHeader(KernelOp kernel, KernelOp append,
                       const CompiledKernel &compiled);
std::string makeHeader(EmbedOp embed, const CompiledKernel &compiled);

/// What was compiled and how: tensors, instruction sets, versions.
std::string makeManifest(KernelOp kernel, const CompiledKernel &compiled);
std::string makeManifest(EmbedOp embed, const CompiledKernel &compiled);

/// Version and commit-independent identity of this compiler's sources.
llvm::StringRef getCompilerVersion();
llvm::StringRef getCompilerIdentity();

} // namespace posenc

#endif // POSENC_GENERATORS_LIBRARY_HEADER_H
