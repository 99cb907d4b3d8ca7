// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 3: biases of low rank as more channels of queries and keys.
#ifndef POSENC_IR_FACTOROPS_H
#define POSENC_IR_FACTOROPS_H

#include "posenc/IR/Posenc.h"

#define GET_OP_CLASSES
#include "posenc/IR/PosencFactorOps.h.inc"

#endif // POSENC_IR_FACTOROPS_H
