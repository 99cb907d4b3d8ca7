// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of tiles by measuring them.
#ifndef POSENC_COMPILE_TUNE_H
#define POSENC_COMPILE_TUNE_H

#include "posenc/Compiler/Compile.h"

namespace posenc {

/// Times the tiles that are predicted to cost least, as many queries as keys on
/// one thread, for each instruction set of the target that this CPU has, and
/// sets `options.tiles` to the fastest. Says on stderr what it measures.
/// Failures are diagnostics.
mlir::LogicalResult tuneTiles(KernelOp kernel, const Target &target,
                              CompileOptions &options);

} // namespace posenc

#endif // POSENC_COMPILE_TUNE_H
