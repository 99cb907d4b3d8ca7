// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How rows are cut into tiles.
#include "DriverTiling.h"

#include <gtest/gtest.h>

using namespace posenc;

static std::vector<unsigned> cut(llvm::ArrayRef<int64_t> rows, int64_t left) {
  return RowCut("k", rows, 0).getCut(left).vec();
}

TEST(RowCut, LeavesTheLeastPadding) {
  using Cut = std::vector<unsigned>;
  EXPECT_EQ(cut({48, 32}, 1), Cut({1}));
  EXPECT_EQ(cut({48, 32}, 32), Cut({1}));
  EXPECT_EQ(cut({48, 32}, 33), Cut({0}));
  EXPECT_EQ(cut({48, 32}, 48), Cut({0}));
  EXPECT_EQ(cut({48, 32}, 49), Cut({1, 1}));
  EXPECT_EQ(cut({48, 32}, 64), Cut({1, 1}));
  EXPECT_EQ(cut({48, 32}, 65), Cut({0, 1}));
  EXPECT_EQ(cut({48, 32}, 81), Cut({0, 0}));
  EXPECT_EQ(cut({48, 32}, 95), Cut({0, 0}));
}

TEST(RowCut, CoversEveryLengthWithOneHeight) {
  for (int64_t left = 1; left < 48; ++left)
    EXPECT_EQ(cut({24}, left).size(), size_t(left + 23) / 24);
}
