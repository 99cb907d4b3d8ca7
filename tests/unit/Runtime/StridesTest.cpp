// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_kernel_enter: strides, overlap and sizes at the limits.
#include "FakeKernel.h"

namespace {

using namespace posenc_test;

class StridesTest : public FakeKernel {
protected:
  static constexpr int64_t largest = INT64_C(1) << 30;
};

TEST_F(StridesTest, OtherLayouts) {
  q.setStrides({384, 16, 128, 1}); // [B, L, H, D]
  o.setStrides({96, 4, 32, 1});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(128, frame.tensors[Q].stride[2]);
  EXPECT_EQ(32, frame.tensors[O].stride[2]);
}

TEST_F(StridesTest, BroadcastInput) {
  k.setStrides({0, 112, 16, 1});
  bias.setStrides({0, 0, 0});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.tensors[K].stride[0]);
}

TEST_F(StridesTest, NegativeStride) {
  k.setStrides({224, 112, -16, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"k has stride -16 on axis 2", "negative"});
}

TEST_F(StridesTest, LastAxisMustBeContiguous) {
  k.setStrides({448, 224, 32, 2});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"k has stride 2 on axis 3", "must be 1"});
  // The bias has no such flag.
  k.value.strides = nullptr;
  bias.setStrides({21, 1, 3});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(StridesTest, FixedAxesFitIn32Bits) {
  table.setStrides({(INT64_C(1) << 29) - 1, 1}); // 5 rows
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  table.setStrides({INT64_C(1) << 29, 1});
  expectFailure(
      POSENC_STRIDE_UNSUPPORTED,
      {"t5_bias.table has stride 536870912 on axis 0", "longer than 2^31 - 1"});
}

TEST_F(StridesTest, StridesOfSingleElementsMeanNothing) {
  const int64_t garbage = INT64_MIN;
  tensors[V].axes[3].value = tensors[O].axes[3].value = 1;
  v.shape[3] = o.shape[3] = 1;
  q.shape[2] = o.shape[2] = bias.shape[1] = 1;
  v.setStrides({14, 7, 1, garbage});
  o.setStrides({8, 1, garbage, garbage});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(1, frame.tensors[V].stride[3]);
  EXPECT_EQ(1, frame.tensors[O].stride[3]);
  EXPECT_EQ(0, frame.tensors[O].stride[2]);
}

TEST_F(StridesTest, EmptyTensorsMayHaveAnyStrides) {
  k.shape[2] = v.shape[2] = bias.shape[2] = 0;
  k.setStrides({INT64_MAX, -1, 0, 5});
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.tensors[K].stride[0]);
}

TEST_F(StridesTest, OutputsMustNotBeBroadcast) {
  o.setStrides({0, 12, 4, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"o has stride 0 on axis 0", "outputs"});
}

TEST_F(StridesTest, OutputsMustNotOverlap) {
  o.setStrides({96, 12, 3, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"o has stride 3 on axis 2", "more than 3", "overlap"});
  o.setStrides({95, 12, 4, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"o has stride 95 on axis 0", "more than 95"});
  o.setStrides({12, 12, 4, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED, {"o has stride 12", "overlap"});
  o.setStrides({12, 24, 4, 1}); // [H, B, L, D]
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(StridesTest, RowStridesFitInt32) {
  const int64_t limit = INT64_C(0x7fffffff);
  k.setStrides({16, 16, limit, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  k.setStrides({16, 16, limit + 1, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"k has stride 2147483648 on axis 2", "2^31 - 1"});
  // Batches and heads may be further apart.
  k.setStrides({limit * 100, 16, 16, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(StridesTest, SpanOverflows) {
  k.setStrides({INT64_MAX, 112, 16, 1});
  expectFailure(POSENC_OVERFLOW, {"k spans more bytes"});
  k.setStrides({INT64_MAX / 4, 112, 16, 1});
  expectFailure(POSENC_OVERFLOW, {"k spans more bytes"});
  k.setStrides({112, INT64_MAX / 2, 16, 1});
  expectFailure(POSENC_OVERFLOW, {"k spans more bytes"});
}

TEST_F(StridesTest, LargestSpan) {
  // (2 - 1) * stride + 1 floats, which end below address 2^64.
  k.setStrides({INT64_MAX / 4 - 1 - 111 - 112, 112, 16, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(StridesTest, AddressOverflows) {
  q.value.byte_offset = UINT64_MAX - 63;
  expectFailure(POSENC_OVERFLOW, {"q spans more bytes"});
}

TEST_F(StridesTest, CompactSizeOverflows) {
  bias.shape[0] = 1;
  q.shape[2] = o.shape[2] = bias.shape[1] = largest;
  k.shape[2] = v.shape[2] = bias.shape[2] = largest;
  q.setStrides({0, 0, 16, 1});
  k.setStrides({0, 0, 16, 1});
  v.setStrides({0, 0, 16, 1});
  // 2^60 floats fit, but not for eight heads.
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  bias.shape[0] = 8;
  expectFailure(POSENC_OVERFLOW, {"bias spans more bytes"});
}

TEST_F(StridesTest, WorkOverflowsAlthoughInputsAreBroadcast) {
  q.shape[0] = k.shape[0] = v.shape[0] = o.shape[0] = largest;
  k.shape[2] = v.shape[2] = bias.shape[2] = largest;
  q.setStrides({0, 48, 16, 1});
  k.setStrides({0, 0, 0, 1});
  v.setStrides({0, 0, 0, 1});
  bias.setStrides({0, 0, 0});
  expectFailure(POSENC_OVERFLOW,
                {"B = 1073741824", "Lk = 1073741824", "64 bits"});
  EXPECT_EQ(POSENC_OVERFLOW, prepare(false));
}

} // namespace
