/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Numbers of 16 and 8 bits to f32 and back, to the nearest, ties to even. NaN
 * stays NaN. Results are the same for callers that have subnormal f32 numbers
 * switched off.
 */
#ifndef POSENC_NUMBERS_H
#define POSENC_NUMBERS_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Without a branch, which would keep loops from becoming vectors. */
static inline uint32_t choose(bool condition, uint32_t yes, uint32_t no) {
  return no ^ ((yes ^ no) & (0u - (uint32_t)condition));
}

static inline float widen_bf16(uint16_t x) {
  return float_of((uint32_t)x << 16);
}

static inline float widen_f16(uint16_t x) {
  uint32_t magnitude = x & 0x7fffu;
  uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
  /* The exponent's bias is 15 instead of 127; inf and NaN have the largest. */
  uint32_t bias = choose(magnitude < 0x7c00u, 112u << 23, 224u << 23);
  uint32_t normal = (magnitude << 13) + bias;
  uint32_t subnormal = bits_of((float)(int32_t)magnitude * 0x1p-24f);
  return float_of(choose(magnitude < 0x0400u, subnormal, normal) | sign);
}

static inline uint16_t narrow_bf16(float value) {
  uint32_t bits = bits_of(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  uint32_t nan = bits >> 16 | 0x40u; /* with a payload that is not 0 */
  return (uint16_t)choose((bits & 0x7fffffffu) > 0x7f800000u, nan, rounded);
}

static inline uint16_t narrow_f16(float value) {
  uint32_t bits = bits_of(value);
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t nan = (magnitude >> 13 & 0x3ffu) | 0x7e00u;
  uint32_t rounded =
      (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  /* The last bit of 0.5 is the smallest f16, so the sum rounds to it. */
  uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  uint32_t result = choose(magnitude < 0x38800000u, subnormal, rounded);
  result = choose(magnitude >= 0x47800000u, 0x7c00u, result); /* 2^16 */
  result = choose(magnitude > 0x7f800000u, nan, result);
  return (uint16_t)(result | (bits >> 16 & 0x8000u));
}

/* f8E4M3FN has no infinity; all ones is NaN. */
static inline float widen_f8(uint8_t x) {
  uint32_t magnitude = x & 0x7fu;
  uint32_t sign = (uint32_t)(x & 0x80u) << 24;
  uint32_t normal = (magnitude << 20) + (120u << 23); /* biases 7 and 127 */
  uint32_t subnormal = bits_of((float)(int32_t)magnitude * 0x1p-9f);
  uint32_t result = choose(magnitude < 0x08u, subnormal, normal);
  return float_of(choose(magnitude == 0x7fu, 0x7fc00000u, result) | sign);
}

/* What is larger than 448, the largest, becomes it. */
static inline uint8_t narrow_f8(float value) {
  uint32_t bits = bits_of(value);
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t rounded =
      (magnitude - (120u << 23) + 0x7ffffu + (magnitude >> 20 & 1u)) >> 20;
  /* The last bit of 2^14 is the smallest f8, so the sum rounds to it. */
  uint32_t subnormal =
      bits_of(float_of(magnitude) + 0x1p14f) - bits_of(0x1p14f);
  uint32_t result = choose(magnitude < 0x3c800000u, subnormal, rounded);
  result = choose(magnitude >= 0x43e00000u, 0x7eu, result);
  result = choose(magnitude > 0x7f800000u, 0x7fu, result);
  return (uint8_t)(result | (bits >> 24 & 0x80u));
}

/* From -127 to 127; 0 for NaN. */
static inline int8_t narrow_i8(float value) {
  if (!(value >= -127.0f))
    return value < -127.0f ? -127 : 0;
  if (value > 127.0f)
    return 127;
  /* The last bit of the sum is worth 1. */
  return (int8_t)((value + 0x1.8p23f) - 0x1.8p23f);
}

/* Codes are numbers divided by their scale. Numbers and scales below 2^-126 are
 * 0, and so are codes then. */
static inline float flush(float value) {
  return (bits_of(value) & 0x7fffffffu) < 0x00800000u ? 0.0f : value;
}
static inline float divide_by_scale(float value, float scale) {
  return flush(scale) == 0.0f ? 0.0f : flush(value) / scale;
}

/* With which the largest magnitude has the largest code; NaN for NaN. */
static inline float find_scale(float magnitude, float largest_code) {
  return flush(flush(magnitude) / largest_code);
}

#endif /* POSENC_NUMBERS_H */
