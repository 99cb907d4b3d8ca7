// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_kernel_parallel on own and hooked pools.
#include "FakeKernel.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

namespace {

using namespace posenc_test;

using PoolOwner = std::unique_ptr<posenc_pool, decltype(&posenc_pool_destroy)>;

PoolOwner makePool(int32_t threads) {
  posenc_pool *pool = nullptr;
  EXPECT_EQ(POSENC_OK, posenc_pool_create(threads, &pool));
  return PoolOwner(pool, posenc_pool_destroy);
}

/// Starts a thread for each task, as a program's own pool might.
PoolOwner makeHookedPool(int32_t threads) {
  posenc_pool_hooks hooks = {};
  hooks.size = sizeof(hooks);
  hooks.threads = threads;
  hooks.parallel_for = [](void *, int64_t items, posenc_pool_body body,
                          void *context) {
    std::vector<std::thread> running;
    for (int64_t i = 0; i < items; ++i)
      running.emplace_back(body, context, i, static_cast<int32_t>(i));
    for (std::thread &thread : running)
      thread.join();
  };
  posenc_pool *pool = nullptr;
  EXPECT_EQ(POSENC_OK, posenc_pool_create_hooked(&hooks, &pool));
  return PoolOwner(pool, posenc_pool_destroy);
}

/// A frame that items can find their test's data from.
struct Loop {
  posenc_frame frame; // first, so that a frame's address is the loop's
  posenc_call call = POSENC_CALL_INIT;
  std::vector<int> runs;                    // of each item
  std::unique_ptr<std::atomic<int>[]> busy; // of each worker
  std::atomic<int> clashes{0};
  std::atomic<int64_t> started{0};
  std::atomic<int> failing{0}; // the first item that fails
};

class ParallelTest : public FakeKernel {
public: // items of the loops call these too
  void start(Loop &loop, posenc_pool *pool, int64_t count) {
    loop.call.pool = pool;
    ASSERT_EQ(POSENC_OK,
              posenc_kernel_enter(&desc, &args, &loop.call, &loop.frame))
        << posenc_last_error();
    loop.runs.assign(static_cast<size_t>(count), 0);
    loop.busy.reset(
        new std::atomic<int>[static_cast<size_t>(loop.frame.workers)]());
  }

  static Loop &loopOf(posenc_frame *frame) {
    return *reinterpret_cast<Loop *>(frame);
  }

  static int32_t countRuns(posenc_frame *frame, int64_t item, int64_t worker) {
    Loop &loop = loopOf(frame);
    if (worker < 0 || worker >= frame->workers)
      return POSENC_INTERNAL;
    // Two items of one worker at a time would share its scratch.
    if (loop.busy[static_cast<size_t>(worker)].exchange(1))
      ++loop.clashes;
    ++loop.runs[static_cast<size_t>(item)];
    loop.busy[static_cast<size_t>(worker)] = 0;
    return POSENC_OK;
  }

  static int32_t failFrom(posenc_frame *frame, int64_t item, int64_t) {
    Loop &loop = loopOf(frame);
    ++loop.started;
    if (item < loop.failing)
      return POSENC_OK;
    // Later failures come first, as far as the schedule lets them.
    if (item == loop.failing)
      std::this_thread::yield();
    return posenc_kernel_tile_failed(frame, static_cast<int32_t>(item) + 1000);
  }

  void expectAllOnce(posenc_pool *pool, int64_t count) {
    Loop loop;
    start(loop, pool, count);
    EXPECT_EQ(POSENC_OK, posenc_kernel_parallel(&loop.frame, count, countRuns))
        << posenc_last_error();
    EXPECT_EQ(0, loop.clashes);
    for (int runs : loop.runs)
      ASSERT_EQ(1, runs);
  }

