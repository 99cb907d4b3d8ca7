// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in memory whose surroundings show when somebody touches them.
#include "GuardedBuffer.h"
#include "TestRun.h"

#include "posenc/Tools/Emulator.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace posenc::numerics;

GuardedBuffer::GuardedBuffer(size_t size) : count(size), writable(size) {
  constexpr size_t leastWordsBefore = 64;
  size_t page = sysconf(_SC_PAGESIZE);
  size_t accessible =
      alignTo((size + leastWordsBefore) * sizeof(uint32_t), page);
  mappedBytes = accessible + page;
  if (const Emulator *emulator = getEmulator()) {
    mapping = emulator->allocate(accessible);
  } else {
    mapping = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED ||
        mprotect(static_cast<char *>(mapping) + accessible, page, PROT_NONE))
      report_fatal_error("no memory for a guarded buffer");
  }
  begin = static_cast<uint32_t *>(mapping);
  wordsBefore = accessible / sizeof(uint32_t) - size;
  words = begin + wordsBefore;
  std::fill(begin, words + size, pattern);
}

GuardedBuffer::~GuardedBuffer() {
  if (const Emulator *emulator = getEmulator())
    emulator->release(mapping);
  else
    munmap(mapping, mappedBytes);
}

void GuardedBuffer::remember() { remembered.assign(words, words + count); }

std::string GuardedBuffer::check() const {
  for (size_t x = 0; x < wordsBefore; ++x)
    if (begin[x] != pattern)
      return "word " + std::to_string(wordsBefore - x) +
             " before a tensor was overwritten";
  for (size_t x = 0; x < count; ++x)
    if (!writable[x] && words[x] != remembered[x])
      return "word " + std::to_string(x) + " of " + std::to_string(count) +
             (remembered[x] == pattern ? " between a tensor's elements"
                                       : " of an input") +
             " was overwritten";
  return "";
}

GuardedTensor::GuardedTensor(std::shared_ptr<GuardedBuffer> memory,
                             ArrayRef<int64_t> extents, const Layout &layout,
                             bool isInteger, const KernelTensor *storage,
                             bool isLong)
    : buffer(std::move(memory)), shape(extents), strides(layout.strides),
      offset(layout.offset), storage(storage) {
  tensor.data = buffer->data();
  tensor.device = {kDLCPU, 0};
  tensor.dtype.code = static_cast<uint8_t>(isInteger ? kDLInt : kDLFloat);
  if (storage)
    tensor.dtype.code = storage->getTypeCode();
  tensor.dtype.bits = isLong ? 64 : storage ? storage->getTypeBits() : 32;
  tensor.dtype.lanes = 1;
  tensor.byte_offset = offset * getBytes();
  tensor.ndim = shape.size();
  tensor.shape = shape.data();
  if (!strides.empty()) {
    tensor.strides = strides.data();
    return;
  }
  strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    strides[axis] = stride;
}

template <typename Function>
void GuardedTensor::forEachElement(Function function) const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t x = 0; x < count; ++x) {
    int64_t rest = x, word = offset;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      word += rest % shape[axis] * strides[axis];
    function(x, word);
  }
}

void GuardedTensor::write(ArrayRef<double> values) {
  forEachElement([&](int64_t x, int64_t at) {
    float value = static_cast<float>(values[x]);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (storage)
      bits = storage->toBits(value);
    // The low bytes come first.
    std::memcpy(getElement(at), &bits, getBytes());
  });
}

void GuardedTensor::write(ArrayRef<int64_t> values) {
  forEachElement([&](int64_t x, int64_t at) {
    std::memcpy(getElement(at), &values[x], getBytes());
  });
}

std::vector<float> GuardedTensor::read() const {
  std::vector<float> values;
  forEachElement([&](int64_t, int64_t at) {
    uint32_t bits = 0;
    std::memcpy(&bits, getElement(at), getBytes());
    if (storage)
      values.push_back(storage->fromBits(bits));
    else
      std::memcpy(&values.emplace_back(), &bits, sizeof(bits));
  });
  return values;
}

void GuardedTensor::allowWrite() {
  forEachElement(
      [&](int64_t, int64_t at) { buffer->allowWrite(at * getBytes() / 4); });
}
