// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch memory, its arithmetic at the limits, and failing allocations.
#include "FailingAllocator.h"
#include "FakeKernel.h"

#include <cstring>

namespace {

using namespace posenc_test;

class MemoryTest : public FakeKernel {
protected:
  void SetUp() override {
    ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  }

  size_t bytes(int64_t shared, int64_t worker) {
    return posenc_kernel_scratch_bytes(&frame, shared, worker);
  }

  static bool isAligned(const char *address) {
    return reinterpret_cast<uintptr_t>(address) % 64 == 0;
  }
};

TEST_F(MemoryTest, SizesAreRoundedUp) {
  EXPECT_EQ(0u, bytes(0, 0));
  EXPECT_EQ(64u + 63, bytes(1, 0));
  EXPECT_EQ(128u + 63, bytes(64, 1));
  frame.workers = 3;
  EXPECT_EQ(64u + 3 * 128 + 63, bytes(64, 65));
}

TEST_F(MemoryTest, SizesThatDoNotFit) {
  EXPECT_EQ(SIZE_MAX, bytes(-1, 0));
  EXPECT_EQ(SIZE_MAX, bytes(0, -1));
  EXPECT_EQ(SIZE_MAX, bytes(INT64_MAX, 0));
  EXPECT_EQ(SIZE_MAX, bytes(INT64_MAX, INT64_MAX));
  EXPECT_EQ(SIZE_MAX, bytes(INT64_MAX - 64 - 63, 64));
  EXPECT_NE(SIZE_MAX, bytes(INT64_MAX - 63 - 64 - 64, 64));
  frame.workers = 1024;
  EXPECT_EQ(SIZE_MAX, bytes(0, INT64_MAX / 1024 + 1));
  EXPECT_EQ(SIZE_MAX, bytes(INT64_MAX / 2, INT64_MAX / 2048));
  EXPECT_NE(SIZE_MAX, bytes(0, INT64_MAX / 2048));
  EXPECT_EQ(POSENC_OVERFLOW,
            posenc_kernel_scratch(&frame, 0, INT64_MAX / 1024 + 1));
  EXPECT_TRUE(lastErrorHas("1024 workers")) << posenc_last_error();
}

TEST_F(MemoryTest, InternalScratch) {
  frame.workers = 3;
  FailingAllocator allocator(0);
  ASSERT_EQ(POSENC_OK, posenc_kernel_scratch(&frame, 100, 65));
  EXPECT_EQ(1, allocator.live());
  EXPECT_EQ(128u + 3 * 128, allocator.lastSize());
  EXPECT_TRUE(isAligned(frame.shared));
  EXPECT_EQ(frame.shared + 128, frame.worker_base);
  EXPECT_EQ(128, frame.worker_bytes);
  std::memset(frame.shared, 1, 128 + 3 * 128);
  EXPECT_EQ(POSENC_DEVICE_ERROR,
            posenc_kernel_leave(&frame, POSENC_DEVICE_ERROR));
  EXPECT_EQ(0, allocator.live());
  EXPECT_EQ(POSENC_OK, posenc_kernel_leave(&frame, POSENC_OK));
  EXPECT_EQ(0, allocator.live());
}

TEST_F(MemoryTest, NothingNeeded) {
  FailingAllocator allocator(1);
  ASSERT_EQ(POSENC_OK, posenc_kernel_scratch(&frame, 0, 0));
  EXPECT_EQ(0, allocator.requests());
  EXPECT_EQ(nullptr, frame.shared);
  EXPECT_EQ(nullptr, frame.worker_base);
}

TEST_F(MemoryTest, CallersScratchAtAnyAlignment) {
  const int64_t shared = 100, worker = 200;
  FailingAllocator allocator(1);
  size_t size = bytes(shared, worker);
  std::vector<char> memory(size + 64);
  call.scratch_bytes = size;
  for (size_t offset = 0; offset < 64; ++offset) {
    call.scratch = memory.data() + offset;
    ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
    ASSERT_EQ(POSENC_OK, posenc_kernel_scratch(&frame, shared, worker));
    EXPECT_TRUE(isAligned(frame.shared));
    EXPECT_TRUE(isAligned(frame.worker_base));
    EXPECT_GE(frame.shared, memory.data() + offset);
    EXPECT_GE(frame.worker_base, frame.shared + shared);
    EXPECT_LE(frame.worker_base + frame.worker_bytes,
              memory.data() + offset + size);
    EXPECT_EQ(nullptr, frame.owned);
    EXPECT_EQ(POSENC_OK, posenc_kernel_leave(&frame, POSENC_OK));
  }
  EXPECT_EQ(0, allocator.requests());
}

TEST_F(MemoryTest, CallersScratchTooSmall) {
  std::vector<char> memory(1024);
  call.scratch = memory.data();
  call.scratch_bytes = 190;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_kernel_scratch(&frame, 64, 64));
  EXPECT_TRUE(lastErrorHas("scratch_bytes is 190")) << posenc_last_error();
  EXPECT_TRUE(lastErrorHas("at least 191")) << posenc_last_error();
  call.scratch_bytes = 191;
  EXPECT_EQ(POSENC_OK, posenc_kernel_scratch(&frame, 64, 64));
}

