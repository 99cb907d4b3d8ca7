// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled functions kept on disk by the content of what they came from.
#ifndef POSENC_GENERATORS_LIBRARY_KERNELCACHE_H
#define POSENC_GENERATORS_LIBRARY_KERNELCACHE_H

#include "posenc/Compiler/Compile.h"

#include <optional>

namespace posenc {

/// A cache directory; does nothing when the directory is empty. A cache that
/// cannot be read or written never fails a compilation: it is only slower.
class KernelCache {
public:
  explicit KernelCache(llvm::StringRef directory) : directory(directory) {}

  /// The objects stored under `key`, which is any text.
  std::optional<std::vector<CompiledObject>> load(llvm::StringRef key) const;
  void store(llvm::StringRef key,
             const std::vector<CompiledObject> &objects) const;

private:
  std::string getPath(llvm::StringRef key) const;

  std::string directory;
};

} // namespace posenc

#endif // POSENC_GENERATORS_LIBRARY_KERNELCACHE_H
