// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The closed list of operations that a region of real numbers may hold.
#include "posenc/IR/ScalarRegion.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

std::optional<ScalarFunction> posenc::getScalarFunction(Operation *op) {
  using Result = std::optional<ScalarFunction>;
  using F = ScalarFunction;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::NegFOp>([](auto) { return F::Neg; })
      .Case<arith::AddFOp>([](auto) { return F::Add; })
      .Case<arith::SubFOp>([](auto) { return F::Sub; })
      .Case<arith::MulFOp>([](auto) { return F::Mul; })
      .Case<arith::DivFOp>([](auto) { return F::Div; })
      .Case<arith::MaximumFOp>([](auto) { return F::Maximum; })
      .Case<arith::MinimumFOp>([](auto) { return F::Minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return F::Maxnum; })
      .Case<arith::MinNumFOp>([](auto) { return F::Minnum; })
      .Case<arith::AndIOp>([](auto) { return F::And; })
      .Case<arith::OrIOp>([](auto) { return F::Or; })
      .Case<arith::XOrIOp>([](auto) { return F::Xor; })
      .Case<math::AbsFOp>([](auto) { return F::Abs; })
      .Case<math::CeilOp>([](auto) { return F::Ceil; })
      .Case<math::CopySignOp>([](auto) { return F::Copysign; })
      .Case<math::CosOp>([](auto) { return F::Cos; })
      .Case<math::ErfOp>([](auto) { return F::Erf; })
      .Case<math::ExpOp>([](auto) { return F::Exp; })
      .Case<math::Exp2Op>([](auto) { return F::Exp2; })
      .Case<math::ExpM1Op>([](auto) { return F::Expm1; })
      .Case<math::FloorOp>([](auto) { return F::Floor; })
      .Case<math::FmaOp>([](auto) { return F::Fma; })
      .Case<math::LogOp>([](auto) { return F::Log; })
      .Case<math::Log1pOp>([](auto) { return F::Log1p; })
      .Case<math::Log2Op>([](auto) { return F::Log2; })
      .Case<math::PowFOp>([](auto) { return F::Pow; })
      .Case<math::RsqrtOp>([](auto) { return F::Rsqrt; })
      .Case<math::SinOp>([](auto) { return F::Sin; })
      .Case<math::SqrtOp>([](auto) { return F::Sqrt; })
      .Case<math::TanOp>([](auto) { return F::Tan; })
      .Case<math::TanhOp>([](auto) { return F::Tanh; })
      .Case<math::TruncOp>([](auto) { return F::Trunc; })
      .Default(Result());
}

bool posenc::isScalarOp(Operation *op) {
  auto isScalar = [](Type type) { return type.isF64() || type.isInteger(1); };
  if (!llvm::all_of(op->getOperandTypes(), isScalar) ||
      !llvm::all_of(op->getResultTypes(), isScalar))
    return false;
  return isa<arith::ConstantOp, arith::CmpFOp, arith::SelectOp>(op) ||
         getScalarFunction(op);
}

StringRef posenc::listScalarOps() {
  return "arith.{constant, negf, addf, subf, mulf, divf, maximumf, minimumf, "
         "maxnumf, minnumf, cmpf, select, andi, ori, xori} and math.{absf, "
         "ceil, copysign, cos, erf, exp, exp2, expm1, floor, fma, log, log1p, "
         "log2, powf, rsqrt, sin, sqrt, tan, tanh, trunc} on f64 and i1";
}
