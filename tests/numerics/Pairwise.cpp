// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy covering of pairs.
#include "Pairwise.h"

#include <random>
#include <set>
#include <tuple>

using namespace llvm;
using namespace posenc::numerics;

namespace {
/// Two parameters, p < r, and a value of each.
struct Pair {
  size_t p, x, r, y;
  bool operator<(const Pair &other) const {
    return std::tie(p, x, r, y) < std::tie(other.p, other.x, other.r, other.y);
  }
};
} // namespace

std::vector<std::vector<size_t>>
posenc::numerics::coverPairs(ArrayRef<size_t> counts,
                             function_ref<bool(ArrayRef<size_t>)> isValid) {
  constexpr int candidates = 40, attempts = 2000;
  std::mt19937 random(1);
  std::set<Pair> uncovered;
  for (size_t p = 0; p < counts.size(); ++p)
    for (size_t r = p + 1; r < counts.size(); ++r)
      for (size_t x = 0; x < counts[p]; ++x)
        for (size_t y = 0; y < counts[r]; ++y)
          uncovered.insert({p, x, r, y});
  auto forEachPair = [&](ArrayRef<size_t> row, auto function) {
    for (size_t p = 0; p < row.size(); ++p)
      for (size_t r = p + 1; r < row.size(); ++r)
        function(Pair{p, row[p], r, row[r]});
  };

  std::vector<std::vector<size_t>> rows;
  while (!uncovered.empty()) {
    Pair seed = *uncovered.begin();
    std::vector<size_t> best, row(counts.size());
    size_t bestGain = 0;
    int found = 0;
    for (int attempt = 0; attempt < attempts && found < candidates; ++attempt) {
      for (size_t p = 0; p < counts.size(); ++p)
        row[p] = random() % counts[p];
      row[seed.p] = seed.x;
      row[seed.r] = seed.y;
      if (!isValid(row))
        continue;
      ++found;
      size_t gain = 0;
      forEachPair(row,
                  [&](const Pair &pair) { gain += uncovered.count(pair); });
      if (gain > bestGain) {
        bestGain = gain;
        best = row;
      }
    }
    if (best.empty()) { // no valid row has this pair
      uncovered.erase(seed);
      continue;
    }
    forEachPair(best, [&](const Pair &pair) { uncovered.erase(pair); });
    rows.push_back(std::move(best));
  }
  return rows;
}
