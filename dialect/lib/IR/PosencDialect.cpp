// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect.
#include "posenc/IR/FactorOps.h"
#include "posenc/IR/Posenc.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace posenc;

#include "posenc/IR/PosencDialect.cpp.inc"
#include "posenc/IR/PosencEnums.cpp.inc"

#include "posenc/IR/PosencAttrInterfaces.cpp.inc"

void PosencDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "posenc/IR/PosencOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "posenc/IR/PosencFactorOps.cpp.inc"
      >();
}
