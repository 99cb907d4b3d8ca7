// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of scalar regions in double precision.
#include "RegionLanes.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace posenc;
using mlir::arith::CmpFPredicate;

unsigned RegionLanes::run(mlir::Region &region) {
  llvm::SmallVector<unsigned> arguments(region.getNumArguments());
  std::iota(arguments.begin(), arguments.end(), 0);
  return evaluateScalarRegion<unsigned>(region, arguments, *this);
}

unsigned RegionLanes::constant(double value) {
  registers.emplace_back().fill(value);
  return registers.size() - 1;
}

template <typename Function>
unsigned RegionLanes::unary(llvm::ArrayRef<unsigned> arguments,
                            Function function) {
  Register &result = registers.emplace_back();
  const Register &x = registers[arguments[0]];
  for (int64_t i = 0; i < width; ++i)
    result[i] = function(x[i]);
  return registers.size() - 1;
}

template <typename Function>
unsigned RegionLanes::binary(llvm::ArrayRef<unsigned> arguments,
                             Function function) {
  Register &result = registers.emplace_back();
  const Register &x = registers[arguments[0]], &y = registers[arguments[1]];
  for (int64_t i = 0; i < width; ++i)
    result[i] = function(x[i], y[i]);
  return registers.size() - 1;
}

/// arith.maximumf: NaN if either is, and -0 is below 0.
static double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

unsigned RegionLanes::apply(ScalarFunction function,
                            llvm::ArrayRef<unsigned> in) {
  using F = ScalarFunction;
  switch (function) {
  case F::Neg:
    return unary(in, [](double x) { return -x; });
  case F::Abs:
    return unary(in, [](double x) { return std::abs(x); });
  case F::Ceil:
    return unary(in, [](double x) { return std::ceil(x); });
  case F::Cos:
    return unary(in, [](double x) { return std::cos(x); });
  case F::Erf:
    return unary(in, [](double x) { return std::erf(x); });
  case F::Exp:
    return unary(in, [](double x) { return std::exp(x); });
  case F::Exp2:
    return unary(in, [](double x) { return std::exp2(x); });
  case F::Expm1:
    return unary(in, [](double x) { return std::expm1(x); });
  case F::Floor:
    return unary(in, [](double x) { return std::floor(x); });
  case F::Log:
    return unary(in, [](double x) { return std::log(x); });
  case F::Log1p:
    return unary(in, [](double x) { return std::log1p(x); });
  case F::Log2:
    return unary(in, [](double x) { return std::log2(x); });
  case F::Rsqrt:
    return unary(in, [](double x) { return 1 / std::sqrt(x); });
  case F::Sin:
    return unary(in, [](double x) { return std::sin(x); });
  case F::Sqrt:
    return unary(in, [](double x) { return std::sqrt(x); });
  case F::Tan:
    return unary(in, [](double x) { return std::tan(x); });
  case F::Tanh:
    return unary(in, [](double x) { return std::tanh(x); });
  case F::Trunc:
    return unary(in, [](double x) { return std::trunc(x); });
  case F::Add:
    return binary(in, [](double x, double y) { return x + y; });
  case F::Sub:
    return binary(in, [](double x, double y) { return x - y; });
  case F::Mul:
    return binary(in, [](double x, double y) { return x * y; });
  case F::Div:
    return binary(in, [](double x, double y) { return x / y; });
  case F::Maximum:
    return binary(in, maximum);
  case F::Minimum:
    return binary(in, [](double x, double y) { return -maximum(-x, -y); });
  case F::Maxnum:
    return binary(in, [](double x, double y) { return std::fmax(x, y); });
  case F::Minnum:
    return binary(in, [](double x, double y) { return std::fmin(x, y); });
  case F::Pow:
    return binary(in, [](double x, double y) { return std::pow(x, y); });
  case F::Copysign:
    return binary(in, [](double x, double y) { return std::copysign(x, y); });
  case F::And:
    return binary(in, [](double x, double y) { return x * y; });
  case F::Or:
    return binary(in, [](double x, double y) { return x + y - x * y; });
  case F::Xor:
    return binary(in, [](double x, double y) { return double(x != y); });
  case F::Fma: {
    Register &result = registers.emplace_back();
    const Register &x = registers[in[0]], &y = registers[in[1]],
                   &z = registers[in[2]];
    for (int64_t i = 0; i < width; ++i)
      result[i] = std::fma(x[i], y[i], z[i]);
    return registers.size() - 1;
  }
  }
  llvm_unreachable("every function of the list is above");
}

unsigned RegionLanes::compare(CmpFPredicate predicate, unsigned lhs,
                              unsigned rhs) {
  auto holds = [&](bool equal, bool greater, bool less, bool unordered) {
    switch (predicate) {
    case CmpFPredicate::AlwaysFalse:
      return false;
    case CmpFPredicate::OEQ:
      return equal;
    case CmpFPredicate::OGT:
      return greater;
    case CmpFPredicate::OGE:
      return greater || equal;
    case CmpFPredicate::OLT:
      return less;
    case CmpFPredicate::OLE:
      return less || equal;
    case CmpFPredicate::ONE:
      return less || greater;
    case CmpFPredicate::ORD:
      return !unordered;
    case CmpFPredicate::UEQ:
      return equal || unordered;
    case CmpFPredicate::UGT:
      return greater || unordered;
    case CmpFPredicate::UGE:
      return !less;
    case CmpFPredicate::ULT:
      return less || unordered;
    case CmpFPredicate::ULE:
      return !greater;
    case CmpFPredicate::UNE:
      return !equal;
    case CmpFPredicate::UNO:
      return unordered;
    case CmpFPredicate::AlwaysTrue:
      return true;
    }
    llvm_unreachable("every predicate is above");
  };
  return binary({lhs, rhs}, [&](double x, double y) {
    return double(holds(x == y, x > y, x < y, std::isnan(x) || std::isnan(y)));
  });
}

unsigned RegionLanes::select(unsigned condition, unsigned ifTrue,
                             unsigned ifFalse) {
  Register &result = registers.emplace_back();
  const Register &c = registers[condition], &x = registers[ifTrue],
                 &y = registers[ifFalse];
  for (int64_t i = 0; i < width; ++i)
    result[i] = c[i] != 0 ? x[i] : y[i];
  return registers.size() - 1;
}
