// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named encodings: what a user writes in the encode list of a kernel.
include "posenc/IR/BiasEncodings.td"
include "posenc/IR/RotaryEncodings.td"
include "posenc/IR/EmbedEncodings.td"
