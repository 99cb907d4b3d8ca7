// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How close to the reference an f32 kernel must be: the one rule of all tests.
#ifndef POSENC_REFERENCE_ACCURACY_H
#define POSENC_REFERENCE_ACCURACY_H

#include "posenc/Reference/Reference.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace posenc {

/// The element of a result that is farthest from the reference.
struct Accuracy {
  /// |got - wanted| / allowed; at most 1 is accurate. Infinite where an exact
  /// result was required and not given.
  double ratio = 0;
  /// Where it is, in the array's own axes; empty if there are no elements.
  llvm::SmallVector<int64_t, 4> index;
  double got = 0, wanted = 0, allowed = 0;

  bool isAccurate() const { return ratio <= 1; }
  /// "o[0, 1, 7, 3] is 0.25, but the reference is 0.5 +- 1e-06 (ratio ...)".
  std::string describe(llvm::StringRef name) const;
};

/// Per row i: |o - ref| <= (2e-6 + 8 * 2^-24 * max_j |S_ij|) * max_j |v_j|,
/// maxima over the keys that the row sees. A row that sees none is exactly 0.
Accuracy measureOutput(const ReferenceOutputs &reference,
                       llvm::ArrayRef<float> o);

/// Per row i: |lse - ref| <= 2e-6 + 8 * 2^-24 * max_j |S_ij|. A row that sees
/// no key is exactly -inf.
Accuracy measureLse(const ReferenceOutputs &reference,
                    llvm::ArrayRef<float> lse);

/// An embedding is computed in double precision and rounded once:
/// |y - ref| <= 2^-23 |ref| + 2^-36 * (1 + the token's greatest |ref|).
Accuracy measureEmbed(const RealTensor &reference, llvm::ArrayRef<float> y);

} // namespace posenc

#endif // POSENC_REFERENCE_ACCURACY_H
