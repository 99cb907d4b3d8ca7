// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc_dropout_mask: known words, layouts, threads, and every wrong call.
#include "FailingAllocator.h"

#include "posenc/kernel_abi.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace posenc_test;

/// A mask in memory of its own.
struct Mask {
  explicit Mask(std::vector<int64_t> extents, std::vector<int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {
    int64_t span = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      span = strides.empty() ? span * shape[i]
                             : span + (shape[i] - 1) * strides[i];
    memory.assign(static_cast<size_t>(span), 0xa5);
    tensor.data = memory.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = {kDLUInt, 8, 1};
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
  }
  Mask(const Mask &) = delete;
  Mask &operator=(const Mask &) = delete;

  uint8_t at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (strides.empty())
      return memory[static_cast<size_t>(
          ((b * shape[1] + h) * shape[2] + i) * shape[3] + j)];
    return memory[static_cast<size_t>(b * strides[0] + h * strides[1] +
                                      i * strides[2] + j * strides[3])];
  }

  std::vector<int64_t> shape, strides;
  std::vector<uint8_t> memory;
  DLTensor tensor = {};
};

posenc_call makeCall(uint64_t seed, uint64_t offset) {
  posenc_call call = POSENC_CALL_INIT;
  call.seed = seed;
  call.offset = offset;
  return call;
}

// The known answers of the paper's authors: their counters 0, all ones and the
// digits of pi are what an offset, a batch entry and a head make.
TEST(DropoutTest, WordsOfHeads) {
  posenc_frame frame = {};
  EXPECT_EQ(posenc_kernel_dropout(&frame, 0, 0), 0xe169c58d6627e8d5u);
  frame.seed = frame.offset = ~uint64_t{0};
  EXPECT_EQ(posenc_kernel_dropout(&frame, -1, -1), 0x41c83b0e408f276du);
  frame.seed = uint64_t{0x299f31d0} << 32 | 0xa4093822;
  frame.offset = uint64_t{0x85a308d3} << 32 | 0x243f6a88;
  frame.first_head = 0x03707000;
  EXPECT_EQ(posenc_kernel_dropout(&frame, 0x13198a2e, 0x344),
            uint64_t{0x94fdcceb} << 32 | 0xd16cfe09);
}

TEST(DropoutTest, StridesAndThreadsDoNotMatter) {
  posenc_call call = makeCall(3, 4);
  Mask compact({2, 3, 5, 9});
  ASSERT_EQ(POSENC_OK, posenc_dropout_mask(0.5, 0, &call, &compact.tensor));
  // [Lq, B, H, Lk] with gaps.
  Mask spread({2, 3, 5, 9}, {70, 20, 150, 2});
  posenc_pool *pool = nullptr;
  ASSERT_EQ(POSENC_OK, posenc_pool_create(3, &pool));
  call.pool = pool;
  ASSERT_EQ(POSENC_OK, posenc_dropout_mask(0.5, 0, &call, &spread.tensor));
  posenc_pool_destroy(pool);
  int64_t kept = 0;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 9; ++j) {
          EXPECT_EQ(compact.at(b, h, i, j), spread.at(b, h, i, j));
          EXPECT_LE(compact.at(b, h, i, j), 1);
          kept += compact.at(b, h, i, j);
        }
  EXPECT_GT(kept, 80);
  EXPECT_LT(kept, 190);
  for (int64_t gap : {1, 17, 149})
    EXPECT_EQ(0xa5, spread.memory[static_cast<size_t>(gap)]);
}

TEST(DropoutTest, ProbabilitiesAtTheEnds) {
  Mask mask({1, 1, 20, 50});
  ASSERT_EQ(POSENC_OK, posenc_dropout_mask(0, 0, nullptr, &mask.tensor));
  EXPECT_EQ(std::vector<uint8_t>(1000, 1), mask.memory);
  // Below 1, but above the largest number.
  ASSERT_EQ(POSENC_OK,
            posenc_dropout_mask(1 - 0x1p-40, 0, nullptr, &mask.tensor));
  EXPECT_EQ(std::vector<uint8_t>(1000, 0), mask.memory);
}

