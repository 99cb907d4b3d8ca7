// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of another architecture, run by an emulator beside this process.
#ifndef POSENC_TOOLS_EMULATOR_H
#define POSENC_TOOLS_EMULATOR_H

#include "posenc/Compiler/NativeKernel.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace posenc {

class Guest;

/// An emulated program that holds the runtime and loads kernels. It ends with
/// this object and its kernels; if it ends before, so does this process.
class Emulator {
public:
  /// Runs `command`, for example "qemu-aarch64 -cpu max", with posenc-guest:
  /// that of $POSENC_GUEST, or of the build.
  static llvm::Expected<Emulator> start(llvm::StringRef command);

  /// posenc_cpu_features() of the emulated CPU.
  uint64_t getFeatures() const;

  /// Links the objects to a shared library and loads that.
  llvm::Expected<std::unique_ptr<NativeKernel>>
  load(const CompiledKernel &kernel) const;

  /// Pages of zeros that a call sees where they are, with nothing behind them.
  /// Of other memory a call sees copies.
  void *allocate(size_t bytes) const;
  void release(void *memory) const;

private:
  explicit Emulator(std::shared_ptr<Guest> guest) : guest(std::move(guest)) {}

  std::shared_ptr<Guest> guest;
};

} // namespace posenc

#endif // POSENC_TOOLS_EMULATOR_H
