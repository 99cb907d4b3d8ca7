// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "posenc/Tools/Pages.h"

#include "llvm/Support/MathExtras.h"

#include <sys/mman.h>

void *posenc::allocatePages(size_t bytes) {
  constexpr size_t page = size_t(2) << 20;
  if (bytes < page)
    return std::malloc(bytes);
  void *memory = std::aligned_alloc(page, llvm::alignTo(bytes, page));
  if (memory)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}
