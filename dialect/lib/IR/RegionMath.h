// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic in the regions that encodings build, without the ceremony.
#ifndef POSENC_LIB_IR_REGIONMATH_H
#define POSENC_LIB_IR_REGIONMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace posenc {

/// Builds operations on f64 at the insertion point of a builder.
class RegionMath {
public:
  RegionMath(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  using Value = mlir::Value;

  Value number(double value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getF64FloatAttr(value));
  }
  Value truth(bool value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getBoolAttr(value));
  }
  template <typename Op>
  Value apply(mlir::ValueRange arguments) {
    return Op::create(builder, loc, arguments[0].getType(), arguments);
  }
  Value add(Value a, Value b) { return apply<mlir::arith::AddFOp>({a, b}); }
  Value sub(Value a, Value b) { return apply<mlir::arith::SubFOp>({a, b}); }
  Value mul(Value a, Value b) { return apply<mlir::arith::MulFOp>({a, b}); }
  Value div(Value a, Value b) { return apply<mlir::arith::DivFOp>({a, b}); }
  Value max(Value a, Value b) { return apply<mlir::arith::MaximumFOp>({a, b}); }
  Value min(Value a, Value b) { return apply<mlir::arith::MinimumFOp>({a, b}); }
  Value pow(Value a, Value b) { return apply<mlir::math::PowFOp>({a, b}); }
  Value floor(Value a) { return apply<mlir::math::FloorOp>(a); }
  Value log(Value a) { return apply<mlir::math::LogOp>(a); }
  Value exp(Value a) { return apply<mlir::math::ExpOp>(a); }
  Value cos(Value a) { return apply<mlir::math::CosOp>(a); }
  Value sin(Value a) { return apply<mlir::math::SinOp>(a); }
  Value both(Value a, Value b) { return apply<mlir::arith::AndIOp>({a, b}); }
  Value either(Value a, Value b) { return apply<mlir::arith::OrIOp>({a, b}); }

  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value less(Value a, Value b) {
    return compare(mlir::arith::CmpFPredicate::OLT, a, b);
  }
  Value atMost(Value a, Value b) {
    return compare(mlir::arith::CmpFPredicate::OLE, a, b);
  }
  Value equal(Value a, Value b) {
    return compare(mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace posenc

#endif // POSENC_LIB_IR_REGIONMATH_H
