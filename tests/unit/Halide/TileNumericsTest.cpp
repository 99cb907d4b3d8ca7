// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tile functions compute, on every instruction set of this machine.
#include "TileHarness.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace posenc;
using namespace posenc::test;

namespace {
class TileNumericsTest : public testing::TestWithParam<PlanOptions> {
protected:
  PlanOptions options = GetParam();

  /// Compares at lengths around the sizes of tiles and blocks.
  void checkLengths(const std::function<void(Problem &)> &prepare = {}) {
    CompiledPlan plan(makePlan(options));
    ASSERT_TRUE(plan.isValid()) << plan.getDiagnostics();
    int64_t block = options.keys;
    for (size_t tile = 0; tile < plan.tiles.size(); ++tile) {
      int64_t rows = plan.tiles[tile].signature.rows;
      int trial = 0;
      for (int64_t keyLen : {int64_t(0), int64_t(1), int64_t(7), block - 1,
                             block, block + 1, 2 * block + 3, 5 * block + 60})
        for (int64_t queryLen :
             {int64_t(1), int64_t(3), rows - 1, rows, rows + 1, 2 * rows + 5}) {
          Problem problem(options, queryLen, keyLen);
          problem.bottomRight = ++trial % 2 == 0;
          if (prepare)
            prepare(problem);
          RunOptions run;
          run.tile = tile;
          run.runs = 1 + trial % 3;
          run.atEnd = trial % 5 != 0;
          ASSERT_EQ(compare(plan, problem, run), "");
        }
    }
  }
};

std::string getIsaName(const testing::TestParamInfo<PlanOptions> &info) {
  std::string name = info.param.isa;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Isa, TileNumericsTest,
                         testing::ValuesIn(getTestTargets()), getIsaName);
} // namespace

TEST_P(TileNumericsTest, FullAttention) { checkLengths(); }

TEST_P(TileNumericsTest, CausalAttention) {
  options.causal = true;
  checkLengths();
}

TEST_P(TileNumericsTest, OneStepForAllKeys) {
  options.causal = true;
  options.oneStep = true;
  checkLengths();
}

TEST_P(TileNumericsTest, HeadSizes) {
  for (auto [headDim, valueDim] : {std::pair<int, int>{2, 1},
                                   {6, 3},
                                   {20, 40},
                                   {80, 80},
                                   {128, 64},
                                   {256, 256}}) {
    options.headDim = headDim;
    options.valueDim = valueDim;
    options.scale = 1 / std::sqrt(headDim);
    CompiledPlan plan(makePlan(options));
    ASSERT_TRUE(plan.isValid()) << plan.getDiagnostics();
    EXPECT_EQ(compare(plan, Problem(options, 50, 200)), "");
  }
}

TEST_P(TileNumericsTest, Rotation) {
  for (const char *pairing : {"half", "interleaved"}) {
    options.pairing = pairing;
    for (auto [first, dims] :
         {std::pair<int, int>{0, 32}, {0, 12}, {20, 12}, {4, 18}}) {
      options.firstDim = first;
      options.rotatedDims = dims;
      options.causal = first == 0;
      CompiledPlan plan(makePlan(options));
      ASSERT_TRUE(plan.isValid()) << plan.getDiagnostics();
      RunOptions run;
      run.runs = 2;
      for (bool atEnd : {false, true}) {
        run.atEnd = atEnd;
        EXPECT_EQ(compare(plan, Problem(options, 61, 150), run), "")
            << pairing << first << ' ' << dims;
      }
    }
  }
}

TEST_P(TileNumericsTest, Strip) {
  options.strip = true;
  options.causal = true;
  options.terms = "%n = posenc.tile.to_base2 %s\n"
                  "%b = posenc.tile.load_strip @strip0\n"
                  "%t = posenc.add %n, %b\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      return dot + std::log(2.0) * problem.strip(i + problem.shift() - j);
    };
  });
}

