// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "posenc/IR/Posenc.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCLOWERDRIVER
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

namespace {
struct LowerDriver : posenc::impl::PosencLowerDriverBase<LowerDriver> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
