// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys and values that are stored as codes of 8 bits and scales.
#ifndef POSENC_GENERATORS_REFERENCE_CODES_H
#define POSENC_GENERATORS_REFERENCE_CODES_H

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Reference/Reference.h"

namespace posenc {

/// The numbers of a tensor of keys or values, as the kernel stores it: each
/// code times its scale, rounded to f32.
RealTensor decode(KernelOp kernel, const RealTensor &codes,
                  const RealTensor &scales);

/// What a cache holds of rows of numbers.
struct CodedRows {
  RealTensor codes;  // [1, Hkv, tokens, dim]
  RealTensor scales; // [1, Hkv, tokens, 1]
};

/// The codes of [1, Hkv, tokens, dim]: by the scales of the heads, or each row
/// by one of its own if `scales` is null.
CodedRows encode(const KernelTensor &cache, const RealTensor &rows,
                 const RealTensor *scales);

} // namespace posenc

#endif // POSENC_GENERATORS_REFERENCE_CODES_H
