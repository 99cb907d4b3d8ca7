// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formulas become operations of arith and math.
#include "posenc/IR/Real.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct Expression::Node {
  SmallVector<Expression, 3> operands;
  /// Null for a value that is there already.
  Create create;
  Value value;

  Value build(OpBuilder &builder, Location loc,
              llvm::DenseMap<const Node *, Value> &built) const;
};

Expression::Expression(Value value)
    : node(std::make_shared<Node>(Node{{}, nullptr, value})) {}

Expression::Expression(ArrayRef<Expression> operands, Create create)
    : node(std::make_shared<Node>(
          Node{SmallVector<Expression, 3>(operands), std::move(create), {}})) {}

Value Expression::Node::build(
    OpBuilder &builder, Location loc,
    llvm::DenseMap<const Node *, Value> &built) const {
  if (!create)
    return value;
  if (Value known = built.lookup(this))
    return known;
  SmallVector<Value> values;
  for (const Expression &operand : operands)
    values.push_back(operand.node->build(builder, loc, built));
  return built[this] = create(builder, loc, values);
}

Value Expression::build(OpBuilder &builder, Location loc) const {
  llvm::DenseMap<const Node *, Value> built;
  return node->build(builder, loc, built);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

template <typename Op>
static Value create(OpBuilder &builder, Location loc, ValueRange values) {
  return Op::create(builder, loc, values.back().getType(), values);
}

template <arith::CmpFPredicate predicate>
static Truth compare(const Real &a, const Real &b) {
  return Truth({a, b}, [](OpBuilder &builder, Location loc, ValueRange values) {
    return arith::CmpFOp::create(builder, loc, predicate, values[0], values[1])
        .getResult();
  });
}

Real::Real(double constant)
    : Expression({}, [constant](OpBuilder &builder, Location loc, ValueRange) {
        return arith::ConstantOp::create(builder, loc,
                                         builder.getF64FloatAttr(constant))
            .getResult();
      }) {}

Real posenc::operator+(const Real &a, const Real &b) {
  return Real({a, b}, create<arith::AddFOp>);
}
Real posenc::operator-(const Real &a, const Real &b) {
  return Real({a, b}, create<arith::SubFOp>);
}
Real posenc::operator*(const Real &a, const Real &b) {
  return Real({a, b}, create<arith::MulFOp>);
}
Real posenc::operator/(const Real &a, const Real &b) {
  return Real({a, b}, create<arith::DivFOp>);
}
Real posenc::operator-(const Real &a) {
  return Real({a}, create<arith::NegFOp>);
}

Real posenc::abs(const Real &a) { return Real({a}, create<math::AbsFOp>); }
Real posenc::floor(const Real &a) { return Real({a}, create<math::FloorOp>); }
Real posenc::sqrt(const Real &a) { return Real({a}, create<math::SqrtOp>); }
Real posenc::exp(const Real &a) { return Real({a}, create<math::ExpOp>); }
Real posenc::exp2(const Real &a) { return Real({a}, create<math::Exp2Op>); }
Real posenc::expm1(const Real &a) { return Real({a}, create<math::ExpM1Op>); }
Real posenc::log(const Real &a) { return Real({a}, create<math::LogOp>); }
Real posenc::log2(const Real &a) { return Real({a}, create<math::Log2Op>); }
Real posenc::log1p(const Real &a) { return Real({a}, create<math::Log1pOp>); }
Real posenc::sin(const Real &a) { return Real({a}, create<math::SinOp>); }
Real posenc::cos(const Real &a) { return Real({a}, create<math::CosOp>); }
Real posenc::tanh(const Real &a) { return Real({a}, create<math::TanhOp>); }
Real posenc::pow(const Real &a, const Real &b) {
  return Real({a, b}, create<math::PowFOp>);
}
Real posenc::copysign(const Real &a, const Real &sign) {
  return Real({a, sign}, create<math::CopySignOp>);
}
Real posenc::max(const Real &a, const Real &b) {
  return Real({a, b}, create<arith::MaximumFOp>);
}
Real posenc::min(const Real &a, const Real &b) {
  return Real({a, b}, create<arith::MinimumFOp>);
}
Real posenc::clamp(const Real &a, const Real &low, const Real &high) {
  return min(max(a, low), high);
}
Real posenc::softplus(const Real &a) {
  return max(a, 0.0) + log1p(exp(-abs(a)));
}
Real posenc::sigmoid(const Real &a) { return 1.0 / (exp(-a) + 1.0); }

Truth posenc::operator<(const Real &a, const Real &b) {
  return compare<arith::CmpFPredicate::OLT>(a, b);
}
Truth posenc::operator<=(const Real &a, const Real &b) {
  return compare<arith::CmpFPredicate::OLE>(a, b);
}
Truth posenc::operator==(const Real &a, const Real &b) {
  return compare<arith::CmpFPredicate::OEQ>(a, b);
}
Truth posenc::operator!=(const Real &a, const Real &b) {
  return compare<arith::CmpFPredicate::UNE>(a, b);
}
Truth posenc::isNaN(const Real &a) {
  return compare<arith::CmpFPredicate::UNO>(a, a);
}
Truth posenc::both(const Truth &a, const Truth &b) {
  return Truth({a, b}, create<arith::AndIOp>);
}
Truth posenc::either(const Truth &a, const Truth &b) {
  return Truth({a, b}, create<arith::OrIOp>);
}
Real posenc::select(const Truth &condition, const Real &a, const Real &b) {
  return Real({condition, a, b}, create<arith::SelectOp>);
}