// Scores of a masked pair stay masked whatever is added to or done with them.
TEST_P(TileNumericsTest, PairTableUnderSoftCap) {
  options.terms = "%d = posenc.table law(#posenc.operand<\"bias\">) : "
                  "!posenc.table<head, query, key>\n"
                  "%b = posenc.bias(%d) : !posenc.table<head, query, key> {\n"
                  "^bb0(%x: f64):\nposenc.yield %x : f64\n}\n"
                  "%c = posenc.add %s, %b\n"
                  "%e = posenc.map %c() {\n^bb0(%x: f64):\n"
                  "%cap = arith.constant 3.0 : f64\n"
                  "%y = arith.divf %x, %cap : f64\n"
                  "%z = math.tanh %y : f64\n"
                  "%w = arith.mulf %z, %cap : f64\n"
                  "posenc.yield %w : f64\n}\n"
                  "%t = posenc.tile.to_base2 %e\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      double bias = problem.pairs[i * problem.keyLen + j];
      return bias <= -1e30 ? -INFINITY : 3 * std::tanh((dot + bias) / 3);
    };
  });
}

// Blocks that are no multiple of the squares in which the table is transposed.
TEST_P(TileNumericsTest, PairTableInOddBlocks) {
  options.keys = 72;
  options.terms = "%d = posenc.table law(#posenc.operand<\"bias\">) : "
                  "!posenc.table<head, query, key>\n"
                  "%b = posenc.bias(%d) : !posenc.table<head, query, key> {\n"
                  "^bb0(%x: f64):\nposenc.yield %x : f64\n}\n"
                  "%c = posenc.add %s, %b\n"
                  "%t = posenc.tile.to_base2 %c\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      double bias = problem.pairs[i * problem.keyLen + j];
      return bias <= -1e30 ? -INFINITY : dot + bias;
    };
  });
}

// A bias that reads positions and a table by the bucket of their distance.
TEST_P(TileNumericsTest, BiasOfPositions) {
  options.terms =
      "%i = posenc.position query law(#posenc.position_tensor)\n"
      "%j = posenc.position key law(#posenc.position_tensor)\n"
      "%r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 5, 20, "
      "100], future_offset = 8>)\n"
      "%d = posenc.table law(#posenc.operand<\"rows\", rows = 16>) : "
      "!posenc.table<row>\n"
      "%b = posenc.bias(%r, %d, %j) : !posenc.relation, !posenc.table<row>, "
      "!posenc.coord {\n"
      "^bb0(%bucket: f64, %x: f64, %p: f64):\n"
      "%one = arith.constant 1.0 : f64\n"
      "%u = arith.addf %p, %one : f64\n"
      "%l = math.log %u : f64\n"
      "%y = arith.mulf %l, %x : f64\n"
      "posenc.yield %y : f64\n}\n"
      "%c = posenc.add %s, %b\n"
      "%t = posenc.tile.to_base2 %c\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      int64_t distance = problem.queryPositions[i] - problem.keyPositions[j];
      int64_t bucket = distance < 0 ? 8 : 0;
      for (int64_t threshold : {1, 2, 5, 20, 100})
        bucket += std::abs(distance) >= threshold;
      return dot +
             std::log(problem.keyPositions[j] + 1.0) * problem.rowTable[bucket];
    };
  });
}

// A row of which everything is masked, in blocks with and without other rows.
TEST_P(TileNumericsTest, RowsWithoutKeys) {
  options.terms = "%d = posenc.table law(#posenc.operand<\"bias\">) : "
                  "!posenc.table<head, query, key>\n"
                  "%b = posenc.bias(%d) : !posenc.table<head, query, key> {\n"
                  "^bb0(%x: f64):\nposenc.yield %x : f64\n}\n"
                  "%c = posenc.add %s, %b\n"
                  "%t = posenc.tile.to_base2 %c\n";
  checkLengths([](Problem &problem) {
    for (int64_t i = 0; i < problem.queryLen; i += 2)
      for (int64_t j = 0; j < problem.keyLen; ++j)
        problem.pairs[i * problem.keyLen + j] = j % 2 != 0 ? -INFINITY : -1e30f;
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      double bias = problem.pairs[i * problem.keyLen + j];
      return bias <= -1e30 ? -INFINITY : dot + bias;
    };
  });
}

