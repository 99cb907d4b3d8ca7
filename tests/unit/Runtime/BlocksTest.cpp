// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which keys lists of blocks leave out.
#include "posenc/kernel_abi.h"

#include <gtest/gtest.h>

#include <vector>

namespace {
/// One batch entry and head; blocks of 2 queries and 4 keys.
class Blocks : public ::testing::Test {
protected:
  Blocks() {
    tensors[0].name = "blocks.offsets";
    tensors[0].rank = 3;
    tensors[0].flags = POSENC_TENSOR_BLOCK_OFFSETS;
    tensors[0].axes[2] = {POSENC_AXIS_BLOCK_BOUNDS, 2, 2};
    tensors[1].name = "blocks.indices";
    tensors[1].rank = 1;
    tensors[1].flags = POSENC_TENSOR_BLOCK_INDICES;
    tensors[1].axes[0] = {POSENC_AXIS_BLOCKS, 0, 4};
    desc.tensors = tensors;
    desc.tensor_count = 2;
    frame.desc = &desc;
    frame.tensors[0].data = reinterpret_cast<char *>(offsets);
    frame.tensors[0].stride[2] = 1;
    frame.tensors[1].data = reinterpret_cast<char *>(indices);
    frame.tensors[1].stride[0] = 1;
  }

  int64_t next(int64_t query, int64_t key, int64_t end, bool hidden) {
    return posenc_kernel_next_listed(&frame, 7, 5, query, key, end, hidden);
  }

  int32_t offsets[4] = {0, 3, 3, 4}, indices[4] = {1, 2, 5, 0};
  posenc_tensor_desc tensors[2] = {};
  posenc_kernel_desc desc = {};
  posenc_frame frame = {};
};
} // namespace

TEST_F(Blocks, FindsTheNextListedKey) {
  EXPECT_EQ(next(0, 0, 100, false), 4);
  EXPECT_EQ(next(1, 4, 100, false), 4);
  EXPECT_EQ(next(0, 6, 100, false), 6);
  EXPECT_EQ(next(0, 12, 100, false), 20);
  EXPECT_EQ(next(0, 23, 100, false), 23);
  EXPECT_EQ(next(0, 24, 100, false), 100);
  EXPECT_EQ(next(0, 12, 18, false), 18);
}

TEST_F(Blocks, FindsTheNextKeyThatIsNotListed) {
  EXPECT_EQ(next(0, 0, 100, true), 0);
  EXPECT_EQ(next(0, 5, 100, true), 12); // two blocks one after the other
  EXPECT_EQ(next(1, 20, 100, true), 24);
  EXPECT_EQ(next(0, 20, 22, true), 22);
  EXPECT_EQ(next(0, 13, 100, true), 13);
}

TEST_F(Blocks, KnowsTheQuerysBlock) {
  EXPECT_EQ(next(2, 0, 100, false), 100);
  EXPECT_EQ(next(3, 9, 100, true), 9);
  EXPECT_EQ(next(4, 0, 100, false), 0);
  EXPECT_EQ(next(5, 2, 100, true), 4);
}
