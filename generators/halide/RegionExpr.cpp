// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RegionExpr.h"
#include "Numerics.h"
#include "posenc/IR/ScalarRegion.h"

using namespace posenc;
using Halide::Expr;
using llvm::ArrayRef;

namespace {
struct ExprAlgebra {
  Halide::Type type;

  Expr constant(double value) {
    return Halide::Internal::make_const(type, value);
  }
  Expr truth(bool value) { return Halide::Internal::make_bool(value); }
  Expr apply(ScalarFunction function, ArrayRef<Expr> x);
  Expr compare(mlir::arith::CmpFPredicate predicate, Expr a, Expr b);
  Expr select(Expr condition, Expr ifTrue, Expr ifFalse) {
    return Halide::select(condition, ifTrue, ifFalse);
  }

  /// A call of the C library for each lane, in double precision.
  Expr libm(const char *name, ArrayRef<Expr> x) {
    std::vector<Expr> arguments;
    for (const Expr &argument : x)
      arguments.push_back(Halide::cast<double>(argument));
    return Halide::cast(
        type, Halide::Internal::Call::make(Halide::Float(64), name, arguments,
                                           Halide::Internal::Call::PureExtern));
  }
  bool isSingle() const { return type == Halide::Float(32); }
};
} // namespace

Expr ExprAlgebra::apply(ScalarFunction function, ArrayRef<Expr> x) {
  constexpr double kLog2E = 1.4426950408889634;
  switch (function) {
  case ScalarFunction::Neg:
    return -x[0];
  case ScalarFunction::Abs:
    return abs(x[0]);
  case ScalarFunction::Ceil:
    return ceil(x[0]);
  case ScalarFunction::Floor:
    return floor(x[0]);
  case ScalarFunction::Trunc:
    return trunc(x[0]);
  case ScalarFunction::Sqrt:
    return sqrt(x[0]);
  case ScalarFunction::Rsqrt:
    return constant(1.0) / sqrt(x[0]);
  // Scores are f32 and need whole vectors; the rest may call the C library.
  case ScalarFunction::Exp:
    return isSingle() ? exp2OrInfinity(x[0] * constant(kLog2E))
                      : libm("exp", x);
  case ScalarFunction::Exp2:
    return isSingle() ? exp2OrInfinity(x[0]) : libm("exp2", x);
  case ScalarFunction::Tanh:
    return isSingle() ? tanhApprox(x[0]) : libm("tanh", x);
  case ScalarFunction::Cos:
    return libm("cos", x);
  case ScalarFunction::Erf:
    return libm("erf", x);
  case ScalarFunction::Expm1:
    return libm("expm1", x);
  case ScalarFunction::Log:
    return libm("log", x);
  case ScalarFunction::Log1p:
    return libm("log1p", x);
  case ScalarFunction::Log2:
    return libm("log2", x);
  case ScalarFunction::Sin:
    return libm("sin", x);
  case ScalarFunction::Tan:
    return libm("tan", x);
  case ScalarFunction::Add:
    return x[0] + x[1];
  case ScalarFunction::Sub:
    return x[0] - x[1];
  case ScalarFunction::Mul:
    return x[0] * x[1];
  case ScalarFunction::Div:
    // A product with the reciprocal falls short where the quotient is an
    // integer, and floor() shows it. Scores in f32 need no such care.
    return x[0].type().bits() == 64 ? Halide::strict_float(x[0] / x[1])
                                    : x[0] / x[1];
  case ScalarFunction::Maximum:
  case ScalarFunction::Maxnum:
    return max(x[0], x[1]);
  case ScalarFunction::Minimum:
  case ScalarFunction::Minnum:
    return min(x[0], x[1]);
  case ScalarFunction::Pow:
    return libm("pow", x);
  case ScalarFunction::Copysign:
    return libm("copysign", x);
  case ScalarFunction::And:
    return x[0] && x[1];
  case ScalarFunction::Or:
    return x[0] || x[1];
  case ScalarFunction::Xor:
    return x[0] != x[1];
  case ScalarFunction::Fma:
    return x[0] * x[1] + x[2];
  }
  llvm_unreachable("unknown function");
}

// The values are real numbers: ordered and unordered predicates are the same.
Expr ExprAlgebra::compare(mlir::arith::CmpFPredicate predicate, Expr a,
                          Expr b) {
  using mlir::arith::CmpFPredicate;
  switch (predicate) {
  case CmpFPredicate::AlwaysFalse:
  case CmpFPredicate::UNO:
    return truth(false);
  case CmpFPredicate::AlwaysTrue:
  case CmpFPredicate::ORD:
    return truth(true);
  case CmpFPredicate::OEQ:
  case CmpFPredicate::UEQ:
    return a == b;
  case CmpFPredicate::ONE:
  case CmpFPredicate::UNE:
    return a != b;
  case CmpFPredicate::OGT:
  case CmpFPredicate::UGT:
    return a > b;
  case CmpFPredicate::OGE:
  case CmpFPredicate::UGE:
    return a >= b;
  case CmpFPredicate::OLT:
  case CmpFPredicate::ULT:
    return a < b;
  case CmpFPredicate::OLE:
  case CmpFPredicate::ULE:
    return a <= b;
  }
  llvm_unreachable("unknown predicate");
}

Expr posenc::evaluateRegion(mlir::Region &region, ArrayRef<Expr> arguments,
                            Halide::Type type) {
  return evaluateScalarRegion<Expr>(region, arguments, ExprAlgebra{type});
}

static bool callsLibrary(mlir::Operation &op) {
  switch (getScalarFunction(&op).value_or(ScalarFunction::Add)) {
  case ScalarFunction::Cos:
  case ScalarFunction::Erf:
  case ScalarFunction::Expm1:
  case ScalarFunction::Log:
  case ScalarFunction::Log1p:
  case ScalarFunction::Log2:
  case ScalarFunction::Sin:
  case ScalarFunction::Tan:
  case ScalarFunction::Pow:
  case ScalarFunction::Copysign:
    return true;
  default:
    return false;
  }
}

bool posenc::callsLibrary(mlir::Region &region) {
  return llvm::any_of(region.front(),
                      [](mlir::Operation &op) { return ::callsLibrary(op); });
}