TEST_P(TileNumericsTest, NotANumberStaysInItsRows) {
  options.causal = true;
  CompiledPlan plan(makePlan(options));
  ASSERT_TRUE(plan.isValid()) << plan.getDiagnostics();
  int64_t dim = options.headDim;
  for (float poison : {NAN, -NAN}) {
    Problem problem(options, 150, 150);
    problem.q[5 * dim + 1] = poison;
    problem.k[140 * dim + dim - 1] = poison;
    Outputs outputs = runTiles(plan, problem);
    for (int64_t i = 0; i < problem.queryLen; ++i) {
      bool expected = i == 5 || i >= 140;
      for (int64_t d = 0; d < options.valueDim; ++d)
        EXPECT_EQ(std::isnan(outputs.o[i * options.valueDim + d]), expected)
            << i;
      EXPECT_EQ(std::isnan(outputs.lse[i]), expected) << i;
    }
  }
}

// Differences of scores that are large in f32 give weights of exactly 0 and 1.
TEST_P(TileNumericsTest, LargeScores) {
  CompiledPlan plan(makePlan(options));
  ASSERT_TRUE(plan.isValid()) << plan.getDiagnostics();
  Problem problem(options, 40, 300);
  for (float &x : problem.k)
    x *= 1e4f;
  EXPECT_EQ(compare(plan, problem), "");
}

//===----------------------------------------------------------------------===//
// Terms without a lowering of their own
//===----------------------------------------------------------------------===//

static const std::string positions =
    "%i = posenc.position query law(#posenc.iota)\n"
    "%j = posenc.position key law(#posenc.iota)\n";

/// The distance of a pair as the kernel counts it.
static int64_t getDistance(const Problem &problem, int64_t i, int64_t j) {
  return i + problem.shift() - j;
}

/// The product of a row of a table over channels with a vector.
static double multiply(const Problem &problem, const std::vector<float> &rows,
                       int64_t token, int64_t row) {
  double sum = 0;
  for (int64_t c = 0; c < problem.options.headDim; ++c)
    sum += rows[token * problem.options.headDim + c] *
           double(Problem::element("vectors", c, 0, 0, row));
  return sum;
}

TEST_P(TileNumericsTest, TableOfRelativeVectors) {
  options.causal = true;
  options.terms =
      positions +
      "%r = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query"
      ", max = 3>)\n"
      "%a = posenc.table law(#posenc.operand<\"vectors\", rows = 7, channels = "
      "32>) : !posenc.table<row, channel>\n"
      "%b = posenc.table_dot %q, %a at(%r) scale(1.0) : !posenc.query, "
      "!posenc.table<row, channel>, !posenc.relation\n"
      "%c = posenc.table_dot %k, %a at(%r) scale(0.25) : !posenc.key, "
      "!posenc.table<row, channel>, !posenc.relation\n"
      "%d = posenc.add %s, %b\n%e = posenc.add %d, %c\n"
      "%t = posenc.tile.to_base2 %e\n";
  options.yields = ", %w, %r";
  options.yieldTypes = ", !posenc.table<row, channel>, !posenc.relation";
  options.terms += "%w = posenc.table law(#posenc.operand<\"values\", rows = 7, "
                   "channels = 32>) : !posenc.table<row, channel>\n";
  checkLengths([](Problem &problem) {
    auto row = [&problem](int64_t i, int64_t j) {
      return std::clamp<int64_t>(-getDistance(problem, i, j), -3, 3) + 3;
    };
    problem.score = [&problem, row](double dot, int64_t i, int64_t j) {
      return dot + 0.25 * (multiply(problem, problem.q, i, row(i, j)) +
                           multiply(problem, problem.k, j, row(i, j)));
    };
    problem.tableValue = [row](int64_t i, int64_t j, int64_t d) {
      return double(Problem::element("values", d, 0, 0, row(i, j)));
    };
  });
}

// A score between two rows; rows beyond the last are the last.
TEST_P(TileNumericsTest, TableBetweenRows) {
  options.terms =
      "%a = posenc.table law(#posenc.operand<\"vectors\", rows = 4, channels = "
      "32>) : !posenc.table<row, channel>\n"
      "%b = posenc.table_dot %q, %a at(%s) scale(1.0) : !posenc.query, "
      "!posenc.table<row, channel>, !posenc.score\n"
      "%c = posenc.add %s, %b\n"
      "%t = posenc.tile.to_base2 %c\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t) {
      int64_t low = static_cast<int64_t>(std::floor(dot));
      auto at = [&](int64_t row) {
        return multiply(problem, problem.q, i, std::clamp<int64_t>(row, 0, 3));
      };
      return dot + 0.25 * (at(low) + (dot - low) * (at(low + 1) - at(low)));
    };
  });
}

