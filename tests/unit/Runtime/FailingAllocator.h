// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the Nth allocation or thread start of the runtime fail, counts what is
// alive.
#ifndef POSENC_TESTS_UNIT_RUNTIME_FAILINGALLOCATOR_H
#define POSENC_TESTS_UNIT_RUNTIME_FAILINGALLOCATOR_H

#include <cstddef>

namespace posenc_test {

/// While it lives, allocations of the runtime are counted, and the `failing`th
/// one (counting from 1; 0 for none) fails, with all later ones if
/// `persistent`.
class FailingAllocator {
public:
  explicit FailingAllocator(int failing, bool persistent = false);
  ~FailingAllocator();
  FailingAllocator(const FailingAllocator &) = delete;
  FailingAllocator &operator=(const FailingAllocator &) = delete;

  /// Allocations and thread starts that were asked for.
  int requests() const;
  /// Allocations that were not freed.
  int live() const;
  /// The size of the latest allocation.
  std::size_t lastSize() const;
};

} // namespace posenc_test

#endif // POSENC_TESTS_UNIT_RUNTIME_FAILINGALLOCATOR_H
