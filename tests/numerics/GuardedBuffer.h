// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in memory whose surroundings show when somebody touches them.
#ifndef POSENC_NUMERICS_GUARDEDBUFFER_H
#define POSENC_NUMERICS_GUARDEDBUFFER_H

#include "posenc/Analysis/KernelTensors.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <dlpack/dlpack.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace posenc::numerics {

/// Words of memory filled with a pattern that is NaN as f32 and a huge number
/// as int32. They end where a page begins that cannot be accessed, so that
/// reading past them ends the program.
class GuardedBuffer {
public:
  explicit GuardedBuffer(size_t words);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  static constexpr uint32_t pattern = 0x7fa5c3d1;

  uint32_t *data() { return words; }
  size_t size() const { return count; }
  /// Marks a word as one that may be written.
  void allowWrite(size_t word) { writable[word] = true; }
  /// Remembers the contents, and says which word has changed since although it
  /// may not be written, or nothing.
  void remember();
  std::string check() const;

private:
  void *mapping;
  size_t mappedBytes;
  uint32_t *words, *begin;
  size_t count, wordsBefore;
  std::vector<bool> writable;
  std::vector<uint32_t> remembered;
};

/// How a tensor lies in its buffer. Strides count elements; empty ones are
/// compact and are not told to the kernel.
struct Layout {
  llvm::SmallVector<int64_t, 4> strides;
  int64_t offset = 0;
};

/// A DLTensor in a guarded buffer, which several may share.
class GuardedTensor {
public:
  /// Numbers of 8 and 16 bits are as `storage` says, which must outlive the
  /// tensor. With `isLong` integers are int64.
  GuardedTensor(std::shared_ptr<GuardedBuffer> buffer,
                llvm::ArrayRef<int64_t> shape, const Layout &layout,
                bool isInteger, const KernelTensor *storage = nullptr,
                bool isLong = false);

  const DLTensor *get() const { return &tensor; }
  void write(llvm::ArrayRef<double> values);
  void write(llvm::ArrayRef<int64_t> values);
  std::vector<float> read() const;
  /// Declares the elements an output.
  void allowWrite();

private:
  template <typename Function>
  void forEachElement(Function function) const;
  char *getElement(int64_t at) const {
    return reinterpret_cast<char *>(buffer->data()) + at * getBytes();
  }
  int64_t getBytes() const { return tensor.dtype.bits / 8; }

  std::shared_ptr<GuardedBuffer> buffer;
  llvm::SmallVector<int64_t, 4> shape, strides;
  int64_t offset;
  const KernelTensor *storage; // null for f32 and integers
  DLTensor tensor = {};
};

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_GUARDEDBUFFER_H
