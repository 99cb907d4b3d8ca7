// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything, for tablegen and the generated documentation.
//
// Classes of the named encodings are declared by PosencEncodings.td alone: a
// new encoding must not concern what comes after the expansion.
include "posenc/IR/PosencCore.td"
include "posenc/IR/PosencEncodings.td"
include "posenc/IR/PosencFactorOps.td"
