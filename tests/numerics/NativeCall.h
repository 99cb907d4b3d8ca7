// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of a compiled kernel, compared with the reference.
#ifndef POSENC_NUMERICS_NATIVECALL_H
#define POSENC_NUMERICS_NATIVECALL_H

#include "Fixture.h"
#include "GuardedBuffer.h"

#include "posenc/Analysis/PairProducts.h"
#include "posenc/Compiler/NativeKernel.h"

#include "llvm/ADT/StringMap.h"

#include <memory>

namespace posenc::numerics {

/// A kernel, compiled and loaded.
struct LoadedKernel {
  std::unique_ptr<Spec> spec;
  CompiledKernel compiled;
  std::unique_ptr<NativeKernel> native;

  /// Says what went wrong, or nothing.
  std::string load(llvm::StringRef text, const std::string &isa);
  /// For the rule of its output.
  Rounding getRounding() const {
    return posenc::getRounding(spec->getKernel(), compiled.isas.front());
  }
  /// Loads what was not loaded yet.
  std::string loadOnce(llvm::StringRef text, const std::string &isa) {
    return native ? "" : load(text, isa);
  }
};

/// How the tensors of a call lie in memory.
enum class Arrangement {
  Compact, // strides are NULL
  Blhd,    // [B, L, H, D]
  Packed,  // q, k and v of a token, or its k and v, side by side
  Padded,  // gaps after each row and each head
};

/// The tensors of a call in guarded buffers: inputs and caches are filled,
/// outputs are NaN.
class CallTensors {
public:
  /// `described` must outlive it.
  CallTensors(llvm::ArrayRef<KernelTensor> described,
              const ReferenceInputs &inputs, Arrangement arrangement,
              bool wantLse);

  const NativeKernel::Arguments &getArguments() const { return arguments; }
  std::vector<float> read(llvm::StringRef name) const {
    return tensors.find(name)->second->read();
  }
  /// Nothing of a tensor that the kernel does not have.
  std::vector<float> readIfThere(llvm::StringRef name) const {
    return tensors.contains(name) ? read(name) : std::vector<float>();
  }
  /// What was written that must not be, or nothing.
  std::string check() const;

private:
  std::shared_ptr<GuardedBuffer> makeBuffer(int64_t words);
  llvm::SmallVector<int64_t, 4> getShape(const KernelTensor &tensor) const;
  Layout makeLayout(const KernelTensor &tensor, llvm::ArrayRef<int64_t> shape,
                    std::shared_ptr<GuardedBuffer> &buffer);
  bool makePackedLayout(const KernelTensor &tensor, Layout &layout,
                        std::shared_ptr<GuardedBuffer> &buffer);
  void fill(const KernelTensor &tensor, GuardedTensor &guarded) const;
  /// Whether positions are int64: in some arrangements.
  bool isLong(const KernelTensor &tensor) const;

  const ReferenceInputs &inputs;
  Arrangement arrangement;
  NativeKernel::Arguments arguments;
  llvm::StringMap<std::unique_ptr<GuardedTensor>> tensors;
  std::vector<std::shared_ptr<GuardedBuffer>> buffers;
  std::shared_ptr<GuardedBuffer> packed;
};

struct NativeCall {
  Arrangement arrangement = Arrangement::Compact;
  /// Threads that help; null is one thread.
  posenc_pool *pool = nullptr;
  bool wantLse = true, prepared = false, ownScratch = false;
};

struct NativeResults {
  std::vector<float> o, lse;
  /// Of a recurrence.
  std::vector<float> state, sums;
};

/// Calls the kernel; says what it did wrong besides its numbers, or nothing.
std::string callNative(const LoadedKernel &kernel,
                       const ReferenceInputs &inputs, const NativeCall &call,
                       NativeResults &results);

/// Appends the keys and values of `inputs` to its caches, which come back as
/// they are then; says what it did wrong, or nothing.
std::string appendNative(const LoadedKernel &kernel,
                         const ReferenceInputs &inputs, Arrangement arrangement,
                         RealTensor &kCache, RealTensor &vCache);

/// The same as callNative(), compared with the reference, and with one thread
/// to the bit.
std::string checkNative(const LoadedKernel &kernel,
                        const ReferenceInputs &inputs, const NativeCall &call);

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_NATIVECALL_H