int32_t succeed(posenc_frame *, int64_t, int64_t) { return POSENC_OK; }

/// A whole life: create a pool, run a kernel that needs scratch, clean up.
posenc_status live(const posenc_kernel_desc *desc, const void *args) {
  posenc_pool *pool = nullptr;
  posenc_status status = posenc_pool_create(4, &pool);
  if (status) {
    EXPECT_EQ(nullptr, pool);
    return status;
  }
  posenc_call call = POSENC_CALL_INIT;
  call.pool = pool;
  posenc_frame frame;
  status = posenc_kernel_enter(desc, args, &call, &frame);
  if (!status) {
    status = posenc_kernel_scratch(&frame, 1000, 1000);
    if (!status)
      status = posenc_kernel_parallel(&frame, 100, succeed);
    status = posenc_kernel_leave(&frame, status);
  }
  posenc_pool_destroy(pool);
  return status;
}

TEST_F(MemoryTest, NthAllocationFails) {
  for (bool persistent : {false, true}) {
    bool done = false;
    int n = 1;
    for (; !done && n < 100; ++n) {
      FailingAllocator allocator(n, persistent);
      posenc_status status = live(&desc, &args);
      done = allocator.requests() < n;
      EXPECT_EQ(done ? POSENC_OK : POSENC_OUT_OF_MEMORY, status);
      EXPECT_TRUE(done || posenc_last_error()[0]);
      EXPECT_EQ(0, allocator.live());
    }
    // The pool, its three threads, the scratch.
    EXPECT_EQ(7, n);
  }
}

TEST_F(MemoryTest, HookedPoolWithoutMemory) {
  posenc_pool_hooks hooks = {};
  hooks.size = sizeof(hooks);
  hooks.threads = 1;
  hooks.parallel_for = [](void *, int64_t, posenc_pool_body, void *) {};
  posenc_pool *pool = nullptr;
  FailingAllocator allocator(1);
  EXPECT_EQ(POSENC_OUT_OF_MEMORY, posenc_pool_create_hooked(&hooks, &pool));
  EXPECT_EQ(nullptr, pool);
}

TEST_F(MemoryTest, LoopsDoNotAllocate) {
  posenc_pool *pool = nullptr;
  ASSERT_EQ(POSENC_OK, posenc_pool_create(4, &pool));
  call.pool = pool;
  {
    FailingAllocator allocator(1);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(POSENC_OK, enter());
      EXPECT_EQ(POSENC_OK, posenc_kernel_parallel(&frame, 50, succeed));
    }
    EXPECT_EQ(0, allocator.requests());
  }
  posenc_pool_destroy(pool);
}

} // namespace
