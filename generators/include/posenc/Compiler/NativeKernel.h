// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads the object files of a compiled kernel into this process.
#ifndef POSENC_COMPILER_NATIVEKERNEL_H
#define POSENC_COMPILER_NATIVEKERNEL_H

#include "posenc/Compiler/Compile.h"
#include "posenc/posenc.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace posenc {

/// The entry points of a kernel whose objects, the very ones that a program
/// would link, were loaded with LLVM's linker. Runs on the machine it was
/// compiled for. Calls from several threads are safe.
class NativeKernel {
public:
  static llvm::Expected<std::unique_ptr<NativeKernel>>
  load(const CompiledKernel &kernel);
  virtual ~NativeKernel();

  /// NAME_args for the tensors of CompiledKernel::tensors, in that order; null
  /// for those that are absent.
  class Arguments {
  public:
    explicit Arguments(size_t tensorCount);
    void set(size_t index, const DLTensor *tensor);
    const void *get() const { return storage.data(); }
    /// The size and the pointers.
    llvm::ArrayRef<uintptr_t> getWords() const { return storage; }

  private:
    std::vector<uintptr_t> storage; // size, then pointers
  };

  virtual posenc_status run(const Arguments &args,
                            const posenc_call *call) const;
  /// Not of embeddings, like preparedBytes().
  virtual posenc_status prepare(const Arguments &args, void *buffer,
                                size_t size) const;
  virtual size_t preparedBytes(const Arguments &args) const;
  virtual size_t scratchBytes(const Arguments &args,
                              const posenc_call *call) const;
  /// Of kernels with a cache.
  virtual posenc_status append(const Arguments &args,
                               const posenc_call *call) const;
  virtual size_t appendScratchBytes(const Arguments &args,
                                    const posenc_call *call) const;

protected:
  /// Of one that is not in this process.
  NativeKernel();

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  posenc_status (*runEntry)(const void *, const posenc_call *) = nullptr;
  posenc_status (*prepareEntry)(const void *, void *, size_t) = nullptr;
  size_t (*preparedBytesEntry)(const void *) = nullptr;
  size_t (*scratchBytesEntry)(const void *, const posenc_call *) = nullptr;
  posenc_status (*appendEntry)(const void *, const posenc_call *) = nullptr;
  size_t (*appendScratchBytesEntry)(const void *,
                                    const posenc_call *) = nullptr;
};

} // namespace posenc

#endif // POSENC_COMPILER_NATIVEKERNEL_H
