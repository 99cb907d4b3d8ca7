// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creation of pools, and hooked pools that misbehave.
#include "FakeKernel.h"

#include <thread>

namespace {

using namespace posenc_test;

TEST(PoolTest, Create) {
  for (int32_t threads : {1, 2, 8}) {
    posenc_pool *pool = nullptr;
    ASSERT_EQ(POSENC_OK, posenc_pool_create(threads, &pool));
    EXPECT_EQ(threads, posenc_pool_threads(pool));
    posenc_pool_destroy(pool);
  }
}

TEST(PoolTest, ZeroMeansAllCpus) {
  posenc_pool *pool = nullptr;
  ASSERT_EQ(POSENC_OK, posenc_pool_create(0, &pool));
  EXPECT_GE(posenc_pool_threads(pool), 1);
  EXPECT_LE(static_cast<unsigned>(posenc_pool_threads(pool)),
            std::thread::hardware_concurrency());
  posenc_pool_destroy(pool);
}

TEST(PoolTest, NullIsOneThread) {
  EXPECT_EQ(1, posenc_pool_threads(nullptr));
  posenc_pool_destroy(nullptr);
}

TEST(PoolTest, WrongThreads) {
  for (int32_t threads : {-1, INT32_MIN, POSENC_POOL_MAX_THREADS + 1}) {
    posenc_pool *pool = reinterpret_cast<posenc_pool *>(&threads);
    EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create(threads, &pool));
    EXPECT_EQ(nullptr, pool);
    EXPECT_TRUE(lastErrorHas("must be 0 .. 1024")) << posenc_last_error();
  }
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create(1, nullptr));
}

class HookedPoolTest : public FakeKernel {
protected:
  HookedPoolTest() {
    hooks.size = sizeof(hooks);
    hooks.threads = 4;
    hooks.context = this;
    hooks.parallel_for = backwards;
  }
  ~HookedPoolTest() override { posenc_pool_destroy(pool); }

  posenc_status run(int64_t count) {
    posenc_pool_destroy(pool);
    pool = nullptr;
    EXPECT_EQ(POSENC_OK, posenc_pool_create_hooked(&hooks, &pool));
    call.pool = pool;
    EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
    order.clear();
    current = this;
    return posenc_kernel_parallel(
        &frame, count, [](posenc_frame *, int64_t item, int64_t) -> int32_t {
          current->order.push_back(item);
          return POSENC_OK;
        });
  }

  static void backwards(void *context, int64_t items, posenc_pool_body body,
                        void *bodyContext) {
    static_cast<HookedPoolTest *>(context)->items = items;
    for (int64_t i = items; i-- > 0;)
      body(bodyContext, i, static_cast<int32_t>(i));
  }

  static HookedPoolTest *current;
  posenc_pool_hooks hooks = {};
  posenc_pool *pool = nullptr;
  int64_t items = 0;
  std::vector<int64_t> order;
};

HookedPoolTest *HookedPoolTest::current = nullptr;

TEST_F(HookedPoolTest, WrongHooks) {
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_pool_create_hooked(&hooks, nullptr));
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create_hooked(nullptr, &pool));
  posenc_pool_hooks wrong = hooks;
  wrong.size = 8;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create_hooked(&wrong, &pool));
  EXPECT_TRUE(lastErrorHas("hooks->size is 8")) << posenc_last_error();
  wrong = hooks;
  wrong.threads = 0;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create_hooked(&wrong, &pool));
  EXPECT_TRUE(lastErrorHas("must be 1 .. 1024")) << posenc_last_error();
  wrong = hooks;
  wrong.parallel_for = nullptr;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, posenc_pool_create_hooked(&wrong, &pool));
  EXPECT_EQ(nullptr, pool);
}

TEST_F(HookedPoolTest, ItemsStartInOrderWhateverTheHookDoes) {
  ASSERT_EQ(POSENC_OK, run(10)) << posenc_last_error();
  EXPECT_EQ(4, posenc_pool_threads(pool));
  EXPECT_EQ(4, items);
  ASSERT_EQ(10u, order.size());
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(i, order[static_cast<size_t>(i)]);
}

TEST_F(HookedPoolTest, AtMostOneTaskForEachItem) {
  ASSERT_EQ(POSENC_OK, run(2)) << posenc_last_error();
  EXPECT_EQ(2, items);
  EXPECT_EQ(2u, order.size());
}

TEST_F(HookedPoolTest, HookThatReturnsEarly) {
  hooks.parallel_for = [](void *, int64_t, posenc_pool_body, void *) {};
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, run(10));
  EXPECT_TRUE(lastErrorHas("after 0 of 10 items")) << posenc_last_error();
}

TEST_F(HookedPoolTest, HookWithAnImpossibleWorker) {
  hooks.parallel_for = [](void *, int64_t, posenc_pool_body body,
                          void *bodyContext) { body(bodyContext, 0, 4); };
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, run(10));
  EXPECT_TRUE(lastErrorHas("passed worker 4, but has 4 threads"))
      << posenc_last_error();
  EXPECT_TRUE(order.empty());
}

} // namespace
