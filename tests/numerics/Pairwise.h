// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small sets of test cases in which every two choices meet.
#ifndef POSENC_NUMERICS_PAIRWISE_H
#define POSENC_NUMERICS_PAIRWISE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <vector>

namespace posenc::numerics {

/// Parameter p has the values 0 .. counts[p]-1. Returns rows, one value for
/// each parameter, such that any two values of two parameters are in some row,
/// unless no valid row has them. Always the same rows for the same arguments.
std::vector<std::vector<size_t>>
coverPairs(llvm::ArrayRef<size_t> counts,
           llvm::function_ref<bool(llvm::ArrayRef<size_t>)> isValid);

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_PAIRWISE_H
