// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks that level 1 states, against their definitions.
#include "SchemeTest.h"

using namespace posenc;

namespace {

class MaskTest : public SchemeTest {
protected:
  void expectMask(const std::string &mask,
                  std::function<bool(int b, int h, int i, int j)> allows,
                  const std::string &rest = "") {
    expectScores("mask(#posenc." + mask + ") " + rest,
                 [&](int b, int h, int i, int j) {
                   return allows(b, h, i, j)
                              ? dot(query(b, h, i), key(b, h, j)) / std::sqrt(D)
                              : masked;
                 });
  }
};

TEST_F(MaskTest, WindowsAndChunks) {
  make(2, 2, 1, 21, 30, 4);
  expectMask("window<left = 6>", [&](int, int, int i, int j) {
    return j <= at(i) && at(i) - j < 7;
  });
  expectMask("chunk<size = 8>", [&](int, int, int i, int j) {
    return j <= at(i) && at(i) / 8 == j / 8;
  });
}

TEST_F(MaskTest, Prefix) {
  make(3, 2, 1, 11, 20, 4);
  inputs.tables["prefix"] = {{3}, {0, 5, 18}};
  const int lengths[] = {0, 5, 18};
  expectMask("prefix", [&](int b, int, int i, int j) {
    return j <= at(i) || j < lengths[b];
  });
  expectMask("prefix<align = top_left>", [&](int b, int, int i, int j) {
    return j <= i || j < lengths[b];
  });
  std::vector<int64_t> values;
  for (int n = 0; n < 60; ++n)
    values.push_back(n * 7 % 23);
  positions("positions", {3, 20}, values);
  expectMask(
      "prefix<by = position>",
      [&](int b, int, int i, int j) {
        int key = values[b * 20 + j];
        return key <= values[b * 20 + at(i)] || key < lengths[b];
      },
      "positions(#posenc.position_tensor)");
}

TEST_F(MaskTest, SegmentsAndOrders) {
  make(2, 2, 2, 9, 16, 4);
  std::vector<int64_t> segments, order;
  for (int n = 0; n < 32; ++n) {
    segments.push_back(n % 16 / 5);
    order.push_back(n * 5 % 16);
  }
  positions("segment_ids", {2, 16}, segments);
  positions("order", {2, 16}, order);
  auto segment = [&](int b, int t) { return segments[b * 16 + t]; };
  auto place = [&](int b, int t) { return order[b * 16 + t]; };
  expectMask("segments", [&](int b, int, int i, int j) {
    return segment(b, at(i)) == segment(b, j);
  });
  expectMask("permutation", [&](int b, int, int i, int j) {
    return place(b, j) <= place(b, at(i));
  });
  expectMask("permutation<self = masked>", [&](int b, int, int i, int j) {
    return place(b, j) < place(b, at(i));
  });
  expectMask("all<[#posenc.causal, #posenc.segments]>",
             [&](int b, int, int i, int j) {
               return j <= at(i) && segment(b, at(i)) == segment(b, j);
             });
  expectMask("any<[#posenc.window<left = 2>, #posenc.all<[#posenc.causal, "
             "#posenc.segments]>, #posenc.permutation<self = masked>]>",
             [&](int b, int, int i, int j) {
               bool isPast = j <= at(i);
               return (isPast && at(i) - j <= 2) ||
                      (isPast && segment(b, at(i)) == segment(b, j)) ||
                      place(b, j) < place(b, at(i));
             });
}

TEST_F(MaskTest, Groups) {
  make(1, 4, 2, 26, 35, 4);
  expectMask("group<size = 8>", [&](int, int h, int i, int j) {
    int shift = h < 2 ? 0 : 4;
    return j <= at(i) && (at(i) + shift) / 8 == (j + shift) / 8;
  });
  expectMask("group<size = 7, shift = 2>", [&](int, int h, int i, int j) {
    int shift = h < 2 ? 0 : 2;
    return j <= at(i) && (at(i) + shift) / 7 == (j + shift) / 7;
  });
}

/// LongLoRA's code: the second half of the heads is rolled to the left by half
/// of a group, and groups have a causal mask of their own.
TEST_F(MaskTest, GroupsThatWrapAround) {
  make(1, 4, 2, 32, 32, 4);
  std::vector<int> place(32); // of each token after the roll
  for (int t = 0; t < 32; ++t)
    place[(t + 32 - 4) % 32] = t;
  std::vector<int> where(32);
  for (int n = 0; n < 32; ++n)
    where[place[n]] = n;
  expectMask("group<size = 8, wrap = 32>", [&](int, int h, int i, int j) {
    int a = h < 2 ? i : where[i], b = h < 2 ? j : where[j];
    return a / 8 == b / 8 && b % 8 <= a % 8;
  });
}

TEST_F(MaskTest, Dense) {
  make(2, 2, 1, 5, 9, 4);
  RealTensor &mask = table("mask", {2, 5, 9});
  for (size_t n = 0; n < mask.data.size(); ++n)
    mask.data[n] = n % 3 != 1;
  auto allows = [&](int, int h, int i, int j) {
    return mask.data[(h * 5 + i) * 9 + j] != 0;
  };
  expectMask("dense_mask", allows);
  expectMask("any<[#posenc.dense_mask, #posenc.full]>",
             [](int, int, int, int) { return true; });
  expectMask("any<[#posenc.full, #posenc.dense_mask]>",
             [](int, int, int, int) { return true; });
  expectMask("any<[#posenc.all<[#posenc.full, #posenc.dense_mask]>, "
             "#posenc.window<left = 0>]>",
             [&](int b, int h, int i, int j) {
               return allows(b, h, i, j) || at(i) == j;
             });
}

} // namespace
