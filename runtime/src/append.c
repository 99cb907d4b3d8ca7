/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Writes keys and values of new tokens to a cache.
 */
#include "internal.h"
#include "numbers.h"

#include <string.h>

/* Numbers of a tensor, of 32, 16 or 8 bits. */
typedef struct number_type {
  uint8_t code, bits; /* DLPack's */
} number_type;

static number_type get_type(const posenc_tensor_desc *tensor) {
  return (number_type){tensor->dtype_code, tensor->dtype_bits};
}

static bool is_same(number_type a, number_type b) {
  return a.code == b.code && a.bits == b.bits;
}

/* The magnitude of the largest code, or 0 for numbers that are no codes. */
static float get_largest_code(number_type type) {
  if (type.bits != 8)
    return 0;
  return type.code == kDLInt ? 127.0f : 448.0f;
}

static float load(const char *row, int64_t channel, number_type type) {
  if (type.bits == 32) {
    float value;
    memcpy(&value, row + channel * 4, sizeof(value));
    return value;
  }
  uint16_t half;
  memcpy(&half, row + channel * 2, sizeof(half));
  return type.code == kDLBfloat ? widen_bf16(half) : widen_f16(half);
}

/* Codes are the numbers by their scale. */
static void store(char *row, int64_t channel, number_type type, float value) {
  if (type.bits == 32) {
    memcpy(row + channel * 4, &value, sizeof(value));
    return;
  }
  if (type.bits == 8) {
    uint8_t code =
        type.code == kDLInt ? (uint8_t)narrow_i8(value) : narrow_f8(value);
    memcpy(row + channel, &code, sizeof(code));
    return;
  }
  uint16_t half =
      type.code == kDLBfloat ? narrow_bf16(value) : narrow_f16(value);
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

/* NaN if there is one. */
static float find_magnitude(const char *row, number_type type,
                            int64_t channels) {
  uint32_t largest = 0;
  for (int64_t c = 0; c < channels; ++c) {
    uint32_t bits = bits_of(load(row, c, type)) & 0x7fffffffu;
    largest = choose(bits > largest, bits, largest);
  }
  return float_of(largest);
}

static void quantise_row(char *to, number_type to_type, const char *from,
                         number_type from_type, int64_t channels, float scale) {
  for (int64_t c = 0; c < channels; ++c)
    store(to, c, to_type, divide_by_scale(load(from, c, from_type), scale));
}

/* The row of a key head's first channel. A cache without pages that holds fewer
 * keys is a ring. */
static char *find_row(const posenc_view *cache, const posenc_view *pages,
                      int64_t item_bytes, int64_t batch, int64_t head,
                      int64_t key) {
  int64_t first = batch;
  if (pages) {
    const int32_t *table = (const int32_t *)(const void *)pages->data;
    int64_t page = key / cache->extent[2];
    first = table[batch * pages->stride[0] + page * pages->stride[1]];
  }
  key %= cache->extent[2];
  return cache->data + (first * cache->stride[0] + head * cache->stride[1] +
                        key * cache->stride[2]) *
                           item_bytes;
}

/* Where scales of codes are, if the cache has such. */
typedef struct scale_place {
  const posenc_view *view; /* NULL: the cache has none */
  bool are_of_tokens;      /* written with the row, or else read */
} scale_place;

static scale_place find_scales(const posenc_frame *frame, int32_t tensor) {
  if (tensor < 0)
    return (scale_place){NULL, false};
  int32_t flags = frame->desc->tensors[tensor].flags;
  return (scale_place){&frame->tensors[tensor],
                       (flags & POSENC_TENSOR_OUTPUT) != 0};
}

void posenc_kernel_append(const posenc_frame *sequence, int64_t batch,
                          int32_t tensor, int32_t cache, int32_t scales,
                          int64_t head, int64_t begin, int64_t count,
                          const float *rows) {
  const posenc_kernel_desc *desc = sequence->desc;
  const posenc_view *from = &sequence->tensors[tensor];
  const posenc_view *to = &sequence->tensors[cache];
  const posenc_tensor_desc *table = NULL;
  const posenc_view *pages =
      posenc_find_role(sequence, POSENC_TENSOR_PAGE_TABLE, &table);
  number_type to_type = get_type(&desc->tensors[cache]);
  number_type from_type = get_type(&desc->tensors[tensor]);
  if (rows)
    from_type = (number_type){kDLFloat, 32};
  scale_place found = find_scales(sequence, scales);
  int64_t channels = to->extent[3];
  int64_t first_key = sequence->key_len - sequence->query_len;
  for (int64_t i = 0; i < count; ++i) {
    int64_t token = begin + i, key = first_key + token;
    /* No two tokens write to one slot of a ring. */
    if (key < sequence->first_key)
      continue;
    const char *source =
        rows ? (const char *)(rows + i * channels)
             : from->data + (batch * from->stride[0] + head * from->stride[1] +
                             token * from->stride[2]) *
                                (from_type.bits / 8);
    char *row = find_row(to, pages, to_type.bits / 8, batch, head, key);
    if (!found.view) {
      copy_row(row, to_type, source, from_type, channels);
      continue;
    }
    float factor;
    if (found.are_of_tokens) {
      factor = find_scale(find_magnitude(source, from_type, channels),
                          get_largest_code(to_type));
      memcpy(find_row(found.view, pages, sizeof(factor), batch, head, key),
             &factor, sizeof(factor));
    } else {
      memcpy(&factor,
             found.view->data +
                 head * found.view->stride[1] * (int64_t)sizeof(factor),
             sizeof(factor));
    }
    quantise_row(row, to_type, source, from_type, channels, factor);
  }
}