TEST_P(TileNumericsTest, BranchesAndPredicates) {
  options.terms =
      positions +
      "%n = posenc.select %s mask(#posenc.window<left = 40, right = 60>)\n"
      "%h = posenc.dot %q, %k scale(0.5) channels([1, 3, 5])\n"
      "%m = posenc.map %n, %h(%j) : !posenc.coord {\n"
      "^bb0(%x: f64, %y: f64, %p: f64):\n"
      "%z = arith.mulf %x, %y : f64\n%u = math.tanh %z : f64\n"
      "%w = arith.addf %x, %u : f64\nposenc.yield %w : f64\n}\n"
      "%e = posenc.select %m else(%h) mask(#posenc.chunk<size = 9>) at(%i, "
      "%j)\n"
      "%f = posenc.select %e where(%i, %j) : !posenc.coord, !posenc.coord {\n"
      "^bb0(%x: f64, %y: f64):\n"
      "%three = arith.constant 3.0 : f64\n"
      "%a = arith.divf %y, %three : f64\n%b = math.floor %a : f64\n"
      "%c = arith.mulf %b, %three : f64\n"
      "%d = arith.cmpf une, %c, %y : f64\nposenc.yield %d : i1\n}\n"
      "%t = posenc.tile.to_base2 %f\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      int64_t dim = problem.options.headDim, row = i + problem.shift();
      double half = 0;
      for (int64_t c = 0; c < 5; ++c)
        half += double(problem.q[i * dim + 1 + c]) * problem.k[j * dim + 3 + c];
      half *= 0.5 * problem.options.scale;
      double mapped = std::abs(dot) < INFINITY &&
                              row - j <= 40 && j - row <= 60
                          ? dot + std::tanh(dot * half)
                          : -INFINITY;
      auto chunk = [](int64_t x) { return std::floor(x / 9.0); };
      double score = chunk(row) == chunk(j) && j <= row ? mapped : half;
      return j % 3 == 0 ? -INFINITY : score;
    };
  });
}

TEST_P(TileNumericsTest, SumsAndIndices) {
  options.terms =
      positions +
      "%i2 = posenc.remap %i {\n^bb0(%p: f64):\n"
      "%c = arith.constant 0.5 : f64\n%x = arith.mulf %p, %c : f64\n"
      "posenc.yield %x : f64\n}\n"
      "%r = posenc.relation_map(%i2, %j) : !posenc.coord, !posenc.coord rows(5) "
      "{\n^bb0(%x: f64, %y: f64):\n%d = arith.subf %x, %y : f64\n"
      "posenc.yield %d : f64\n}\n"
      "%n = posenc.sum_index extent(3)\n"
      "%a = posenc.table law(#posenc.operand<\"weights\", rows = 5, channels = "
      "3>) : !posenc.table<row, channel>\n"
      "%u = posenc.table law(#posenc.operand<\"keys\", channels = 3>) : "
      "!posenc.table<key, channel>\n"
      "%b = posenc.bias(%n, %u, %r, %a) : !posenc.relation, !posenc.table<key, "
      "channel>, !posenc.relation, !posenc.table<row, channel> {\n"
      "^bb0(%m: f64, %x: f64, %d: f64, %y: f64):\n"
      "%z = arith.mulf %x, %y : f64\nposenc.yield %z : f64\n}\n"
      "%c = posenc.add %s, %b\n"
      "%t = posenc.tile.to_base2 %c\n";
  checkLengths([](Problem &problem) {
    problem.score = [&problem](double dot, int64_t i, int64_t j) {
      double index =
          std::clamp(0.5 * (i + problem.shift()) - j, 0.0, 4.0);
      for (int64_t m = 0; m < 3; ++m)
        dot += double(Problem::element("keys", m, j, 0, 0)) *
               Problem::element("weights", m, 0, 0, std::llround(index));
      return dot;
    };
  });
}
