// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_kernel_enter: descriptions, args, shapes, types, devices and heads.
#include "FakeKernel.h"

namespace {

using namespace posenc_test;

class ArgumentsTest : public FakeKernel {
protected:
  void setLength(int64_t lq, int64_t lk) {
    q.shape[2] = o.shape[2] = bias.shape[1] = lq;
    k.shape[2] = v.shape[2] = bias.shape[2] = lk;
  }
  void setHeads(int64_t h, int64_t hkv) {
    q.shape[1] = o.shape[1] = bias.shape[0] = table.shape[1] = h;
    k.shape[1] = v.shape[1] = hkv;
  }
};

TEST_F(ArgumentsTest, FillsTheFrame) {
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(&desc, frame.desc);
  EXPECT_EQ(&call, frame.call);
  EXPECT_EQ(2, frame.batch);
  EXPECT_EQ(8, frame.heads);
  EXPECT_EQ(2, frame.kv_heads);
  EXPECT_EQ(3, frame.query_len);
  EXPECT_EQ(7, frame.key_len);
  EXPECT_EQ(0, frame.first_head);
  EXPECT_EQ(1, frame.workers);
  EXPECT_EQ(nullptr, frame.prepared);
  EXPECT_EQ(nullptr, frame.owned);
  const posenc_view &view = frame.tensors[K];
  EXPECT_EQ(k.value.data, view.data);
  const int64_t extents[] = {2, 2, 7, 16}, strides[] = {224, 112, 16, 1};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(extents[i], view.extent[i]);
    EXPECT_EQ(strides[i], view.stride[i]);
  }
}

TEST_F(ArgumentsTest, ByteOffsetCounts) {
  q.value.byte_offset = 64;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(static_cast<char *>(q.value.data) + 64, frame.tensors[Q].data);
}

TEST_F(ArgumentsTest, KernelOfAnotherAbi) {
  desc.abi = POSENC_KERNEL_ABI + 1;
  expectFailure(POSENC_VERSION_MISMATCH, {"kernel ABI 7", "ABI 6"});
}

TEST_F(ArgumentsTest, MalformedDescriptions) {
  auto expectMalformed = [this](const char *what) {
    expectFailure(POSENC_INTERNAL, {"fake", what});
  };
  desc.tensor_count = POSENC_MAX_TENSORS + 1;
  expectMalformed("tensors");
  desc.tensor_count = COUNT;
  desc.variant_count = 0;
  expectMalformed("variants");
  desc.variant_count = 1;
  desc.heads = 7;
  expectMalformed("heads");
  desc.heads = 8;
  tensors[V].rank = POSENC_MAX_RANK + 1;
  expectMalformed("rank");
  tensors[V].rank = 4;
  tensors[V].dtype_bits = 4;
  expectMalformed("element type");
  tensors[V].dtype_bits = 32;
  tensors[V].axes[1].kind = POSENC_AXIS_LAST + 1;
  expectMalformed("axis");
  tensors[V].axes[1] = {POSENC_AXIS_KV_HEADS, POSENC_MAX_RANK, 0};
  expectMalformed("axis");
}

TEST_F(ArgumentsTest, ArgsSize) {
  args.size = 0;
  expectFailure(POSENC_INVALID_ARGUMENT, {"args->size is 0", "56"});
  args.size = sizeof(args) - sizeof(void *);
  expectFailure(POSENC_VERSION_MISMATCH, {"args->size is 48", "56 bytes"});
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_kernel_enter(&desc, nullptr, &call, &frame));
  EXPECT_STREQ("fake: args is NULL", posenc_last_error());
}

TEST_F(ArgumentsTest, AbsentTensors) {
  args.tensors[BIAS] = nullptr;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(nullptr, frame.tensors[BIAS].data);
  args.tensors[TABLE] = nullptr;
  expectFailure(POSENC_INVALID_ARGUMENT, {"t5_bias.table is NULL"});
}

TEST_F(ArgumentsTest, Rank) {
  k.value.ndim = 3;
  expectFailure(POSENC_SHAPE_MISMATCH, {"k has rank 3", "must have 4"});
}

TEST_F(ArgumentsTest, MissingShape) {
  v.value.shape = nullptr;
  expectFailure(POSENC_INVALID_ARGUMENT, {"shape of v is NULL"});
}

TEST_F(ArgumentsTest, ExtentsOutOfRange) {
  v.shape[3] = -1;
  expectFailure(POSENC_INVALID_ARGUMENT,
                {"v has extent -1 on axis 3", "negative"});
  v.shape[3] = (INT64_C(1) << 30) + 1;
  expectFailure(POSENC_OUT_OF_RANGE,
                {"v has extent 1073741825 on axis 3", "2^30"});
}

