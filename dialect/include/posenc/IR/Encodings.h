// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The named encodings, and what they build with. Passes after the expansion and
// generators do not include this.
#ifndef POSENC_IR_ENCODINGS_H
#define POSENC_IR_ENCODINGS_H

#include "posenc/IR/Expansion.h"

#define GET_ATTRDEF_CLASSES
#include "posenc/IR/PosencEncodings.h.inc"

#endif // POSENC_IR_ENCODINGS_H
