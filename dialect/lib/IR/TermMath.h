// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encodings of scores share.
#ifndef POSENC_LIB_IR_TERMMATH_H
#define POSENC_LIB_IR_TERMMATH_H

#include "posenc/IR/Encodings.h"

namespace posenc {

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
