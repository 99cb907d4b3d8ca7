// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that the native tests compile.
#ifndef POSENC_NUMERICS_NATIVESPECS_H
#define POSENC_NUMERICS_NATIVESPECS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace posenc::numerics {

struct NativeSpec {
  /// Says every choice, for messages.
  std::string name;
  std::string text;
  std::string isa;
  int64_t heads, kvHeads, headDim, valueDim;
  /// Positions are an operand: a call has at most as many queries as keys.
  bool hasPositions;
};

/// Kernels in which every two choices of heads, sizes, mask, encoding and
/// instruction set meet; with `full` also each encoding with each size and
/// mask.
std::vector<NativeSpec> makeNativeSpecs(llvm::ArrayRef<std::string> isas,
                                        bool full);

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_NATIVESPECS_H
