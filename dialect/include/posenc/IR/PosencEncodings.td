// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named encodings: what a user writes in the encode list of a kernel.
include "posenc/IR/BiasEncodings.td"
include "posenc/IR/ContentEncodings.td"
include "posenc/IR/MaskClauses.td"
include "posenc/IR/NormEncodings.td"
include "posenc/IR/RemapEncodings.td"
include "posenc/IR/RotaryEncodings.td"
include "posenc/IR/EmbedEncodings.td"
include "posenc/IR/ScoreEncodings.td"
