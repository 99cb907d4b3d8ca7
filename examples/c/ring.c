/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A layer that sees the last 32 tokens keeps no more than a ring of them. A
 * prompt comes in pieces, then token after token; the results are those of one
 * call with all keys.
 */
#include "example.h"
#include "sliding.h"
#include "sliding_whole.h"

enum {
  HEADS = 8,
  KV_HEADS = 2,
  DIM = 64,
  TOKENS = 200,
  PROMPT = 150,
  PIECE = 24,           /* the most tokens of one call */
  CAPACITY = 31 + PIECE /* what the window and a piece need */
};

/* Tokens `first` .. `first + count - 1` of [TOKENS, heads, DIM], seen as
 * [1, heads, count, DIM]. */
typedef struct tokens {
  int64_t shape[4], strides[4];
  DLTensor tensor;
} tokens;

static void see(tokens *t, float *data, int heads, int first, int count) {
  int64_t shape[] = {1, heads, count, DIM};
  int64_t strides[] = {0, DIM, (int64_t)heads * DIM, 1};
  for (int axis = 0; axis < 4; ++axis) {
    t->shape[axis] = shape[axis];
    t->strides[axis] = strides[axis];
  }
  t->tensor = view(data + (size_t)first * heads * DIM, 4, t->shape, t->strides);
}

int main(void) {
  float *q = make_random((size_t)TOKENS * HEADS * DIM, 1);
  float *k = make_random((size_t)TOKENS * KV_HEADS * DIM, 2);
  float *v = make_random((size_t)TOKENS * KV_HEADS * DIM, 3);
  float *whole = make_zeros((size_t)TOKENS * HEADS * DIM);
  float *o = make_zeros((size_t)TOKENS * HEADS * DIM);
  float *k_ring = make_zeros((size_t)CAPACITY * KV_HEADS * DIM);
  float *v_ring = make_zeros((size_t)CAPACITY * KV_HEADS * DIM);
  tokens tq, tk, tv, to;

  see(&tq, q, HEADS, 0, TOKENS);
  see(&tk, k, KV_HEADS, 0, TOKENS);
  see(&tv, v, KV_HEADS, 0, TOKENS);
  see(&to, whole, HEADS, 0, TOKENS);
  sliding_whole_args all = {.size = sizeof all,
                            .q = &tq.tensor,
                            .k = &tk.tensor,
                            .v = &tv.tensor,
                            .o = &to.tensor};
  check(sliding_whole(&all, NULL), "one call");

  int64_t ring_shape[] = {1, KV_HEADS, CAPACITY, DIM}, lengths_shape[] = {1};
  DLTensor k_cache = view(k_ring, 4, ring_shape, NULL);
  DLTensor v_cache = view(v_ring, 4, ring_shape, NULL);
  int32_t length = 0; /* all tokens that there were, the new ones included */
  DLTensor key_lengths = view_i32(&length, 1, lengths_shape);
  while (length < TOKENS) {
    int first = length, count = 1;
    if (first < PROMPT)
      count = PROMPT - first < PIECE ? PROMPT - first : PIECE;
    length += count;
    see(&tq, q, HEADS, first, count);
    see(&tk, k, KV_HEADS, first, count);
    see(&tv, v, KV_HEADS, first, count);
    see(&to, o, HEADS, first, count);
    sliding_append_args append = {.size = sizeof append,
                                  .k = &tk.tensor,
                                  .v = &tv.tensor,
                                  .k_cache = &k_cache,
                                  .v_cache = &v_cache,
                                  .key_lengths = &key_lengths};
    check(sliding_append_kv(&append, NULL), "append");
    sliding_args args = {.size = sizeof args,
                         .q = &tq.tensor,
                         .k = &k_cache,
                         .v = &v_cache,
                         .o = &to.tensor,
                         .key_lengths = &key_lengths};
    check(sliding(&args, NULL), "attention");
  }

  double difference = compare(o, whole, (size_t)TOKENS * HEADS * DIM);
  printf("sliding: %d tokens over a ring of %d keys differ from one call with "
         "all of them by %.1e\n",
         TOKENS, CAPACITY, difference);
  free(q);
  free(k);
  free(v);
  free(whole);
  free(o);
  free(k_ring);
  free(v_ring);
  return difference < 1e-5 ? 0 : 1;
}
