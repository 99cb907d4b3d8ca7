// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory as a program has it that keeps a large model's cache.
#ifndef POSENC_TOOLS_PAGES_H
#define POSENC_TOOLS_PAGES_H

#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>

namespace posenc {

/// Memory for `bytes`, on huge pages where the system gives them, since a large
/// model's cache is; null without any.
void *allocatePages(size_t bytes);

/// The same for containers.
template <typename T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U> &) {}

  T *allocate(size_t count) {
    void *memory = allocatePages(count * sizeof(T));
    if (!memory)
      llvm::report_bad_alloc_error("no memory for tensors");
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, size_t) { std::free(memory); }
  bool operator==(const PageAllocator &) const { return true; }
  bool operator!=(const PageAllocator &) const { return false; }
};

} // namespace posenc

#endif // POSENC_TOOLS_PAGES_H
