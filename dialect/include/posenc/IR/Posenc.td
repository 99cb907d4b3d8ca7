// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything, for tablegen and the generated documentation.
include "posenc/IR/PosencDialect.td"
include "posenc/IR/PosencEnums.td"
include "posenc/IR/PosencInterfaces.td"
include "posenc/IR/PosencTypes.td"
include "posenc/IR/PosencAttrs.td"
include "posenc/IR/PosencEncodings.td"
include "posenc/IR/PosencOps.td"
include "posenc/IR/PosencPlanOps.td"
