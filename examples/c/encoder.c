/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An encoder on sentences of different lengths: a batch padded to the longest,
 * as frameworks make it, and the same sentences one after another, without
 * padding. What stands in the padding does not matter.
 */
#include "example.h"
#include "packed.h"
#include "padded.h"

#include <string.h>

enum { HEADS = 12, DIM = 64, SENTENCES = 4, LONGEST = 50 };
enum { ROW = HEADS * DIM };

static int32_t lengths[SENTENCES] = {17, 50, 1, 33};

/* Rows of [SENTENCES, LONGEST, HEADS, DIM] without those of the padding. */
static float *pack(const float *padded) {
  float *packed = make_zeros((size_t)SENTENCES * LONGEST * ROW), *next = packed;
  for (int s = 0; s < SENTENCES; ++s) {
    size_t count = (size_t)lengths[s] * ROW;
    memcpy(next, padded + (size_t)s * LONGEST * ROW, count * sizeof *next);
    next += count;
  }
  return packed;
}

/* The first keys of each sentence are its own; rows of queries in the padding
 * give numbers that nobody reads. */
static void run_padded(float *q, float *k, float *v, float *o) {
  int64_t shape[] = {SENTENCES, HEADS, LONGEST, DIM};
  int64_t strides[] = {(int64_t)LONGEST * ROW, DIM, ROW, 1};
  int64_t lengths_shape[] = {SENTENCES};
  DLTensor tq = view(q, 4, shape, strides), tk = view(k, 4, shape, strides);
  DLTensor tv = view(v, 4, shape, strides), to = view(o, 4, shape, strides);
  DLTensor key_lengths = view_i32(lengths, 1, lengths_shape);
  padded_args args = {.size = sizeof args,
                      .q = &tq,
                      .k = &tk,
                      .v = &tv,
                      .o = &to,
                      .key_lengths = &key_lengths};
  check(padded(&args, NULL), "padded");
}

static int64_t run_packed(float *q, float *k, float *v, float *o) {
  int32_t bounds[SENTENCES + 1] = {0};
  for (int s = 0; s < SENTENCES; ++s)
    bounds[s + 1] = bounds[s] + lengths[s];
  int64_t shape[] = {bounds[SENTENCES], HEADS, DIM};
  int64_t bounds_shape[] = {SENTENCES + 1};
  DLTensor tq = view(q, 3, shape, NULL), tk = view(k, 3, shape, NULL);
  DLTensor tv = view(v, 3, shape, NULL), to = view(o, 3, shape, NULL);
  DLTensor cu_seqlens = view_i32(bounds, 1, bounds_shape);
  packed_args args = {.size = sizeof args,
                      .q = &tq,
                      .k = &tk,
                      .v = &tv,
                      .o = &to,
                      .cu_seqlens_q = &cu_seqlens,
                      .cu_seqlens_k = &cu_seqlens};
  check(packed(&args, NULL), "packed");
  return bounds[SENTENCES];
}

int main(void) {
  size_t count = (size_t)SENTENCES * LONGEST * ROW;
  float *qkv[3], *packed_qkv[3];
  for (unsigned i = 0; i < 3; ++i) {
    qkv[i] = make_random(count, 1 + i);
    packed_qkv[i] = pack(qkv[i]);
    /* Whatever the padding holds, infinities included. */
    for (int s = 0; s < SENTENCES; ++s)
      for (size_t x = (size_t)lengths[s] * ROW; i && x < LONGEST * ROW; ++x)
        qkv[i][(size_t)s * LONGEST * ROW + x] = INFINITY;
  }
  float *o_padded = make_zeros(count), *o = make_zeros(count);

  run_padded(qkv[0], qkv[1], qkv[2], o_padded);
  int64_t tokens = run_packed(packed_qkv[0], packed_qkv[1], packed_qkv[2], o);
  float *expected = pack(o_padded);
  double difference = compare(o, expected, (size_t)tokens * ROW);
  printf("encoder: %d sentences padded to %d tokens differ from %d packed "
         "tokens by %.1e\n",
         SENTENCES, LONGEST, (int)tokens, difference);
  for (int i = 0; i < 3; ++i)
    free(qkv[i]), free(packed_qkv[i]);
  free(o_padded), free(o), free(expected);
  return difference < 1e-6 ? 0 : 1;
}
