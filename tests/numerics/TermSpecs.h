// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of level 2, one for each kind of term.
#ifndef POSENC_NUMERICS_TERMSPECS_H
#define POSENC_NUMERICS_TERMSPECS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace posenc::numerics {

struct TermSpec {
  const char *name;
  /// Lines from %q, %k, %v to %o; %i and %j are #posenc.iota positions and %r
  /// their difference.
  const char *body;
  int64_t heads = 2, kvHeads = 1;
  /// The call needs as many keys as queries: something is read at the query's
  /// own place, or positions are an operand.
  bool hasOwnPlace = false;
  /// The kernel makes large numbers of small ones: inputs are small.
  double magnitude = 1;
};

constexpr int64_t termHeadDim = 12, termValueDim = 10;

llvm::ArrayRef<TermSpec> getTermSpecs();
/// The kernel @term.
std::string getText(const TermSpec &spec);

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_TERMSPECS_H
