// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that the linker puts between the runtime and libc.
#include "FailingAllocator.h"

#include <atomic>
#include <cerrno>
#include <pthread.h>

namespace {
std::atomic<bool> active{false};
std::atomic<bool> persistent{false};
std::atomic<int> failing{0};
std::atomic<int> requests{0};
std::atomic<int> live{0};
std::atomic<std::size_t> lastSize{0};

bool mustFail() {
  if (!active)
    return false;
  int number = ++requests;
  return failing != 0 &&
         (number == failing || (persistent && number > failing));
}

void *count(void *memory, std::size_t size) {
  if (active && memory) {
    ++live;
    lastSize = size;
  }
  return memory;
}
} // namespace

extern "C" {
void *__real_malloc(std::size_t size);
void *__real_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context);

void *__wrap_malloc(std::size_t size) {
  return mustFail() ? nullptr : count(__real_malloc(size), size);
}

void *__wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return mustFail() ? nullptr
                    : count(__real_aligned_alloc(alignment, size), size);
}

void __wrap_free(void *memory) {
  if (active && memory)
    --live;
  __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context) {
  if (mustFail())
    return EAGAIN;
  return __real_pthread_create(thread, attributes, start, context);
}
}

namespace posenc_test {

FailingAllocator::FailingAllocator(int failingRequest, bool persistently) {
  failing = failingRequest;
  persistent = persistently;
  ::requests = 0;
  ::live = 0;
  ::lastSize = 0;
  active = true;
}

FailingAllocator::~FailingAllocator() { active = false; }

int FailingAllocator::requests() const { return ::requests; }
int FailingAllocator::live() const { return ::live; }
std::size_t FailingAllocator::lastSize() const { return ::lastSize; }

} // namespace posenc_test
