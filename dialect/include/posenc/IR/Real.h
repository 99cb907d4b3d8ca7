// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The regions of a kernel, written as formulas.
#ifndef POSENC_IR_REAL_H
#define POSENC_IR_REAL_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <memory>

namespace posenc {

/// A number or a truth value of a region under construction. Nothing is built
/// until build(), and then operands before what reads them, from left to right:
/// a C++ compiler, which evaluates arguments in any order, does not decide on
/// the order of operations.
class Expression {
public:
  /// Makes a value of those of the operands.
  using Create = std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                           mlir::ValueRange)>;

  explicit Expression(mlir::Value value);
  Expression(llvm::ArrayRef<Expression> operands, Create create);

  /// The value, by operations at the insertion point of `builder`. An
  /// expression that occurs more than once is built once.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  struct Node;
  std::shared_ptr<const Node> node;
};

/// A real number: f64.
class Real : public Expression {
public:
  Real(double constant);
  using Expression::Expression;
};

/// A truth value: i1.
class Truth : public Expression {
public:
  using Expression::Expression;
};

Real operator+(const Real &a, const Real &b);
Real operator-(const Real &a, const Real &b);
Real operator*(const Real &a, const Real &b);
Real operator/(const Real &a, const Real &b);
Real operator-(const Real &a);

Real abs(const Real &a);
Real floor(const Real &a);
Real sqrt(const Real &a);
Real exp(const Real &a);
Real exp2(const Real &a);
Real expm1(const Real &a);
Real log(const Real &a);
Real log2(const Real &a);
Real log1p(const Real &a);
Real sin(const Real &a);
Real cos(const Real &a);
Real tanh(const Real &a);
Real pow(const Real &a, const Real &b);
Real copysign(const Real &a, const Real &sign);
Real max(const Real &a, const Real &b);
Real min(const Real &a, const Real &b);
Real clamp(const Real &a, const Real &low, const Real &high);
/// log(1 + e^x) without overflow.
Real softplus(const Real &a);
Real sigmoid(const Real &a);

Truth operator<(const Real &a, const Real &b);
Truth operator<=(const Real &a, const Real &b);
Truth operator==(const Real &a, const Real &b);
/// True of numbers that are not ordered too.
Truth operator!=(const Real &a, const Real &b);
Truth isNaN(const Real &a);
Truth both(const Truth &a, const Truth &b);
Truth either(const Truth &a, const Truth &b);
Real select(const Truth &condition, const Real &a, const Real &b);

} // namespace posenc

#endif // POSENC_IR_REAL_H
