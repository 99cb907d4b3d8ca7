// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything but the named encodings, for tablegen and the documentation.
include "posenc/IR/PosencDialect.td"
include "posenc/IR/PosencEnums.td"
include "posenc/IR/PosencInterfaces.td"
include "posenc/IR/PosencTypes.td"
include "posenc/IR/PosencAttrs.td"
include "posenc/IR/PosencKernelOps.td"
include "posenc/IR/PosencTermOps.td"
include "posenc/IR/PosencVectorOps.td"
include "posenc/IR/PosencScoreOps.td"
include "posenc/IR/PosencPlanOps.td"
include "posenc/IR/PosencEmbedOps.td"
