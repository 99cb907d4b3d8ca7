// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs a kernel: the reference, or its compiled code in this process.
#ifndef POSENC_RUN_BACKEND_H
#define POSENC_RUN_BACKEND_H

#include "Arrays.h"
#include "posenc/Tools/Emulator.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace posenc {

struct RunOptions {
  /// What runs kernels, if not this machine.
  std::optional<Emulator> emulator;
  bool wantLse = false, wantScores = false, wantMask = false;
  /// The state of a recurrence behind the call.
  bool wantState = false, wantSums = false;
  /// 0: one for each CPU.
  int32_t threads = 0;
  /// Of native code, and where it is kept between runs.
  std::string isa, cacheDirectory;
  /// The number in the kernel of the arrays' first head.
  int32_t firstHead = 0;
  /// Of random numbers.
  uint64_t seed = 0, offset = 0;
};

/// Results with all their axes.
struct RunResults {
  NpyArray o;
  std::optional<NpyArray> lse, scores, state, sums;
  /// Of dropout, u8.
  std::optional<NpyArray> mask;
  /// Of kernels that append to a cache, where o is the keys' cache.
  std::optional<NpyArray> valueCache, keyScales, valueScales;

  /// What a tensor that a kernel appends to is after the call.
  NpyArray &getCache(llvm::StringRef tensor) {
    if (tensor == "k_cache")
      return o;
    std::optional<NpyArray> &cache = tensor == "v_cache"    ? valueCache
                                     : tensor == "k_scales" ? keyScales
                                                            : valueScales;
    if (!cache)
      cache.emplace();
    return *cache;
  }
};

/// `kernel` has a body. Results are f64.
llvm::Expected<RunResults> runReference(KernelOp kernel,
                                        const InputArrays &inputs,
                                        const RunOptions &options);

/// Evaluates `kernel` in the reference and prints how far the results are from
/// it; fails, with the worst element, beyond the rule of Accuracy.h.
llvm::Error compareWithReference(KernelOp kernel, const InputArrays &inputs,
                                 const RunOptions &options,
                                 RunResults &results);

/// Compiles the kernel of that name. Results are f32, but those of f64. An
/// error that is empty was printed as a diagnostic of the specification.
llvm::Expected<RunResults> runNative(mlir::ModuleOp module,
                                     llvm::StringRef kernel,
                                     const InputArrays &inputs,
                                     const RunOptions &options);

/// The mask by which such a kernel drops weights, from the runtime: 1 where one
/// is kept. [B, H, Lq, Lk] or packed [Tq, H, Lk] with the longest Lk, 0 beyond
/// the keys of a sequence. `kernel` has a body, and the arrays suit it.
llvm::Expected<NpyArray> makeDropoutMask(KernelOp kernel,
                                         const InputArrays &inputs,
                                         const RunOptions &options);

/// The same for a kernel that appends to a cache, `kernel` being the one whose
/// cache it fills. runReference() and compareWithReference() take either.
llvm::Expected<RunResults> runNativeAppend(mlir::ModuleOp module,
                                           llvm::StringRef kernel,
                                           const InputArrays &inputs,
                                           const RunOptions &options);

// The same for input embeddings; the result is RunResults::o.

llvm::Expected<RunResults> runReference(EmbedOp embed,
                                        const InputArrays &inputs,
                                        const RunOptions &options);

llvm::Error compareWithReference(EmbedOp embed, const InputArrays &inputs,
                                 const RunOptions &options,
                                 RunResults &results);

llvm::Expected<RunResults> runNativeEmbed(mlir::ModuleOp module,
                                          llvm::StringRef embed,
                                          const InputArrays &inputs,
                                          const RunOptions &options);

} // namespace posenc

#endif // POSENC_RUN_BACKEND_H
