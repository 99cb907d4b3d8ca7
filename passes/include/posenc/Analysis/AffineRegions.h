// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions and positions that are affine functions, proved from their text.
#ifndef POSENC_ANALYSIS_AFFINEREGIONS_H
#define POSENC_ANALYSIS_AFFINEREGIONS_H

#include "posenc/IR/Posenc.h"

namespace posenc {

/// x -> slope x + offset.
struct AffineFunction {
  double slope = 1, offset = 0;

  bool isIdentity() const { return slope == 1 && offset == 0; }
  bool isConstant() const { return slope == 0; }
  bool operator==(const AffineFunction &other) const {
    return slope == other.slope && offset == other.offset;
  }
};

/// What a region of numbers is if it depends on that argument alone and is
/// affine in it, with finite numbers.
std::optional<AffineFunction> matchAffine(mlir::Region &region,
                                          unsigned argument);

/// The value of a region that depends on none of its arguments.
std::optional<double> matchConstant(mlir::Region &region);

/// A position as an affine function of another one.
struct AffinePosition {
  mlir::Value base;
  AffineFunction function;
};

/// Looks through every posenc.remap that is affine.
AffinePosition resolvePosition(mlir::Value position);

} // namespace posenc

#endif // POSENC_ANALYSIS_AFFINEREGIONS_H
