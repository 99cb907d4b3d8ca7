// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What masks of both kinds compare.
#ifndef POSENC_LIB_IR_MASKSIDES_H
#define POSENC_LIB_IR_MASKSIDES_H

#include "posenc/IR/Expansion.h"

namespace posenc {

/// The query's and the key's place.
inline llvm::SmallVector<mlir::Value>
getTwoSides(Expansion &expansion, MaskBasis by, Alignment alignment) {
  llvm::SmallVector<mlir::Value> sides;
  for (Side side : {Side::query, Side::key})
    sides.push_back(by == MaskBasis::position
                        ? expansion.position(side)
                        : expansion.index(side, alignment));
  return sides;
}

} // namespace posenc

#endif // POSENC_LIB_IR_MASKSIDES_H
