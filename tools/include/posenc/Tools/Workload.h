// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with data to run on.
#ifndef POSENC_TOOLS_WORKLOAD_H
#define POSENC_TOOLS_WORKLOAD_H

#include "posenc/Tools/Pages.h"

#include "posenc/Compiler/NativeKernel.h"

namespace posenc {

struct WorkloadSize {
  int64_t batch, queryLen, keyLen;
  /// Of lists of blocks: every how many blocks of keys one is listed.
  int64_t listedStride = 1;
};

/// A loaded kernel, random tensors of the kernel's own head counts, prepared
/// tables and scratch: everything that a caller keeps between calls.
class Workload {
public:
  static llvm::Expected<std::unique_ptr<Workload>>
  create(const CompiledKernel &kernel, KernelOp source, WorkloadSize size,
         posenc_pool *pool);

  /// One call; the runtime's sentence if it fails.
  llvm::Error run() const;

private:
  Workload() = default;
  llvm::Error addTensor(const KernelTensor &tensor, KernelOp source,
                        WorkloadSize size);

  std::unique_ptr<NativeKernel> kernel;
  struct Tensor {
    std::vector<int64_t> shape;
    // int32 positions share the storage.
    std::vector<float, PageAllocator<float>> data;
    DLTensor view;
  };
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::unique_ptr<NativeKernel::Arguments> arguments;
  std::vector<char, PageAllocator<char>> prepared, scratch;
  posenc_call call = {};
};

/// Pairs (i, j) of one head that the masks of an expanded or unexpanded kernel
/// let through and whose blocks are listed.
int64_t countPairs(KernelOp kernel, WorkloadSize size);

/// The same kernel without encoding and score terms, under the same name.
mlir::OwningOpRef<mlir::ModuleOp> withoutEncoding(KernelOp kernel);

} // namespace posenc

#endif // POSENC_TOOLS_WORKLOAD_H
