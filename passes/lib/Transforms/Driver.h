// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the host program that are made once per kernel.
#ifndef POSENC_LIB_TRANSFORMS_DRIVER_H
#define POSENC_LIB_TRANSFORMS_DRIVER_H

#include "DriverItems.h"

#include "llvm/ADT/DenseMap.h"

namespace posenc {

/// What a posenc_kernel_desc says.
struct DescribedKernel {
  std::string name;
  std::vector<KernelTensor> tensors;
  /// POSENC_TENSOR_... beside what the tensors say themselves.
  llvm::SmallDenseMap<unsigned, int32_t> tensorFlags;
  llvm::SmallVector<std::string> isas; // best first
  int64_t heads = 1, kvHeads = 1, headDim = 1, valueDim = 1;
  uint32_t flags = 0;
  uint64_t fingerprint = 0;
};

/// Internal constant data.
mlir::LLVM::GlobalOp emitDescription(DriverBuilder &b,
                                     const DescribedKernel &kernel);

/// The kernel's posenc_kernel_desc, internal constant data.
mlir::LLVM::GlobalOp emitDescription(DriverBuilder &b, DriverKernel &kernel);

struct ScratchBytes {
  mlir::Value shared, worker;
};

/// Defines size_t NAME_scratch_bytes(args, call): 0 when the arguments are
/// refused.
void emitScratchBytes(DriverBuilder &b, llvm::StringRef name,
                      mlir::LLVM::GlobalOp description,
                      llvm::function_ref<ScratchBytes(DriverFrame)> emitBytes);

/// The functions that a program calls and all that they need.
void emitDriver(DriverBuilder &b, DriverKernel &kernel);

/// The same for a kernel that appends to a cache.
void emitAppendDriver(DriverBuilder &b, DriverKernel &kernel);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVER_H
