// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Numerics.h"

using namespace posenc;
using Halide::Expr;
using Halide::Internal::Call;

Expr posenc::toBits(Expr value) { return Halide::reinterpret<int32_t>(value); }
Expr posenc::fromBits(Expr bits) { return Halide::reinterpret<float>(bits); }

Expr posenc::hideFromBounds(Expr condition) {
  Expr bits = Halide::reinterpret<int8_t>(Halide::cast<uint8_t>(condition));
  return bits != Halide::cast<int8_t>(0);
}

// On bits: the code is compiled with fast-math, where a comparison of floats
// may be inverted and then be true for NaN. Bits of negative floats grow with
// the magnitude, and those of infinity are the last before NaN.
Expr posenc::isMaskedScore(Expr score) {
  constexpr uint32_t kMaskedBits = 0xf149f2ca, kInfinityBits = 0xff800000;
  return Halide::reinterpret<uint32_t>(score) - Expr(kMaskedBits) <=
         Expr(kInfinityBits - kMaskedBits);
}

// max and min on x86 and in Halide are `a > b ? a : b` and `a < b ? a : b`.
// Halide puts constants second, which loses a NaN; these calls keep the order.
static Expr keepNaNMax(float bound, Expr x) {
  return Call::make(Halide::Float(32), Call::strict_max, {Expr(bound), x},
                    Call::PureIntrinsic);
}
static Expr keepNaNMin(float bound, Expr x) {
  return Call::make(Halide::Float(32), Call::strict_min, {Expr(bound), x},
                    Call::PureIntrinsic);
}

/// x = exponent + rest with an integer exponent and rest in [-0.5, 0.5]. Adding
/// and subtracting 1.5 * 2^23 rounds; the sum's low bits are the exponent.
/// round() would be split in two halves on AVX-512.
static void splitExponent(Expr x, Expr &exponentBits, Expr &rest) {
  constexpr float kRound = 12582912.f;
  Expr sum = Halide::strict_float(x + kRound);
  rest = x - Halide::strict_float(sum - kRound);
  exponentBits = toBits(sum) << 23;
}

// At -127 the rest is 0, the polynomial exactly 1 and the sum of bits 0.
Expr posenc::exp2Approx(Expr x) {
  Expr exponentBits, r;
  splitExponent(keepNaNMax(-127.f, x), exponentBits, r);
  Expr p = 0.001326472731307149f;
  p = p * r + 0.009671512991189957f;
  p = p * r + 0.05550733581185341f;
  p = p * r + 0.24022242426872253f;
  p = p * r + 0.6931470036506653f;
  p = p * r + 1.f;
  return fromBits(toBits(p) + exponentBits);
}

// At 128 the exponent of 1 becomes that of infinity.
Expr posenc::exp2OrInfinity(Expr x) { return exp2Approx(keepNaNMin(128.f, x)); }

// With e = exp(2x) - 1: tanh(x) = e / (e + 2). For small x the exponent is 0
// and e = r * p(r), so that the relative error is small there too.
Expr posenc::tanhApprox(Expr x) {
  // Where exp(2x) is beyond 2^26 or below 2^-26 the result is 1 or -1 in f32.
  Expr y = keepNaNMin(26.f, keepNaNMax(-26.f, x * 2.885390081777927f));
  Expr exponentBits, r;
  splitExponent(y, exponentBits, r);
  // (2^r - 1) / r, relative error 2e-8.
  Expr p = 0.00015403512225020677f;
  p = p * r + 0.0013390735257416964f;
  p = p * r + 0.009618237614631653f;
  p = p * r + 0.05550357326865196f;
  p = p * r + 0.24022649228572845f;
  p = p * r + 0.6931471824645996f;
  Expr power = fromBits(toBits(Expr(1.f)) + exponentBits);
  // Not reassociated to power * (p * r + 1) - 1, which rounds e to 2^-24.
  Expr e = power * (p * r) + Halide::strict_float(power - 1.f);
  return e / (e + 2.f);
}

template <typename Combine>
static Expr tree(std::vector<Expr> values, Combine combine) {
  while (values.size() > 1) {
    std::vector<Expr> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(values[i], values[i + 1]));
    if (values.size() % 2 != 0)
      next.push_back(values.back());
    values = std::move(next);
  }
  return values.front();
}

Expr posenc::treeMax(std::vector<Expr> values) {
  return tree(std::move(values), [](Expr a, Expr b) { return max(a, b); });
}
Expr posenc::treeSum(std::vector<Expr> values) {
  return tree(std::move(values), [](Expr a, Expr b) { return a + b; });
}

