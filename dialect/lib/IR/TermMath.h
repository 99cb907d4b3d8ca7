// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encodings of scores share.
#ifndef POSENC_LIB_IR_TERMMATH_H
#define POSENC_LIB_IR_TERMMATH_H

#include "posenc/IR/Encodings.h"

#include "Advice.h"

namespace posenc {

/// Whether n has reached step x of a log law that goes from `exact` at x = 0
/// to `maxDistance` at x = c: ln(n / exact) / ln(maxDistance / exact) * c >= x,
/// or > x if `strict`. Decided exactly.
bool hasReachedStep(int64_t n, int64_t x, int64_t exact, int64_t c,
                    int64_t maxDistance, bool strict = false);

/// The distance from which on T5's last bucket holds all keys.
int64_t getT5Reach(int64_t buckets, int64_t maxDistance, Direction direction);
/// The relation of T5's buckets.
mlir::Attribute getT5Buckets(mlir::MLIRContext *context, int64_t buckets,
                             int64_t maxDistance, Direction direction);
/// Checks T5's bucket parameters of the encoding `mnemonic`.
llvm::LogicalResult
verifyT5Buckets(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                llvm::StringRef mnemonic, int64_t buckets, int64_t maxDistance,
                Direction direction);

/// The axes of an operand for pairs, which batch entries may have each for
/// themselves.
llvm::SmallVector<TableAxis> getPairAxes(TermSwitch batch);

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

/// Sinusoids times a matrix for each head that the caller passes in: a table
/// over (row, head, channel) with head_dim channels.
mlir::Value projectSinusoids(Expansion &expansion, const Sinusoids &law,
                             llvm::StringRef operand);
/// Checks the width of sinusoids that are projected.
llvm::LogicalResult
verifyModelDim(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               llvm::StringRef mnemonic, int64_t modelDim);

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
