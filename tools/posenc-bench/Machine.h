// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the machine can do: measured next to every kernel, since clocks and
// neighbours change from minute to minute.
#ifndef POSENC_BENCH_MACHINE_H
#define POSENC_BENCH_MACHINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>
#include <string>

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

/// Seconds of a steady clock.
double now();

/// The model name that the system gives, or LLVM's name of the architecture.
std::string getCpuName();

/// GFLOP/s of independent fused multiply-adds in registers on `threads`
/// threads at once, with the vectors of an instruction set (multiplications
/// and additions in turn where it has no FMA).
double measurePeak(llvm::StringRef isa, int threads);

/// GB/s of `threads` threads that read a buffer of more than four times the
/// last-level cache, on huge pages where the system gives them.
double measureReadBandwidth(int threads);

} // namespace posenc

#endif // POSENC_BENCH_MACHINE_H