int posenc::dividingWidth(int64_t n, int64_t limit) {
  while (n % limit != 0)
    limit /= 2;
  return static_cast<int>(limit);
}

//===----------------------------------------------------------------------===//
// Numbers of 16 and 8 bits
//===----------------------------------------------------------------------===//

static Expr bitsOf(Expr value) {
  return Halide::reinterpret(Halide::UInt(32), value);
}
static Expr floatOf(Expr bits) {
  return Halide::reinterpret(Halide::Float(32), bits);
}
static Expr word(uint32_t bits) {
  return Halide::Internal::make_const(Halide::UInt(32), bits);
}

/// The exponent of an f16 counts from 2^-15, that of an f32 from 2^-127. Never
/// computes with subnormal f32 numbers, which callers may have switched off.
static Expr widenF16(Expr bits) {
  Expr magnitude = bits & word(0x7fff);
  Expr shifted = magnitude << word(13);
  Expr smallest = word(113 << 23); // 2^-14, the first normal f16
  Expr subnormal = bitsOf(floatOf(shifted + smallest) - floatOf(smallest));
  Expr result = select(magnitude < word(0x400), subnormal,
                       magnitude < word(0x7c00), shifted + word(112 << 23),
                       shifted | word(0xff << 23)); // NaN, infinity
  return floatOf(result | ((bits & word(0x8000)) << word(16)));
}

static Expr narrowF16(Expr value) {
  Expr bits = bitsOf(value);
  Expr magnitude = bits & word(0x7fffffff), sign = bits & word(0x80000000);
  // Sums with 2^-1 leave the bits of a subnormal number where they belong.
  Expr half = word(126 << 23);
  Expr subnormal = bitsOf(floatOf(magnitude) + floatOf(half)) - half;
  Expr isOdd = (magnitude >> word(13)) & word(1);
  Expr normal = (magnitude - word(112 << 23) + word(0xfff) + isOdd) >> word(13);
  Expr special = select(magnitude > word(0xff << 23), word(0x7e00),
                        word(0x7c00)); // NaN, infinity
  Expr result = select(magnitude >= word((127 + 16) << 23), special,
                       magnitude < word(113 << 23), subnormal, normal);
  return result | (sign >> word(16));
}

static Expr narrowBF16(Expr value) {
  Expr bits = bitsOf(value);
  Expr isOdd = (bits >> word(16)) & word(1);
  Expr rounded = (bits + word(0x7fff) + isOdd) >> word(16);
  Expr isNan = (bits & word(0x7fffffff)) > word(0xff << 23);
  return select(isNan, word(0x7fc0), rounded);
}

/// f8E4M3FN: the exponent counts from 2^-7; all ones is NaN.
static Expr widenF8(Expr bits) {
  Expr magnitude = bits & word(0x7f);
  Expr subnormal =
      bitsOf(Halide::cast<float>(Halide::cast<int32_t>(magnitude)) * 0x1p-9f);
  Expr result =
      select(magnitude < word(0x08), subnormal, magnitude == word(0x7f),
             word(0x7fc00000), (magnitude << word(20)) + word(120 << 23));
  return floatOf(result | ((bits & word(0x80)) << word(24)));
}

Expr posenc::widen(Expr stored, Storage storage, bool hasHalf) {
  if (storage == Storage::F16 && hasHalf)
    return Halide::cast<float>(Halide::reinterpret(Halide::Float(16), stored));
  if (storage == Storage::F32)
    return stored;
  if (storage == Storage::I8)
    return Halide::cast<float>(Halide::cast<int32_t>(stored));
  if (storage == Storage::F8)
    return widenF8(Halide::cast(Halide::UInt(32), stored));
  Expr bits = Halide::cast(Halide::UInt(32), stored);
  return storage == Storage::BF16 ? floatOf(bits << word(16)) : widenF16(bits);
}

Expr posenc::narrow(Expr value, Storage storage) {
  if (storage == Storage::F32)
    return value;
  Expr bits = storage == Storage::BF16 ? narrowBF16(value) : narrowF16(value);
  return Halide::cast(Halide::UInt(16), bits);
}

Expr posenc::widenPair(Expr bits) {
  return Halide::cast<float>(
      Halide::reinterpret(Halide::BFloat(16), std::move(bits)));
}

// A function of Halide's runtime, which is there for that many lanes.
Expr posenc::narrowPair(Expr value) {
  return Call::make(Halide::UInt(16), "vcvtne2ps2bf16", {std::move(value)},
                    Call::PureExtern);
}