  void expectFirstFailure(posenc_pool *pool) {
    Loop loop;
    start(loop, pool, 0);
    loop.failing = 17;
    EXPECT_EQ(POSENC_INTERNAL,
              posenc_kernel_parallel(&loop.frame, 100000, failFrom));
    EXPECT_STREQ("fake: a tile function for x86-64-plain failed with code 1017",
                 posenc_last_error());
    EXPECT_LT(loop.started, 100000);
  }
};

TEST_F(ParallelTest, WithoutPoolInOrder) {
  static std::vector<int64_t> order;
  order.clear();
  ASSERT_EQ(POSENC_OK, enter());
  auto item = [](posenc_frame *, int64_t i, int64_t worker) -> int32_t {
    order.push_back(i);
    return worker == 0 ? POSENC_OK : POSENC_INTERNAL;
  };
  EXPECT_EQ(POSENC_OK, posenc_kernel_parallel(&frame, 100, item));
  ASSERT_EQ(100u, order.size());
  for (size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(static_cast<int64_t>(i), order[i]);
}

TEST_F(ParallelTest, NoItems) {
  PoolOwner pool = makePool(3);
  expectAllOnce(nullptr, 0);
  expectAllOnce(pool.get(), 0);
  call.pool = pool.get();
  ASSERT_EQ(POSENC_OK, enter());
  EXPECT_EQ(POSENC_OK, posenc_kernel_parallel(&frame, -5, countRuns));
}

TEST_F(ParallelTest, EveryItemOnce) {
  for (int32_t threads = 1; threads <= 8; ++threads) {
    PoolOwner pool = makePool(threads);
    PoolOwner hooked = makeHookedPool(threads);
    for (int64_t count : {1, 2, 3, 7, 100, 20000}) {
      expectAllOnce(pool.get(), count);
      expectAllOnce(hooked.get(), count);
    }
  }
}

TEST_F(ParallelTest, ManyShortLoops) {
  PoolOwner pool = makePool(4);
  for (int i = 0; i < 2000; ++i)
    expectAllOnce(pool.get(), 1 + i % 9);
}

TEST_F(ParallelTest, SeveralThreadsRunItems) {
  PoolOwner pool = makePool(2);
  static std::atomic<int> present, unblocked;
  present = unblocked = 0;
  call.pool = pool.get();
  ASSERT_EQ(POSENC_OK, enter());
  // Each of the two items waits for the other one, so both threads get one.
  auto meet = [](posenc_frame *, int64_t, int64_t worker) -> int32_t {
    ++present;
    while (present < 2)
      std::this_thread::yield();
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    if (worker != 0 && !sigismember(&blocked, SIGINT))
      ++unblocked;
    return POSENC_OK;
  };
  EXPECT_EQ(POSENC_OK, posenc_kernel_parallel(&frame, 2, meet));
  EXPECT_EQ(0, unblocked) << "a thread of the pool takes signals";
}

TEST_F(ParallelTest, ThreadsShareAPool) {
  PoolOwner pool = makePool(3);
  PoolOwner hooked = makeHookedPool(3);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        expectAllOnce(t == 3 ? hooked.get() : pool.get(), 1 + (i * 7) % 50);
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST_F(ParallelTest, ErrorsOfSharedPoolsStayApart) {
  PoolOwner pool = makePool(3);
  std::thread failing([&] {
    for (int i = 0; i < 100; ++i)
      expectFirstFailure(pool.get());
  });
  for (int i = 0; i < 100; ++i)
    expectAllOnce(pool.get(), 500);
  failing.join();
}

TEST_F(ParallelTest, NestedLoops) {
  struct Outer : Loop {
    ParallelTest *test;
    posenc_pool *pool;
  } outer;
  PoolOwner pool = makePool(4);
  outer.test = this;
  outer.pool = pool.get();
  start(outer, pool.get(), 0);
  auto nested = [](posenc_frame *frame, int64_t item, int64_t) -> int32_t {
    Outer &o = static_cast<Outer &>(loopOf(frame));
    o.test->expectAllOnce(o.pool, 20 + item);
    return POSENC_OK;
  };
  EXPECT_EQ(POSENC_OK, posenc_kernel_parallel(&outer.frame, 40, nested))
      << posenc_last_error();
}

TEST_F(ParallelTest, FirstFailureIsReported) {
  expectFirstFailure(nullptr);
  for (int32_t threads = 1; threads <= 8; ++threads) {
    PoolOwner pool = makePool(threads);
    PoolOwner hooked = makeHookedPool(threads);
    for (int i = 0; i < 20; ++i) {
      expectFirstFailure(pool.get());
      expectFirstFailure(hooked.get());
    }
  }
}

TEST_F(ParallelTest, FailureStopsTheRest) {
  Loop loop;
  start(loop, nullptr, 0);
  loop.failing = 3;
  EXPECT_EQ(POSENC_INTERNAL,
            posenc_kernel_parallel(&loop.frame, 100, failFrom));
  EXPECT_EQ(4, loop.started);
}

TEST_F(ParallelTest, OneFailureStopsAllWorkers) {
  const int64_t count = 100000; // would take seconds
  PoolOwner pool = makePool(4);
  Loop loop;
  start(loop, pool.get(), 0);
  auto failOnce = [](posenc_frame *frame, int64_t item, int64_t) -> int32_t {
    Loop &l = loopOf(frame);
    ++l.started;
    if (item == 0) {
      while (l.started < 2) // until another worker is there
        std::this_thread::yield();
      l.failing = 1;
      return POSENC_DEVICE_ERROR;
    }
    while (!l.failing)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    return POSENC_OK;
  };
  EXPECT_EQ(POSENC_DEVICE_ERROR,
            posenc_kernel_parallel(&loop.frame, count, failOnce));
  EXPECT_LT(loop.started, count);
}

TEST_F(ParallelTest, FailureWithoutSentence) {
  args.size = 0;
  EXPECT_NE(POSENC_OK, enter()); // must not show up below
  args.size = sizeof(args);
  ASSERT_EQ(POSENC_OK, enter());
  auto item = [](posenc_frame *, int64_t i, int64_t) -> int32_t {
    return i == 5 ? POSENC_DEVICE_ERROR : POSENC_OK;
  };
  EXPECT_EQ(POSENC_DEVICE_ERROR, posenc_kernel_parallel(&frame, 9, item));
  EXPECT_STREQ("fake: item 5 failed: device error", posenc_last_error());
}

TEST_F(ParallelTest, UnknownCodesBecomeInternalErrors) {
  ASSERT_EQ(POSENC_OK, enter());
  auto item = [](posenc_frame *, int64_t, int64_t) -> int32_t { return -3; };
  EXPECT_EQ(POSENC_INTERNAL, posenc_kernel_parallel(&frame, 9, item));
  EXPECT_STREQ("fake: item 0 failed with code -3", posenc_last_error());
}

} // namespace
