/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A decoder with a paged cache: two prompts of different lengths are appended
 * and read in one call, then one token after the other is. The results are
 * those of one call with all tokens.
 */
#include "example.h"
#include "generator.h"

#include <string.h>

enum {
  HEADS = 8,
  KV_HEADS = 2,
  DIM = 64,
  SEQUENCES = 2,
  PAGE_SIZE = 16,
  MAX_PAGES = 4,
  PAGES = SEQUENCES * MAX_PAGES,
  DECODED = 9,
  MOST_TOKENS = 64 /* in one call */
};

static const int prompts[SEQUENCES] = {19, 30};

/* What the model's projections would give for a channel of a token: the same
 * whenever the token is asked for. */
static float project(int kind, int sequence, int token, int channel) {
  uint32_t x =
      (uint32_t)(((kind * SEQUENCES + sequence) * 1000 + token) * 4096 +
                 channel);
  x = (x ^ 61u ^ (x >> 16)) * 9u;
  x = (x ^ (x >> 4)) * 0x27d4eb2du;
  return (float)(x >> 8) / (float)(1 << 23) - 1.0f;
}

static void fill(float *row, int kind, int sequence, int token, int channels) {
  for (int c = 0; c < channels; ++c)
    row[c] = project(kind, sequence, token, c);
}

/* The caches, and the tokens that they hold. */
typedef struct generation {
  float *k_cache, *v_cache; /* [PAGES, PAGE_SIZE, KV_HEADS, DIM] */
  int32_t page_table[SEQUENCES * MAX_PAGES];
  int32_t lengths[SEQUENCES];
  float *scratch; /* of both functions, allocated once */
  size_t scratch_bytes;
} generation;

static void init(generation *g) {
  size_t cache = (size_t)PAGES * PAGE_SIZE * KV_HEADS * DIM;
  memset(g, 0, sizeof *g);
  g->k_cache = make_zeros(cache);
  g->v_cache = make_zeros(cache);
  /* Pages of the two sequences in turn, as an allocator might hand them out. */
  for (int s = 0; s < SEQUENCES; ++s)
    for (int p = 0; p < MAX_PAGES; ++p)
      g->page_table[s * MAX_PAGES + p] = PAGES - 1 - (p * SEQUENCES + s);
}

static void release(generation *g) {
  free(g->k_cache);
  free(g->v_cache);
  free(g->scratch);
}

/* Grows the scratch at the first calls; none allocates afterwards. */
static void provide(generation *g, posenc_call *call, size_t bytes) {
  if (bytes > g->scratch_bytes) {
    free(g->scratch);
    g->scratch = make_zeros((bytes + sizeof(float) - 1) / sizeof(float));
    g->scratch_bytes = bytes;
  }
  call->scratch = g->scratch;
  call->scratch_bytes = g->scratch_bytes;
}

/* Appends `counts` tokens to the sequences and attends with them; `o` gets a
 * row [HEADS, DIM] for each. */
static void step(generation *g, const int counts[SEQUENCES], float *o) {
  static float q[MOST_TOKENS * HEADS * DIM], k[MOST_TOKENS * KV_HEADS * DIM],
      v[MOST_TOKENS * KV_HEADS * DIM];
  int32_t bounds[SEQUENCES + 1] = {0};
  for (int s = 0; s < SEQUENCES; ++s) {
    bounds[s + 1] = bounds[s] + counts[s];
    for (int i = 0; i < counts[s]; ++i) {
      int token = g->lengths[s] + i, row = bounds[s] + i;
      fill(q + row * HEADS * DIM, 0, s, token, HEADS * DIM);
      fill(k + row * KV_HEADS * DIM, 1, s, token, KV_HEADS * DIM);
      fill(v + row * KV_HEADS * DIM, 2, s, token, KV_HEADS * DIM);
    }
    g->lengths[s] += counts[s]; /* with the new tokens, for both functions */
  }

  int64_t tokens = bounds[SEQUENCES];
  int64_t q_shape[] = {tokens, HEADS, DIM};
  int64_t new_shape[] = {tokens, KV_HEADS, DIM};
  int64_t cache_shape[] = {PAGES, PAGE_SIZE, KV_HEADS, DIM};
  int64_t bounds_shape[] = {SEQUENCES + 1}, lengths_shape[] = {SEQUENCES};
  int64_t table_shape[] = {SEQUENCES, MAX_PAGES};
  DLTensor tq = view(q, 3, q_shape, NULL), to = view(o, 3, q_shape, NULL);
  DLTensor tk = view(k, 3, new_shape, NULL), tv = view(v, 3, new_shape, NULL);
  DLTensor k_cache = view(g->k_cache, 4, cache_shape, NULL);
  DLTensor v_cache = view(g->v_cache, 4, cache_shape, NULL);
  DLTensor cu_seqlens_q = view_i32(bounds, 1, bounds_shape);
  DLTensor key_lengths = view_i32(g->lengths, 1, lengths_shape);
  DLTensor page_table = view_i32(g->page_table, 2, table_shape);

  posenc_call call = POSENC_CALL_INIT;
  generator_append_args append = {.size = sizeof append,
                                  .k = &tk,
                                  .v = &tv,
                                  .k_cache = &k_cache,
                                  .v_cache = &v_cache,
                                  .cu_seqlens_q = &cu_seqlens_q,
                                  .key_lengths = &key_lengths,
                                  .page_table = &page_table};
  provide(g, &call, generator_append_kv_scratch_bytes(&append, &call));
  check(generator_append_kv(&append, &call), "append");

  generator_args args = {.size = sizeof args,
                         .q = &tq,
                         .k = &k_cache,
                         .v = &v_cache,
                         .o = &to,
                         .cu_seqlens_q = &cu_seqlens_q,
                         .key_lengths = &key_lengths,
                         .page_table = &page_table};
  provide(g, &call, generator_scratch_bytes(&args, &call));
  check(generator(&args, &call), "attention");
}

int main(void) {
  static float whole[MOST_TOKENS * 2 * HEADS * DIM],
      row[MOST_TOKENS * HEADS * DIM];
  generation all, steps;
  const int ones[SEQUENCES] = {1, 1};
  int lengths[SEQUENCES], first[SEQUENCES];
  double difference = 0;

  /* All tokens of each sequence in one call. */
  int before = 0;
  for (int s = 0; s < SEQUENCES; ++s) {
    int counts[SEQUENCES] = {0};
    counts[s] = lengths[s] = prompts[s] + DECODED;
    first[s] = before;
    init(&all);
    step(&all, counts, whole + (size_t)before * HEADS * DIM);
    before += lengths[s];
    release(&all);
  }

  /* The prompts together, then token by token. */
  init(&steps);
  step(&steps, prompts, row);
  for (int n = 0; n < DECODED; ++n) {
    step(&steps, ones, row);
    for (int s = 0; s < SEQUENCES; ++s)
      for (int x = 0; x < HEADS * DIM; ++x) {
        int token = first[s] + prompts[s] + n;
        double expected = whole[(size_t)token * HEADS * DIM + x];
        difference =
            fmax(difference, fabs(expected - row[s * HEADS * DIM + x]));
      }
  }
  release(&steps);
  printf("generator: tokens decoded over the cache differ from one call with "
         "all of them by %.1e\n",
         difference);
  return difference < 1e-5 ? 0 : 1;
}
