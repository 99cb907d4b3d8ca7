// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The identities that posenc-simplify-positions applies, one function each.
#ifndef POSENC_LIB_TRANSFORMS_POSITIONIDENTITIES_H
#define POSENC_LIB_TRANSFORMS_POSITIONIDENTITIES_H

#include "IdentityRemarks.h"

namespace posenc {

/// A rotation by positions p / s with frequencies w is one by p with w / s.
/// Returns whether the kernel changed, as the others do.
bool foldPositionScales(KernelOp kernel);

/// Regions over affine functions of positions become regions over positions.
bool foldAffinePositions(KernelOp kernel);

/// A constant that is added to all positions is dropped where only distances
/// matter.
bool dropPositionShifts(KernelOp kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_POSITIONIDENTITIES_H
