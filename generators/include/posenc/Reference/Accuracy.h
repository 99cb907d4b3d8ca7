// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How close to the reference an f32 kernel must be: the one rule of all tests.
#ifndef POSENC_REFERENCE_ACCURACY_H
#define POSENC_REFERENCE_ACCURACY_H

#include "posenc/Analysis/PairProducts.h"
#include "posenc/Reference/Reference.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace posenc {

/// The element of a result that is farthest from the reference.
struct Accuracy {
  /// error / allowed; at most 1 is accurate. Infinite where an exact result was
  /// required and not given.
  double ratio = 0;
  /// |got - wanted|. An infinity that is got where a finite number is wanted
  /// stands for all numbers that round to it: the nearest one counts.
  double error = 0;
  /// Where it is, in the array's own axes; empty if there are no elements but
  /// those that are NaN and have to be.
  llvm::SmallVector<int64_t, 4> index;
  double got = 0, wanted = 0, allowed = 0;
  /// These are the relative root mean square error of the whole array.
  bool isOfAll = false;

  bool isAccurate() const { return ratio <= 1; }
  /// "o[0, 1, 7, 3] is 0.25, but the reference is 0.5 +- 1e-06 (ratio ...)".
  std::string describe(llvm::StringRef name) const;
};

/// Per row i: |o - ref| <= (2e-6 + 8 * 2^-24 * maxScore_i) * maxValue_i, where
/// for softmax maxScore is max_j |S_ij| (a sink's score included) and maxValue
/// max_j |v_j|, over the keys that the row sees. A row that sees none, and has
/// no value of its own, is exactly 0.
///
/// The rule says that an error of a score is one of its weight, and that the
/// weights' errors add up. In general, with weights w_ij:
///  - maxValue is mass_i * max_j |v_j|, the most that |o_i| can be; `mass_i` is
///    1 for softmax and sum_j |w_ij| otherwise, and where weights are dropped
///    that of those which are left. Rows of value tables that
///    visible pairs look up count as values of an output of their own, and the
///    remainder as a value of mass |1 - sum_j w_ij| + sum_j |w_ij|. Outputs
///    that are added add theirs;
///  - where weights are not exponentials of scores but scores over a
///    denominator, the error of a weight is in proportion to the greatest score
///    and not to its own: for n visible keys maxScore is n max_j |S_ij| /
///    sum_j |S_ij|, and with `linear` the same of the denominator's terms is
///    added to it.
///
/// An output that is stored in 16 bits is rounded once more, which also says
/// beyond which numbers infinity is the right result. Where weights are rounded
/// too, their errors add rounding.weights * maxValue_i, and the relative root
/// mean square error of the whole output, if it has 2^16 numbers or more, is at
/// most 2.5e-3.
///
/// NaN must be NaN. All maxima are over finite numbers.
Accuracy measureOutput(const ReferenceOutputs &reference,
                       llvm::ArrayRef<float> o, Rounding rounding = {});

/// Per row i: |lse - ref| <= 2e-6 + 8 * 2^-24 * max_j |S_ij|. A row that sees
/// no key is exactly -inf.
Accuracy measureLse(const ReferenceOutputs &reference,
                    llvm::ArrayRef<float> lse);

/// Encoded keys are computed in f32 and rounded once more in a cache of 16
/// bits: |x - ref| <= 2e-6 max_c |ref_c| + roundoff |ref|, the maximum over the
/// row's channels. Values are rounded only.
Accuracy measureCache(const RealTensor &reference, llvm::ArrayRef<float> cache,
                      double roundoff);

/// The same of codes of encoded keys, i8 or f8E4M3FN: at most the next code.
Accuracy measureCodes(const RealTensor &reference, llvm::ArrayRef<float> codes,
                      bool areIntegers);
/// And of their scales: |s - ref| <= 4e-6 |ref|.
Accuracy measureScales(const RealTensor &reference,
                       llvm::ArrayRef<float> scales);

/// A state sums keys times values: |S - ref| <= 2e-6 bound, where `bound` is
/// ReferenceOutputs::stateBound, the same sum of max_c |k_c| |v|; or of sums.
Accuracy measureState(const RealTensor &reference, const RealTensor &bound,
                      llvm::ArrayRef<float> state);

/// An embedding is computed in double precision and rounded once:
/// |y - ref| <= 2^-23 |ref| + 2^-36 * (1 + the token's greatest |ref|).
Accuracy measureEmbed(const RealTensor &reference, llvm::ArrayRef<float> y);
/// Without the first term, of one that is stored as f64.
Accuracy measureEmbed(const RealTensor &reference, llvm::ArrayRef<double> y);

} // namespace posenc

#endif // POSENC_REFERENCE_ACCURACY_H