TEST(DropoutTest, EmptyMasksNeedNoData) {
  for (size_t axis = 0; axis < 4; ++axis) {
    std::vector<int64_t> shape = {2, 2, 2, 2};
    shape[axis] = 0;
    Mask mask(shape);
    mask.tensor.data = nullptr;
    EXPECT_EQ(POSENC_OK, posenc_dropout_mask(0.5, 0, nullptr, &mask.tensor));
  }
}

TEST(DropoutTest, NothingIsAllocated) {
  Mask mask({2, 2, 3, 3});
  FailingAllocator allocator(1);
  EXPECT_EQ(POSENC_OK, posenc_dropout_mask(0.5, 0, nullptr, &mask.tensor));
  EXPECT_EQ(0, allocator.requests());
}

class DropoutErrorsTest : public ::testing::Test {
protected:
  void expect(posenc_status status, const std::string &sentence) {
    EXPECT_EQ(status,
              posenc_dropout_mask(probability, firstBatch, &call, tensor));
    EXPECT_EQ("posenc_dropout_mask: " + sentence, posenc_last_error());
    EXPECT_EQ(std::vector<uint8_t>(mask.memory.size(), 0xa5), mask.memory);
  }

  double probability = 0.5;
  int64_t firstBatch = 0;
  posenc_call call = makeCall(1, 2);
  Mask mask{{1, 2, 3, 4}, {24, 12, 4, 1}};
  DLTensor *tensor = &mask.tensor;
};

TEST_F(DropoutErrorsTest, Numbers) {
  const char *const rule = ", but must be at least 0 and below 1";
  for (double wrong : {1.0, -0.5}) {
    probability = wrong;
    expect(POSENC_OUT_OF_RANGE,
           "probability is " + std::string(wrong == 1 ? "1" : "-0.5") + rule);
  }
  probability = 0.0 / 0.0;
  EXPECT_EQ(POSENC_OUT_OF_RANGE,
            posenc_dropout_mask(probability, 0, &call, tensor));
  probability = 0.5;
  firstBatch = -1;
  expect(POSENC_OUT_OF_RANGE, "first_batch is -1, but must be from 0 to 2^30");
  firstBatch = 0;
  call.first_head = -3;
  expect(POSENC_OUT_OF_RANGE,
         "call->first_head is -3, but must not be negative");
}

TEST_F(DropoutErrorsTest, Tensors) {
  tensor = nullptr;
  expect(POSENC_INVALID_ARGUMENT, "mask is NULL");
  tensor = &mask.tensor;
  mask.tensor.ndim = 3;
  expect(POSENC_SHAPE_MISMATCH, "mask has rank 3, but must have 4");
  mask.tensor.ndim = 4;
  mask.tensor.dtype = {kDLFloat, 32, 1};
  expect(POSENC_DTYPE_MISMATCH, "mask is float32, but must be uint8");
  mask.tensor.dtype = {kDLUInt, 8, 1};
  mask.strides[2] = 3;
  expect(POSENC_STRIDE_UNSUPPORTED,
         "mask has stride 3 on axis 2, but must have more than 3: elements of "
         "an output must not overlap");
  mask.strides[2] = 4;
  mask.tensor.device.device_type = kDLCUDA;
  expect(POSENC_NO_DEVICE, "mask is on device type 2, but must be on the CPU");
  mask.tensor.device.device_type = kDLCPU;
  mask.shape[1] = -1;
  expect(POSENC_INVALID_ARGUMENT,
         "mask has extent -1 on axis 1, but extents must not be negative");
  mask.shape[1] = 2;
  mask.tensor.data = nullptr;
  expect(POSENC_INVALID_ARGUMENT,
         "the data of mask is NULL, but it has elements");
}

TEST_F(DropoutErrorsTest, Options) {
  call.size = 1;
  EXPECT_EQ(POSENC_INVALID_ARGUMENT,
            posenc_dropout_mask(probability, firstBatch, &call, tensor));
}

} // namespace
