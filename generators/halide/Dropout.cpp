// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dropout.h"
#include "Numerics.h"

#include <cmath>

using namespace posenc;
using Halide::Expr;
using Halide::Func;

static Expr longWord(uint64_t bits) {
  return Halide::Internal::make_const(Halide::UInt(64), bits);
}
/// The 32 bits of an int32 in 64.
static Expr toLong(Expr value) {
  return Halide::cast<uint64_t>(Halide::cast<uint32_t>(value));
}

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011). Words are the low
/// halves of 64 bits, what is above them means nothing: so products of two
/// words need neither conversions nor masks.
static std::vector<Expr> philox(std::vector<Expr> words,
                                std::vector<Expr> key) {
  auto multiply = [](Expr x, uint32_t y) {
    return (x & longWord(0xffffffff)) * longWord(y);
  };
  for (int round = 0; round < 10; ++round) {
    Expr first = multiply(words[0], 0xD2511F53);
    Expr second = multiply(words[2], 0xCD9E8D57);
    words = {(second >> 32) ^ words[1] ^ key[0], second,
             (first >> 32) ^ words[3] ^ key[1], first};
    key = {key[0] + longWord(0x9E3779B9), key[1] + longWord(0xBB67AE85)};
  }
  for (Expr &word : words)
    word = Halide::cast<uint32_t>(word);
  return words;
}

Dropout::Dropout(const TileContext &context, const KeyBlocks &keys,
                 double probability)
    : context(context), keys(keys), probability(probability) {}

static Expr firstKey(const TileContext &context, const KeyBlocks &keys,
                     Expr t) {
  return context.number(TileArgKind::KeyBegin) + keys.key(t, 0);
}

Expr Dropout::offset(Expr t) const { return firstKey(context, keys, t) % 4; }

void Dropout::define(Func weights) {
  Halide::Var i = context.i, t = context.t;
  auto number = [&](const char *symbol) {
    return toLong(context.params.number(TileArgKind::DropoutWord, symbol));
  };
  Expr block = firstKey(context, keys, t) / 4 + four;
  Expr place = i + context.number(TileArgKind::QueryBegin) +
               context.number(TileArgKind::QueryShift);
  drawn(i, four, t) = Halide::Tuple(
      philox({toLong(block), toLong(place), number("2"), number("3")},
             {number("0"), number("1")}));

  // Numbers below the probability are the words up to this one.
  auto last = static_cast<uint32_t>(std::ceil(probability * 0x1p32) - 1);
  Expr own = mux(w, {drawn(i, four, t)[0], drawn(i, four, t)[1],
                     drawn(i, four, t)[2], drawn(i, four, t)[3]});
  int tile = static_cast<int>(context.shape.keys);
  Expr key = clamp(four * 4 + w - offset(t), 0, keys.length - 1);
  kept(i, w, four, t) =
      select(own <= Halide::Internal::make_const(Halide::UInt(32), last), 0,
             weights(i, key % tile, key / tile, t));
}

Expr Dropout::at(Expr key) const {
  Expr place = key + offset(context.t);
  return kept(context.i, place % 4, place / 4, context.t);
}

void Dropout::schedule(Func state, Halide::RVar block) {
  Halide::Var i = context.i, io("io"), ii("ii");
  int lanes = static_cast<int>(context.shape.lanes);
  // A group more where the first one is not whole.
  int groups = static_cast<int>(context.shape.blockCapacity()) / 4 + 2;
  kept.compute_at(state, block)
      .store_in(kTileMemory)
      .bound(w, 0, 4)
      .bound_storage(four, groups)
      .split(i, io, ii, lanes)
      .reorder(ii, w, io, four)
      .vectorize(ii)
      .unroll(w);
  drawn.compute_at(kept, io).vectorize(i, lanes);
}
