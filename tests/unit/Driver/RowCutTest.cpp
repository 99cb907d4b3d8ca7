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

static std::vector<int64_t> getFunctions(llvm::ArrayRef<int64_t> rows,
                                         int64_t group, int64_t most) {
  llvm::SmallVector<TileFunction> tiles(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    tiles[i].rows = rows[i];
    tiles[i].group = std::min(group, rows[i]);
  }
  PackedCut cut("k", tiles, group, most);
  std::vector<int64_t> functions;
  for (int64_t queries = 1; queries <= most; ++queries)
    functions.push_back(cut.getFunction(queries));
  return functions;
}

TEST(PackedCut, TakesTheLowestTileForAllRows) {
  using Functions = std::vector<int64_t>;
  EXPECT_EQ(getFunctions({16, 4}, 4, 6), Functions({1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(getFunctions({16, 1}, 1, 3), Functions({1, 0, 0}));
  EXPECT_EQ(getFunctions({16, 4}, 3, 2), Functions({1, 0}));
  EXPECT_EQ(getFunctions({16, 8, 4}, 2, 5), Functions({2, 2, 1, 1, 0}));
  EXPECT_EQ(getFunctions({16}, 71, 2), Functions({0, 0}));
}
