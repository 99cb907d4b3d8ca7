// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions written as formulas, and what encodings of scores share.
#ifndef POSENC_LIB_IR_TERMMATH_H
#define POSENC_LIB_IR_TERMMATH_H

#include "posenc/IR/Encodings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace posenc {

/// A real number of a region under construction; operators build operations.
class Real {
public:
  Real(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  operator mlir::Value() const { return value; }
  Real number(double constant) const {
    return wrap(mlir::arith::ConstantOp::create(
        *builder, loc, builder->getF64FloatAttr(constant)));
  }
  template <typename Op>
  Real unary() const {
    return wrap(Op::create(*builder, loc, value));
  }
  template <typename Op>
  Real binary(const Real &other) const {
    return wrap(Op::create(*builder, loc, value, other.value));
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate,
                      const Real &other) const {
    return mlir::arith::CmpFOp::create(*builder, loc, predicate, value,
                                       other.value);
  }
  /// condition ? this : other
  Real orElse(mlir::Value condition, const Real &other) const {
    return wrap(mlir::arith::SelectOp::create(*builder, loc, condition, value,
                                              other.value));
  }

private:
  Real wrap(mlir::Value result) const { return Real(*builder, loc, result); }

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

inline Real operator+(const Real &a, const Real &b) {
  return a.binary<mlir::arith::AddFOp>(b);
}
inline Real operator-(const Real &a, const Real &b) {
  return a.binary<mlir::arith::SubFOp>(b);
}
inline Real operator*(const Real &a, const Real &b) {
  return a.binary<mlir::arith::MulFOp>(b);
}
inline Real operator/(const Real &a, const Real &b) {
  return a.binary<mlir::arith::DivFOp>(b);
}
inline Real operator+(const Real &a, double b) { return a + a.number(b); }
inline Real operator-(const Real &a, double b) { return a - a.number(b); }
inline Real operator*(const Real &a, double b) { return a * a.number(b); }
inline Real operator/(const Real &a, double b) { return a / a.number(b); }
inline Real operator-(double a, const Real &b) { return b.number(a) - b; }
inline Real operator/(double a, const Real &b) { return b.number(a) / b; }
inline Real operator-(const Real &a) { return a.unary<mlir::arith::NegFOp>(); }

inline Real abs(const Real &a) { return a.unary<mlir::math::AbsFOp>(); }
inline Real floor(const Real &a) { return a.unary<mlir::math::FloorOp>(); }
inline Real sqrt(const Real &a) { return a.unary<mlir::math::SqrtOp>(); }
inline Real exp(const Real &a) { return a.unary<mlir::math::ExpOp>(); }
inline Real exp2(const Real &a) { return a.unary<mlir::math::Exp2Op>(); }
inline Real expm1(const Real &a) { return a.unary<mlir::math::ExpM1Op>(); }
inline Real log(const Real &a) { return a.unary<mlir::math::LogOp>(); }
inline Real log2(const Real &a) { return a.unary<mlir::math::Log2Op>(); }
inline Real log1p(const Real &a) { return a.unary<mlir::math::Log1pOp>(); }
inline Real sin(const Real &a) { return a.unary<mlir::math::SinOp>(); }
inline Real cos(const Real &a) { return a.unary<mlir::math::CosOp>(); }
inline Real tanh(const Real &a) { return a.unary<mlir::math::TanhOp>(); }
inline Real pow(const Real &a, const Real &b) {
  return a.binary<mlir::math::PowFOp>(b);
}
inline Real copysign(const Real &a, const Real &sign) {
  return a.binary<mlir::math::CopySignOp>(sign);
}
inline Real max(const Real &a, double b) {
  return a.binary<mlir::arith::MaximumFOp>(a.number(b));
}
inline Real max(const Real &a, const Real &b) {
  return a.binary<mlir::arith::MaximumFOp>(b);
}
inline Real min(const Real &a, double b) {
  return a.binary<mlir::arith::MinimumFOp>(a.number(b));
}
inline Real clamp(const Real &a, double low, double high) {
  return min(max(a, low), high);
}
inline mlir::Value equals(const Real &a, double b) {
  return a.compare(mlir::arith::CmpFPredicate::OEQ, a.number(b));
}
inline Real select(mlir::Value condition, const Real &a, const Real &b) {
  return a.orElse(condition, b);
}
/// log(1 + e^x) without overflow.
inline Real softplus(const Real &a) {
  Real small = log1p(exp(-abs(a)));
  return max(a, 0.0) + small;
}
inline Real sigmoid(const Real &a) { return 1.0 / (exp(-a) + 1.0); }

/// What fillRegion() takes, from a function of the region's arguments.
template <typename Function>
auto formula(mlir::Location loc, Function function) {
  return [=](mlir::OpBuilder &builder, mlir::ValueRange arguments) {
    llvm::SmallVector<Real> reals;
    for (mlir::Value argument : arguments)
      reals.emplace_back(builder, loc, argument);
    return mlir::Value(function(llvm::ArrayRef<Real>(reals)));
  };
}

/// Whether n has reached step x of a log law that goes from `exact` at x = 0
/// to `maxDistance` at x = c: ln(n / exact) / ln(maxDistance / exact) * c >= x,
/// or > x if `strict`. Decided exactly.
bool hasReachedStep(int64_t n, int64_t x, int64_t exact, int64_t c,
                    int64_t maxDistance, bool strict = false);

/// The relation of T5's buckets.
mlir::Attribute getT5Buckets(mlir::MLIRContext *context, int64_t buckets,
                             int64_t maxDistance, Direction direction);
/// Checks T5's bucket parameters of the encoding `mnemonic`.
llvm::LogicalResult
verifyT5Buckets(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                llvm::StringRef mnemonic, int64_t buckets, int64_t maxDistance,
                Direction direction);

/// Checks a parameter that must be from `low` to `high`.
llvm::LogicalResult
verifyRange(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
            llvm::StringRef mnemonic, llvm::StringRef parameter, int64_t value,
            int64_t low, int64_t high);
/// Checks a parameter that must be positive and finite.
llvm::LogicalResult
verifyPositive(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               llvm::StringRef mnemonic, llvm::StringRef parameter,
               const llvm::APFloat &value);
/// Checks that the kernel's mask hides keys after the query.
llvm::LogicalResult
verifyHidesFuture(KernelOp &kernel,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                  llvm::StringRef mnemonic, llvm::StringRef reason);

/// A table of sinusoids over (row, channel): sines and cosines of
/// (row - origin) base^(-k / n) for k = 0 .. channels / 2 - 1.
struct Sinusoids {
  int64_t channels;
  double base;
  TermExponent exponent = TermExponent::half;
  TermLayout layout = TermLayout::concatenated;
  double origin = 0;

  mlir::Value build(Expansion &expansion) const;
};

/// query . table[index] or key . table[index], times `factor`.
mlir::Value buildTableDot(Expansion &expansion, mlir::Value vector,
                          mlir::Value table, mlir::Value index, double factor);
/// A vector per head, which the caller passes in, is added to `vector`.
mlir::Value addVector(Expansion &expansion, mlir::Value vector,
                      llvm::StringRef operand);
/// Positions of one side read from axis `axis` of an int32 operand, placed as
/// the kernel's.
mlir::Value readPositions(Expansion &expansion, Side side,
                          llvm::StringRef operand, int64_t axes = 1,
                          int64_t axis = 0);

/// "name.suffix" for each suffix.
llvm::SmallVector<std::string>
getOperands(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> suffixes);

/// The factor of a term at that site.
inline double getFactor(const Expansion &expansion, TermSite site) {
  return site == TermSite::inside ? expansion.scale : 1.0;
}
/// Adds a term that already holds its factor.
inline void addTerm(Expansion &expansion, TermSite site, mlir::Value term) {
  (site == TermSite::inside ? expansion.insideTerms : expansion.outsideTerms)
      .push_back(term);
}

} // namespace posenc

#endif // POSENC_LIB_IR_TERMMATH_H
