// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The closed list of operations on real numbers that a region may hold, and
// one evaluator of such regions over any algebra.
#ifndef POSENC_IR_SCALARREGION_H
#define POSENC_IR_SCALARREGION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace posenc {

/// Functions of real numbers (and of truth values: And, Or, Xor).
enum class ScalarFunction {
  // one argument
  Neg,
  Abs,
  Ceil,
  Cos,
  Erf,
  Exp,
  Exp2,
  Expm1,
  Floor,
  Log,
  Log1p,
  Log2,
  Rsqrt,
  Sin,
  Sqrt,
  Tan,
  Tanh,
  Trunc,
  // two arguments
  Add,
  Sub,
  Mul,
  Div,
  Maximum,
  Minimum,
  Maxnum,
  Minnum,
  Pow,
  Copysign,
  And,
  Or,
  Xor,
  // three arguments
  Fma,
};

/// The function that an operation stands for; nothing for arith.constant,
/// arith.cmpf and arith.select, and for operations outside the list.
std::optional<ScalarFunction> getScalarFunction(mlir::Operation *op);

/// Whether the operation may stand in a region of real numbers. The region's
/// terminator is not part of the list.
bool isScalarOp(mlir::Operation *op);

/// Names of the list, for diagnostics and documentation.
llvm::StringRef listScalarOps();

/// Evaluates the single block of `region` on `arguments` and returns what it
/// yields. Algebra has the members
///   T constant(double) ;  T truth(bool)
///   T apply(ScalarFunction, llvm::ArrayRef<T>)
///   T compare(mlir::arith::CmpFPredicate, T, T)
///   T select(T condition, T ifTrue, T ifFalse)
/// The region must have been verified.
template <typename T, typename Algebra>
T evaluateScalarRegion(mlir::Region &region, llvm::ArrayRef<T> arguments,
                       Algebra &&algebra) {
  namespace arith = mlir::arith;
  mlir::Block &block = region.front();
  llvm::DenseMap<mlir::Value, T> values;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    values.insert({argument, value});
  for (mlir::Operation &op : block.without_terminator()) {
    llvm::SmallVector<T> in;
    for (mlir::Value operand : op.getOperands())
      in.push_back(values.find(operand)->second);
    T result = [&]() -> T {
      if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
        if (auto real = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()))
          return algebra.constant(real.getValueAsDouble());
        return algebra.truth(!llvm::cast<mlir::IntegerAttr>(constant.getValue())
                                  .getValue()
                                  .isZero());
      }
      if (auto compare = llvm::dyn_cast<arith::CmpFOp>(op))
        return algebra.compare(compare.getPredicate(), in[0], in[1]);
      if (llvm::isa<arith::SelectOp>(op))
        return algebra.select(in[0], in[1], in[2]);
      return algebra.apply(*getScalarFunction(&op), in);
    }();
    values.insert({op.getResult(0), result});
  }
  return values.find(block.getTerminator()->getOperand(0))->second;
}

} // namespace posenc

#endif // POSENC_IR_SCALARREGION_H
