// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The identities that posenc-simplify-scores applies, one function each.
#ifndef POSENC_LIB_TRANSFORMS_SCOREIDENTITIES_H
#define POSENC_LIB_TRANSFORMS_SCOREIDENTITIES_H

#include "IdentityRemarks.h"

#include "llvm/ADT/BitVector.h"

namespace posenc {

/// The inputs that a bias must keep: those that reach its result, and operands.
llvm::BitVector getKeptInputs(BiasOp bias);

/// Drops biases that add the same number to all scores of a row, where nothing
/// can see it. Returns whether the kernel changed, as the others do.
bool dropRowConstants(KernelOp kernel);

/// Adds the vectors that all keys are multiplied with to the queries of another
/// product of the same sum.
bool addVectorsToQueries(KernelOp kernel);

/// Merges the Toeplitz biases of one sum that fit one strip.
bool mergeToeplitzBiases(KernelOp kernel);

/// Evaluates the parts of bias regions that depend on one constant table only.
bool foldConstantParts(KernelOp kernel);

/// Rewrites biases that sum hidden units with rectifiers, of one number and
/// with constant weights, as piecewise linear functions of it.
bool foldNetworks(KernelOp kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_SCOREIDENTITIES_H
