// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "posenc/Reference/Philox.h"

using namespace posenc;

std::array<uint32_t, 4> posenc::philox(std::array<uint32_t, 4> counter,
                                       std::array<uint32_t, 2> key) {
  auto multiply = [](uint32_t x, uint32_t y) { return uint64_t{x} * y; };
  for (int round = 0; round < 10; ++round) {
    uint64_t first = multiply(0xD2511F53, counter[0]);
    uint64_t second = multiply(0xCD9E8D57, counter[2]);
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(first)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

static uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
static uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

double posenc::drawUniform(uint64_t seed, uint64_t offset, uint32_t stream,
                           uint64_t number) {
  uint64_t place = offset + number, block = place / 4;
  std::array<uint32_t, 4> words =
      philox({low(block), high(block), stream, 0}, {low(seed), high(seed)});
  return words[place % 4] * 0x1p-32;
}

PairDraws::PairDraws(uint64_t seed, uint64_t offset, int64_t batch,
                     int64_t head)
    : seed{low(seed), high(seed)} {
  std::array<uint32_t, 4> words =
      philox({low(offset), high(offset), low(batch), low(head)}, this->seed);
  ofHead = {words[0], words[1]};
}

double PairDraws::draw(int64_t place, int64_t key) const {
  std::array<uint32_t, 4> words =
      philox({low(key / 4), low(place), ofHead[0], ofHead[1]}, seed);
  return words[key % 4] * 0x1p-32;
}
