// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The named encodings, and what they build with. Passes after the expansion and
// generators do not include this.
#ifndef POSENC_IR_ENCODINGS_H
#define POSENC_IR_ENCODINGS_H

#include "posenc/IR/Expansion.h"

namespace posenc {

/// The frequencies of a rotary encoding before its scaling.
struct RotaryLaw {
  double base;
  int64_t dims, headDim;
  llvm::SmallVector<double> frequencies;
};

/// Where an attention factor goes.
struct AttentionFactors {
  double rotation = 1, scale = 1;
};

} // namespace posenc

#include "posenc/IR/RotaryInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "posenc/IR/PosencEncodings.h.inc"

#endif // POSENC_IR_ENCODINGS_H
