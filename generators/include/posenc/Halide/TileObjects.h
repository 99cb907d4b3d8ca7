// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU generator: from a plan to compiled tile functions.
#ifndef POSENC_HALIDE_TILEOBJECTS_H
#define POSENC_HALIDE_TILEOBJECTS_H

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Halide/TileSignature.h"

#include <string>
#include <vector>

namespace posenc {

struct TileObject {
  /// The only symbol that the object defines for others.
  std::string symbol;
  /// An object file of the platform, or assembly text.
  std::string bytes;
};

/// The tile functions of the plan in the order of its `rows`, each followed by
/// those of its networks, then its key transform if it has one (see
/// TileSignature.h). The same plan gives the same
/// bytes, whatever was compiled before. Objects need nothing at link time but
/// memory functions of the C library and functions of its libm.
///
/// What goes wrong is reported at the plan or at one of its operations.
mlir::FailureOr<std::vector<TileObject>>
emitTileObjects(PlanOp plan, const Platform &platform,
                bool emitAssembly = false);

} // namespace posenc

#endif // POSENC_HALIDE_TILEOBJECTS_H
