// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_call across versions of the struct.
#include "FakeKernel.h"

#include <cstring>

extern "C" posenc_call posenc_test_default_call(void);

namespace {

using namespace posenc_test;

class CallTest : public FakeKernel {
protected:
  CallTest() { std::memset(&larger, 0, sizeof(larger)); }

  posenc_status enterWith(const void *options) {
    return posenc_kernel_enter(
        &desc, &args, static_cast<const posenc_call *>(options), &frame);
  }

  struct {
    posenc_call known;
    char unknown[24];
  } larger;
};

TEST_F(CallTest, InitialisersAgree) {
  posenc_call fromC = posenc_test_default_call();
  posenc_call fromCxx = POSENC_CALL_INIT;
  EXPECT_EQ(sizeof(posenc_call), fromC.size);
  EXPECT_EQ(fromC.size, fromCxx.size);
  EXPECT_EQ(nullptr, fromC.pool);
  EXPECT_EQ(0u, fromC.offset);
}

TEST_F(CallTest, NullAndZeroAreDefaults) {
  EXPECT_EQ(POSENC_OK, enterWith(nullptr)) << posenc_last_error();
  EXPECT_EQ(nullptr, frame.call);
  posenc_call zero = {};
  EXPECT_EQ(POSENC_OK, enterWith(&zero)) << posenc_last_error();
  EXPECT_EQ(nullptr, frame.call);
  EXPECT_EQ(1, frame.workers);
}

TEST_F(CallTest, SizeForgotten) {
  posenc_call forgotten = {};
  forgotten.first_head = 4;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, enterWith(&forgotten));
  EXPECT_TRUE(lastErrorHas("call->size is 0")) << posenc_last_error();
  EXPECT_TRUE(lastErrorHas("POSENC_CALL_INIT")) << posenc_last_error();
}

TEST_F(CallTest, SmallerStructLacksMembers) {
  call.size = offsetof(posenc_call, first_head);
  call.first_head = 1000; // beyond the caller's struct
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.first_head);
  // Half a member does not count.
  call.size = offsetof(posenc_call, first_head) + 2;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  call.size = offsetof(posenc_call, first_head) + sizeof(int32_t);
  EXPECT_EQ(POSENC_OUT_OF_RANGE, enter());
}

TEST_F(CallTest, SizeIsGarbage) {
  for (size_t size : {size_t(1), sizeof(size_t) - 1, size_t(4097), SIZE_MAX}) {
    call.size = size;
    EXPECT_EQ(POSENC_INVALID_ARGUMENT, enter()) << size;
    EXPECT_TRUE(lastErrorHas("sizeof(posenc_call)")) << posenc_last_error();
  }
}

TEST_F(CallTest, LargerStructMayNotUseUnknownMembers) {
  larger.known.size = sizeof(larger);
  EXPECT_EQ(POSENC_OK, enterWith(&larger)) << posenc_last_error();
  larger.unknown[20] = 1;
  EXPECT_EQ(POSENC_VERSION_MISMATCH, enterWith(&larger));
  EXPECT_TRUE(lastErrorHas("at byte 92")) << posenc_last_error();
  EXPECT_TRUE(lastErrorHas("72 bytes")) << posenc_last_error();
  larger.known.size = sizeof(posenc_call);
  EXPECT_EQ(POSENC_OK, enterWith(&larger)) << posenc_last_error();
}

TEST_F(CallTest, ScratchSizeWithoutScratch) {
  call.scratch_bytes = 10;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, enter());
  EXPECT_TRUE(lastErrorHas("scratch is NULL")) << posenc_last_error();
}

TEST_F(CallTest, WorkersComeFromThePool) {
  posenc_pool *pool = nullptr;
  ASSERT_EQ(POSENC_OK, posenc_pool_create(3, &pool));
  call.pool = pool;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(3, frame.workers);
  posenc_pool_destroy(pool);
}

} // namespace
