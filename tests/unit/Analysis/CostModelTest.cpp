// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the cost model predicts, beside what was measured.
#include "posenc/Analysis/CostModel.h"

#include <gtest/gtest.h>

using namespace posenc;

static const InstructionSet &get(llvm::StringRef name) {
  return *findInstructionSet(name);
}

/// Of a kernel of f32 without encoding.
static TileWork getWork(int64_t headDim) {
  TileWork work;
  work.scoreChannels = work.valueChannels = headDim;
  work.keyBytes = 8 * headDim;
  work.mostKeys = 256;
  return work;
}

static TileWork getCopiedWork(int64_t headDim) {
  TileWork work = getWork(headDim);
  work.copiedChannels = 2 * headDim;
  return work;
}

static std::string choose(const TileWork &work, llvm::StringRef isa) {
  return getTileCandidates(work, get(isa)).front().sizes.str();
}

static double predict(const TileWork &work, llvm::StringRef sizes,
                      llvm::StringRef isa, int64_t length = kPredictedLength) {
  return predictCost(work, *TileSizes::parse(sizes), get(isa), length)
      .getTotal();
}

TEST(TileSizes, AreReadAsTheyAreWritten) {
  for (llvm::StringRef text : {"48+32x256", "24x64", "8x4"}) {
    std::optional<TileSizes> sizes = TileSizes::parse(text);
    ASSERT_TRUE(sizes) << text.str();
    EXPECT_EQ(sizes->str(), text);
  }
  for (llvm::StringRef text :
       {"", "48", "x256", "48x", "32+48x256", "48+48x256", "0x256", "48x0",
        "-8x256", "48x256x2", "ax256"})
    EXPECT_FALSE(TileSizes::parse(text)) << text.str();
}

// 48 x 8 and 24 x 4 accumulators are the fastest that were measured, and a
// lower tile ends sequences sooner.
TEST(CostModel, ChoosesWhatIsFastest) {
  for (int64_t headDim : {64, 128}) {
    EXPECT_EQ(choose(getWork(headDim), "x86-64-avx512"), "48+32x256");
    EXPECT_EQ(choose(getWork(headDim), "x86-64-avx2"), "24x256");
  }
}

TEST(CostModel, NeverHasMoreTilesForFewerRows) {
  EXPECT_TRUE(areHeightsOrdered({48}));
  EXPECT_TRUE(areHeightsOrdered({48, 32}));
  EXPECT_TRUE(areHeightsOrdered({12, 8}));
  // 32 rows would be two tiles, and 33 rows one.
  EXPECT_FALSE(areHeightsOrdered({48, 16}));
  EXPECT_FALSE(areHeightsOrdered({40, 24}));
  EXPECT_FALSE(areHeightsOrdered({48, 32, 16}));
}

TEST(CostModel, KeepsCopiesWithinTheCache) {
  EXPECT_EQ(choose(getCopiedWork(64), "x86-64-avx512"), "48x256");
  EXPECT_EQ(choose(getCopiedWork(128), "x86-64-avx512"), "48x128");
  EXPECT_EQ(choose(getCopiedWork(256), "x86-64-avx512"), "48x32");
}

// Percent of the FMA peak that tile_f32.cpp reached: 24 x 4 accumulators 88,
// 16 x 6 83, 16 x 4 81, 8 x 12 66 on AVX2; fewer rows read keys more often.
TEST(CostModel, OrdersHeightsAsMeasured) {
  TileWork work = getWork(128);
  EXPECT_LT(predict(work, "24x256", "x86-64-avx2"),
            predict(work, "16x256", "x86-64-avx2"));
  EXPECT_LT(predict(work, "16x256", "x86-64-avx2"),
            predict(work, "8x256", "x86-64-avx2"));
  // More sums than registers are spilled.
  EXPECT_LT(predict(work, "24x256", "x86-64-avx2"),
            predict(work, "32x256", "x86-64-avx2"));
  EXPECT_LT(predict(work, "48x256", "x86-64-avx512"),
            predict(work, "32x256", "x86-64-avx512"));
  EXPECT_LT(predict(work, "48x256", "x86-64-avx512"),
            predict(work, "64x256", "x86-64-avx512"));
  // The state is updated more often: 3 to 6 points at 64 keys.
  EXPECT_LT(predict(work, "48x256", "x86-64-avx512"),
            predict(work, "48x64", "x86-64-avx512"));
}

TEST(CostModel, CountsWhatIsWasted) {
  TileWork work = getWork(128), causal = work;
  causal.isCausal = true;
  auto get = [](const TileWork &work, int64_t length) {
    return predict(work, "48+32x256", "x86-64-avx512", length);
  };
  EXPECT_LT(get(work, 4096), get(work, 512));
  EXPECT_LT(get(work, 2048), get(causal, 2048));
  // A lower tile leaves fewer rows over.
  EXPECT_LT(get(work, 512), predict(work, "48x256", "x86-64-avx512", 512));
}

TEST(CostModel, ComparesTerms) {
  TileWork work = getWork(128), biased = work, paired = work;
  biased.termOps = 2;
  paired.pairedScores = paired.pairedValues = true;
  auto get = [](const TileWork &work, llvm::StringRef isa) {
    return predict(work, "48x256", isa);
  };
  EXPECT_LT(get(work, "x86-64-avx512"), get(biased, "x86-64-avx512"));
  EXPECT_LT(get(biased, "x86-64-avx512"), 1.02 * get(work, "x86-64-avx512"));
  EXPECT_LT(1.7 * get(paired, "x86-64-avx512-bf16"),
            get(work, "x86-64-avx512"));
}
