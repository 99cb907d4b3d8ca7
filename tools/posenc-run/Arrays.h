// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arrays that a kernel takes, as files have them.
#ifndef POSENC_RUN_ARRAYS_H
#define POSENC_RUN_ARRAYS_H

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Tools/Npy.h"

#include "llvm/ADT/StringMap.h"

namespace posenc {

/// An input in the kernel's element type, with all the kernel's axes. Codes are
/// without their scales.
struct InputArray {
  llvm::SmallVector<int64_t, 4> shape;
  bool isInteger = false;
  std::vector<double> reals;
  std::vector<int32_t> integers;
};

struct InputArrays {
  /// By the name of the tensor.
  llvm::StringMap<InputArray> arrays;
  /// The axes of q, x or k_cache in its file: results have as many.
  size_t resultRank = 4;

  const InputArray &get(llvm::StringRef name) const {
    return arrays.find(name)->second;
  }
  /// Those that need not be there are null if they are not.
  const InputArray *find(llvm::StringRef name) const {
    auto found = arrays.find(name);
    return found == arrays.end() ? nullptr : &found->second;
  }
};

/// Reads the file of each input of a kernel. Leading axes that count batch
/// entries or heads may be left out: they are 1. Errors name the tensor that is
/// missing, unknown or of another type, and what the kernel takes.
llvm::Expected<InputArrays>
readInputs(llvm::ArrayRef<KernelTensor> tensors,
           const llvm::StringMap<std::string> &files);

/// A cache as its file has it: codes of i8 as such, those of f8E4M3FN as their
/// bits, other numbers as f32; and the numbers of such a file.
llvm::Expected<NpyArray> makeCache(const KernelTensor &tensor,
                                   llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<double> numbers);
llvm::Expected<std::vector<float>> readCache(const KernelTensor &tensor,
                                             const NpyArray &array);

/// The type of a file of a kernel's results.
NpyType getResultType(const KernelTensor &tensor);

} // namespace posenc

#endif // POSENC_RUN_ARRAYS_H
