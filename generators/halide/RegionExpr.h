// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions of real numbers as Halide expressions.
#ifndef POSENC_GENERATORS_HALIDE_REGIONEXPR_H
#define POSENC_GENERATORS_HALIDE_REGIONEXPR_H

#include "posenc/IR/Posenc.h"

#include "Halide.h"

namespace posenc {

/// What the region yields for these arguments, computed in `type` (f32 or f64),
/// which is also the type of the arguments.
Halide::Expr evaluateRegion(mlir::Region &region,
                            llvm::ArrayRef<Halide::Expr> arguments,
                            Halide::Type type);

/// Whether an f32 evaluation calls the C library, once for each lane: too much
/// code to be unrolled.
bool callsLibrary(mlir::Region &region);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_REGIONEXPR_H
