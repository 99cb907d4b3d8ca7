// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepared buffers and what they are refused for.
#include "FakeKernel.h"

#include <cstring>

namespace {

using namespace posenc_test;

class PreparedTest : public FakeKernel {
protected:
  static constexpr int64_t payloadBytes = 256;

  void SetUp() override {
    ASSERT_EQ(POSENC_OK, prepare()) << posenc_last_error();
    ASSERT_EQ(POSENC_OK, begin()) << posenc_last_error();
    ASSERT_EQ(buffer + 64, payload);
    std::memset(payload, 5, payloadBytes);
    posenc_prepared_finish(&frame, buffer);
    call.prepared = buffer;
  }

  posenc_status begin() {
    return posenc_prepared_begin(&frame, buffer, sizeof(buffer), payloadBytes,
                                 &payload);
  }

  alignas(64) char buffer[64 + payloadBytes];
  char *payload = nullptr;
};

TEST_F(PreparedTest, Accepted) {
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(payload, frame.prepared);
  EXPECT_EQ(5, frame.prepared[payloadBytes - 1]);
}

TEST_F(PreparedTest, TotalBytes) {
  EXPECT_EQ(64u, posenc_prepared_total_bytes(0));
  EXPECT_EQ(320u, posenc_prepared_total_bytes(256));
  EXPECT_EQ(SIZE_MAX, posenc_prepared_total_bytes(-1));
  EXPECT_EQ(SIZE_MAX, posenc_prepared_total_bytes(INT64_MAX - 63));
  EXPECT_EQ(static_cast<size_t>(INT64_MAX),
            posenc_prepared_total_bytes(INT64_MAX - 64));
}

TEST_F(PreparedTest, BuffersThatCannotBeFilled) {
  char *out = payload;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_prepared_begin(&frame, nullptr, 1000, 8, &out));
  EXPECT_STREQ("fake: buffer is NULL", posenc_last_error());
  EXPECT_EQ(nullptr, out);
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_prepared_begin(&frame, buffer, 319, 256, &out));
  EXPECT_TRUE(lastErrorHas("319 bytes, but must have 320"))
      << posenc_last_error();
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_prepared_begin(&frame, buffer + 4, 316, 8, &out));
  EXPECT_TRUE(lastErrorHas("aligned to 8 bytes")) << posenc_last_error();
  EXPECT_EQ(POSENC_OVERFLOW,
            posenc_prepared_begin(&frame, buffer, SIZE_MAX, -1, &out));
  // All of that left the old contents alone.
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(PreparedTest, UnfinishedIsRefused) {
  ASSERT_EQ(POSENC_OK, begin());
  expectFailure(POSENC_INVALID_ARGUMENT,
                {"call->prepared is not a prepared buffer"});
}

TEST_F(PreparedTest, NotAPreparedBuffer) {
  std::memset(buffer, 0x5a, sizeof(buffer));
  expectFailure(POSENC_INVALID_ARGUMENT, {"not a prepared buffer"});
  call.prepared = buffer + 1;
  expectFailure(POSENC_INVALID_ARGUMENT, {"aligned to 8 bytes"});
}

TEST_F(PreparedTest, OtherKernel) {
  desc.fingerprint += UINT64_C(1) << 50;
  expectFailure(POSENC_INVALID_ARGUMENT, {"another kernel"});
}

TEST_F(PreparedTest, OtherInstructionSet) {
  variants[0].requires_ = 0;
  expectFailure(POSENC_INVALID_ARGUMENT,
                {"another instruction set than x86-64-future"});
}

TEST_F(PreparedTest, OtherBatch) {
  q.shape[0] = k.shape[0] = v.shape[0] = o.shape[0] = 1;
  expectFailure(POSENC_INVALID_ARGUMENT, {"made for B = 2", "call has 1"});
}

TEST_F(PreparedTest, OtherHeads) {
  q.shape[1] = o.shape[1] = bias.shape[0] = table.shape[1] = 4;
  k.shape[1] = v.shape[1] = 1;
  expectFailure(POSENC_INVALID_ARGUMENT, {"made for H = 8", "call has 4"});
}

TEST_F(PreparedTest, OtherLengths) {
  q.shape[2] = o.shape[2] = bias.shape[1] = 2;
  expectFailure(POSENC_INVALID_ARGUMENT, {"made for Lq = 3", "call has 2"});
  q.shape[2] = o.shape[2] = bias.shape[1] = 3;
  k.shape[2] = v.shape[2] = bias.shape[2] = 6;
  expectFailure(POSENC_INVALID_ARGUMENT, {"made for Lk = 7", "call has 6"});
}

// Tokens before the call are in its state; tables that depend on their number
// have the hash of it.
TEST_F(PreparedTest, EarlierTokensOfAState) {
  desc.flags = POSENC_KERNEL_STATE;
  ASSERT_EQ(POSENC_OK, prepare()) << posenc_last_error();
  ASSERT_EQ(POSENC_OK, begin()) << posenc_last_error();
  posenc_prepared_finish(&frame, buffer);
  k.shape[2] = v.shape[2] = bias.shape[2] = 6;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  q.shape[2] = o.shape[2] = bias.shape[1] = 2;
  expectFailure(POSENC_INVALID_ARGUMENT, {"made for Lq = 3", "call has 2"});
}

} // namespace
