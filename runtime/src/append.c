/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Writes keys and values of new tokens to a cache.
 */
#include "internal.h"

#include <string.h>

/* Numbers of a tensor, of 32 or 16 bits. */
typedef struct number_type {
  uint8_t code, bits; /* DLPack's */
} number_type;

static number_type get_type(const posenc_tensor_desc *tensor) {
  return (number_type){tensor->dtype_code, tensor->dtype_bits};
}

static bool is_same(number_type a, number_type b) {
  return a.code == b.code && a.bits == b.bits;
}

static uint32_t to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Drops the lowest bits, to the nearest, ties to even. */
static uint32_t round_bits(uint32_t bits, uint32_t dropped) {
  uint32_t half = UINT32_C(1) << (dropped - 1);
  return (bits + half - 1 + (bits >> dropped & 1)) >> dropped;
}

static uint16_t to_bf16(float value) {
  uint32_t bits = to_bits(value);
  if (value != value) /* a quiet NaN with the upper bits */
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)round_bits(bits, 16);
}

static uint16_t to_f16(float value) {
  uint32_t bits = to_bits(value), sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) /* NaN */
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) /* from 65520, which is nearest to 2^16 */
    return (uint16_t)(sign | 0x7c00);
  if (magnitude >= 0x38800000) /* from 2^-14: the exponent has another bias */
    return (uint16_t)(sign | round_bits(magnitude - 0x38000000, 13));
  /* A multiple of 2^-24, which a sum with 0.5 rounds to. */
  uint32_t sum = to_bits(from_bits(magnitude) + 0.5f);
  return (uint16_t)(sign | (sum - to_bits(0.5f)));
}

static float from_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
  if (magnitude >= 0x0f800000) /* infinity or NaN */
    return from_bits(sign | 0x70000000 | magnitude);
  if (magnitude >= 0x00800000)
    return from_bits(sign | (magnitude + 0x38000000));
  float value = (float)(half & 0x3ff) * 0x1p-24f;
  return sign ? -value : value;
}

static float load(const char *row, int64_t channel, number_type type) {
  if (type.bits == 32) {
    float value;
    memcpy(&value, row + channel * 4, sizeof(value));
    return value;
  }
  uint16_t half;
  memcpy(&half, row + channel * 2, sizeof(half));
  return type.code == kDLBfloat ? from_bits((uint32_t)half << 16)
                                : from_f16(half);
}

static void store(char *row, int64_t channel, number_type type, float value) {
  if (type.bits == 32) {
    memcpy(row + channel * 4, &value, sizeof(value));
    return;
  }
  uint16_t half = type.code == kDLBfloat ? to_bf16(value) : to_f16(value);
  memcpy(row + channel * 2, &half, sizeof(half));
}

static void copy_row(char *to, number_type to_type, const char *from,
                     number_type from_type, int64_t channels) {
  if (is_same(to_type, from_type)) {
    memcpy(to, from, (size_t)channels * (to_type.bits / 8u));
    return;
  }
  for (int64_t c = 0; c < channels; ++c)
    store(to, c, to_type, load(from, c, from_type));
}

static const posenc_view *find_page_table(const posenc_frame *frame) {
  for (int32_t t = 0; t < frame->desc->tensor_count; ++t)
    if (frame->desc->tensors[t].flags & POSENC_TENSOR_PAGE_TABLE)
      return &frame->tensors[t];
  return NULL;
}

/* The row of a key head's first channel. */
static char *find_row(const posenc_view *cache, const posenc_view *pages,
                      int64_t item_bytes, int64_t batch, int64_t head,
                      int64_t key) {
  int64_t first = batch;
  if (pages) {
    const int32_t *table = (const int32_t *)(const void *)pages->data;
    int64_t page = key / cache->extent[2];
    first = table[batch * pages->stride[0] + page * pages->stride[1]];
    key %= cache->extent[2];
  }
  return cache->data + (first * cache->stride[0] + head * cache->stride[1] +
                        key * cache->stride[2]) *
                           item_bytes;
}

void posenc_kernel_append(const posenc_frame *sequence, int64_t batch,
                          int32_t tensor, int32_t cache, int64_t head,
                          int64_t begin, int64_t count, const float *rows) {
  const posenc_kernel_desc *desc = sequence->desc;
  const posenc_view *from = &sequence->tensors[tensor];
  const posenc_view *to = &sequence->tensors[cache];
  const posenc_view *pages = find_page_table(sequence);
  number_type to_type = get_type(&desc->tensors[cache]);
  number_type from_type = get_type(&desc->tensors[tensor]);
  number_type f32 = {kDLFloat, 32};
  int64_t channels = to->extent[3];
  int64_t first_key = sequence->key_len - sequence->query_len;
  for (int64_t i = 0; i < count; ++i) {
    int64_t token = begin + i;
    char *row =
        find_row(to, pages, to_type.bits / 8, batch, head, first_key + token);
    if (rows) {
      copy_row(row, to_type, (const char *)(rows + i * channels), f32,
               channels);
      continue;
    }
    const char *source =
        from->data + (batch * from->stride[0] + head * from->stride[1] +
                      token * from->stride[2]) *
                         (from_type.bits / 8);
    copy_row(row, to_type, source, from_type, channels);
  }
}
