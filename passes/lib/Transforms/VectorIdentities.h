// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The identities that posenc-simplify-vectors applies, one function each.
#ifndef POSENC_LIB_TRANSFORMS_VECTORIDENTITIES_H
#define POSENC_LIB_TRANSFORMS_VECTORIDENTITIES_H

#include "IdentityRemarks.h"

namespace posenc {

/// Norms before rotations before factors. Returns whether the kernel changed,
/// as the others do.
bool orderVectorOps(KernelOp kernel);

/// Two factors of a vector, one after the other, become one.
bool mergeFactors(KernelOp kernel);

/// Constant factors of vectors, moduli of rotations among them, become factors
/// of the scales of their products.
bool foldConstantFactors(KernelOp kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_VECTORIDENTITIES_H