TEST_F(ArgumentsTest, ConstantExtent) {
  k.shape[3] = 17;
  expectFailure(POSENC_SHAPE_MISMATCH,
                {"fake: k has extent 17 on axis 3, but must have 16"});
}

TEST_F(ArgumentsTest, SymbolicExtents) {
  v.shape[2] = 6;
  expectFailure(POSENC_SHAPE_MISMATCH, {"fake: v has extent 6 on axis 2 (Lk), "
                                        "but must have 7 like axis 2 of k"});
  v.shape[2] = 7;
  o.shape[0] = 1;
  expectFailure(
      POSENC_SHAPE_MISMATCH,
      {"o has extent 1 on axis 0 (B), but must have 2 like axis 0 of q"});
  o.shape[0] = 2;
  o.shape[2] = 4;
  expectFailure(
      POSENC_SHAPE_MISMATCH,
      {"o has extent 4 on axis 2 (Lq), but must have 3 like axis 2 of q"});
}

TEST_F(ArgumentsTest, HeadsOrOne) {
  bias.shape[0] = 1;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.tensors[BIAS].stride[0]);
  EXPECT_EQ(7, frame.tensors[BIAS].stride[1]);
  bias.shape[0] = 2;
  expectFailure(POSENC_SHAPE_MISMATCH,
                {"bias has extent 2 on axis 0", "must have 1 or H = 8"});
}

TEST_F(ArgumentsTest, HeadsOrOneBeforeHeads) {
  std::swap(tensors[Q], tensors[BIAS]);
  std::swap(args.tensors[Q], args.tensors[BIAS]);
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  bias.shape[0] = 3;
  expectFailure(POSENC_SHAPE_MISMATCH, {"bias", "H = 8"});
}

TEST_F(ArgumentsTest, ContiguousSharedHeadStillGetsStrideZero) {
  describe(TABLE, "table", POSENC_TENSOR_UNIT_STRIDE,
           {constant(5), symbol(POSENC_AXIS_HEADS_OR_1)});
  table.shape[1] = 1;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(1, frame.tensors[TABLE].stride[0]);
  EXPECT_EQ(0, frame.tensors[TABLE].stride[1]);
}

TEST_F(ArgumentsTest, Shards) {
  setHeads(4, 1);
  call.first_head = 4;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(4, frame.first_head);
  EXPECT_EQ(4, frame.heads);
  EXPECT_EQ(1, frame.kv_heads);
  call.first_head = 8;
  expectFailure(POSENC_OUT_OF_RANGE, {"first_head is 8", "0 .. 4", "H = 4"});
  call.first_head = -4;
  expectFailure(POSENC_OUT_OF_RANGE, {"first_head is -4"});
  call.first_head = 2;
  expectFailure(POSENC_OUT_OF_RANGE, {"first_head is 2", "multiple of 4"});
  setHeads(0, 0);
  call.first_head = 8;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(ArgumentsTest, WrongHeads) {
  setHeads(12, 3);
  expectFailure(POSENC_SHAPE_MISMATCH, {"q has 12 heads", "kernel has 8"});
  setHeads(8, 3);
  expectFailure(POSENC_SHAPE_MISMATCH, {"k has 3 heads", "key/value"});
  setHeads(8, 1);
  expectFailure(POSENC_SHAPE_MISMATCH, {"k has 1 heads on axis 1",
                                        "q has 8 on axis 1", "4 query heads"});
}

TEST_F(ArgumentsTest, OnlyOneKindOfHeads) {
  desc.tensor_count = 1;
  args.size = sizeof(size_t) + sizeof(void *);
  q.shape[1] = 6;
  expectFailure(POSENC_SHAPE_MISMATCH, {"q has 6 heads", "multiple of 4"});
  tensors[0] = tensors[K];
  args.tensors[0] = &k.value;
  k.shape[1] = 1;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(4, frame.heads);
  EXPECT_EQ(1, frame.kv_heads);
  EXPECT_EQ(0, frame.query_len);
}

TEST_F(ArgumentsTest, NoHeadsAtAll) {
  desc.tensor_count = 1;
  args.size = sizeof(size_t) + sizeof(void *);
  describe(0, "x", 0, {symbol(POSENC_AXIS_QUERY_LEN), constant(16)});
  Tensor x({9, 16}, f32);
  args.tensors[0] = &x.value;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(1, frame.batch);
  EXPECT_EQ(8, frame.heads);
  EXPECT_EQ(2, frame.kv_heads);
  EXPECT_EQ(9, frame.query_len);
  EXPECT_EQ(0, frame.key_len);
}

TEST_F(ArgumentsTest, ElementTypes) {
  v.value.dtype.code = kDLBfloat;
  v.value.dtype.bits = 16;
  expectFailure(POSENC_DTYPE_MISMATCH,
                {"fake: v is bfloat16, but must be float32"});
  v.value.dtype = {kDLFloat, 32, 4};
  expectFailure(POSENC_DTYPE_MISMATCH, {"v is float32x4"});
  v.value.dtype = {200, 8, 1};
  expectFailure(POSENC_DTYPE_MISMATCH, {"v is type code 200 with 8 bits"});
}

TEST_F(ArgumentsTest, Devices) {
  q.value.device.device_type = kDLCUDA;
  expectFailure(POSENC_NO_DEVICE,
                {"q is on device type 2, but must be on the CPU"});
}

TEST_F(ArgumentsTest, NullData) {
  k.value.data = nullptr;
  expectFailure(POSENC_INVALID_ARGUMENT, {"data of k is NULL"});
}

TEST_F(ArgumentsTest, EmptyTensorsNeedNoData) {
  setLength(3, 0);
  k.value.data = v.value.data = bias.value.data = nullptr;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(0, frame.key_len);
  EXPECT_NE(nullptr, frame.tensors[BIAS].data);
  setLength(0, 0);
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(ArgumentsTest, Alignment) {
  q.value.byte_offset = 2;
  expectFailure(POSENC_INVALID_ARGUMENT, {"data of q", "aligned", "4-byte"});
}

TEST_F(ArgumentsTest, AllHeads) {
  desc.flags = POSENC_KERNEL_ALL_HEADS;
  tensors[Q].flags |= POSENC_TENSOR_ALL_HEADS;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  EXPECT_EQ(POSENC_OK, prepare()) << posenc_last_error();
  // Heads must lie within 2^30 elements.
  q.setStrides({0, (INT64_C(1) << 30) / 7, 16, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  q.setStrides({0, (INT64_C(1) << 30) / 7 + 1, 16, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"q has stride", "axis 1", "2^30", "all heads"});
  q.value.strides = nullptr;
  q.shape[1] = o.shape[1] = bias.shape[0] = table.shape[1] = 4;
  k.shape[1] = v.shape[1] = 1;
  expectFailure(POSENC_SHAPE_MISMATCH, {"H = 4 heads", "all 8"});
  EXPECT_EQ(POSENC_SHAPE_MISMATCH, prepare());
  desc.flags = 0;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
}

TEST_F(ArgumentsTest, OneRun) {
  desc.flags = POSENC_KERNEL_ONE_RUN;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  v.setStrides({0, 0, (INT64_C(1) << 30) / 6 + 1, 1});
  expectFailure(POSENC_STRIDE_UNSUPPORTED,
                {"v has stride", "axis 2", "2^30", "all keys"});
  v.setStrides({0, 0, 0, 1});
  k.setStrides({0, 0, 0, 1});
  args.tensors[BIAS] = nullptr;
  setLength(3, INT64_C(1) << 22);
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  setLength(3, (INT64_C(1) << 22) + 1);
  expectFailure(POSENC_OUT_OF_RANGE, {"Lk is 4194305", "2^22"});
}

TEST_F(ArgumentsTest, Positions) {
  // Two axes, three batch entries, seven keys; the batch entries are one.
  Tensor positions({2, 2, 7}, {kDLInt, 32, 1});
  describe(
      BIAS, "grid", POSENC_TENSOR_POSITIONS | POSENC_TENSOR_UNIT_STRIDE,
      {constant(2), symbol(POSENC_AXIS_BATCH), symbol(POSENC_AXIS_KEY_LEN)});
  tensors[BIAS].dtype_code = kDLInt;
  args.tensors[BIAS] = &positions.value;
  auto *numbers = static_cast<int32_t *>(positions.value.data);
  numbers[0] = -(1 << 30);
  numbers[27] = (1 << 30) - 1;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  numbers[27] = 1 << 30;
  expectFailure(POSENC_OUT_OF_RANGE,
                {"grid holds 1073741824 for token 6", "-2^30 to 2^30 - 1"});
  // Only what is there is looked at.
  positions.setStrides({14, 0, 1});
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  numbers[14] = -(1 << 30) - 1;
  expectFailure(POSENC_OUT_OF_RANGE, {"grid holds -1073741825 for token 0"});
  // NAME_prepare looks at what it reads.
  EXPECT_EQ(POSENC_OK, prepare()) << posenc_last_error();
  tensors[BIAS].flags |= POSENC_TENSOR_PREPARE;
  EXPECT_EQ(POSENC_OUT_OF_RANGE, prepare());
  EXPECT_EQ(POSENC_OK, prepare(false)) << posenc_last_error();
}

TEST_F(ArgumentsTest, LongPositions) {
  Tensor positions({2, 2, 7}, {kDLInt, 64, 1});
  describe(
      BIAS, "grid", POSENC_TENSOR_POSITIONS | POSENC_TENSOR_UNIT_STRIDE,
      {constant(2), symbol(POSENC_AXIS_BATCH), symbol(POSENC_AXIS_KEY_LEN)});
  tensors[BIAS].dtype_code = kDLInt;
  args.tensors[BIAS] = &positions.value;
  auto *numbers = static_cast<int64_t *>(positions.value.data);
  numbers[0] = -(1 << 30);
  numbers[8] = -5;
  numbers[27] = (1 << 30) - 1;
  ASSERT_EQ(POSENC_OK, enter()) << posenc_last_error();
  // Kernels see int32.
  const posenc_view &view = frame.tensors[BIAS];
  auto at = [&](int64_t axis, int64_t b, int64_t j) {
    return reinterpret_cast<const int32_t *>(
        view.data)[axis * view.stride[0] + b * view.stride[1] +
                   j * view.stride[2]];
  };
  EXPECT_EQ(-(1 << 30), at(0, 0, 0));
  EXPECT_EQ(-5, at(0, 1, 1));
  EXPECT_EQ((1 << 30) - 1, at(1, 1, 6));
  for (int64_t wrong : {INT64_C(1) << 30, -(INT64_C(1) << 30) - 1,
                        INT64_C(1) << 32, INT64_MAX, INT64_MIN}) {
    numbers[27] = wrong;
    expectFailure(POSENC_OUT_OF_RANGE,
                  {("grid holds " + std::to_string(wrong)).c_str(),
                   "for token 6", "-2^30 to 2^30 - 1"});
  }
  numbers[27] = 0;
  positions.value.byte_offset = 4;
  expectFailure(POSENC_INVALID_ARGUMENT, {"aligned to its 8-byte elements"});
  positions.value.byte_offset = 0;
  positions.value.dtype = {kDLUInt, 64, 1};
  expectFailure(POSENC_DTYPE_MISMATCH,
                {"grid is uint64, but must be int32 or int64"});
  // Nothing else may be int64.
  positions.value.dtype = {kDLInt, 64, 1};
  tensors[BIAS].flags = POSENC_TENSOR_UNIT_STRIDE;
  expectFailure(POSENC_DTYPE_MISMATCH, {"grid is int64, but must be int32"});
}

TEST_F(ArgumentsTest, QueriesAmongKeys) {
  desc.flags = POSENC_KERNEL_QUERIES_AMONG_KEYS;
  EXPECT_EQ(POSENC_OK, enter()) << posenc_last_error();
  k.shape[2] = v.shape[2] = bias.shape[2] = 2;
  expectFailure(POSENC_OUT_OF_RANGE, {"Lq is 3", "at most Lk = 2"});
}

TEST_F(ArgumentsTest, PrepareLooksOnlyAtWhatItNeeds) {
  o.value.ndim = 1;
  q.value.data = nullptr;
  q.value.device.device_type = kDLCUDA;
  k.value.dtype.bits = 16;
  ASSERT_EQ(POSENC_OK, prepare()) << posenc_last_error();
  EXPECT_EQ(nullptr, frame.call);
  EXPECT_EQ(1, frame.workers);
  EXPECT_EQ(7, frame.key_len);
  EXPECT_EQ(table.value.data, frame.tensors[TABLE].data);
  EXPECT_EQ(nullptr, frame.tensors[Q].data);
  EXPECT_EQ(3, frame.tensors[Q].extent[2]);
  args.tensors[O] = nullptr;
  EXPECT_EQ(POSENC_OK, prepare()) << posenc_last_error();

  table.value.data = nullptr;
  EXPECT_EQ(POSENC_OK, prepare(false)) << posenc_last_error();
  EXPECT_EQ(POSENC_INVALID_ARGUMENT, prepare());
  EXPECT_TRUE(lastErrorHas("t5_bias.table is NULL")) << posenc_last_error();
  k.shape[2] = 6;
  EXPECT_EQ(POSENC_SHAPE_MISMATCH, prepare(false));
}

} // namespace
