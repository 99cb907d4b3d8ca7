/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sequence parallelism in one process: the keys are cut into two shards, each
 * of which attends by itself, and posenc_merge makes one result of the two. It
 * is compared with one call that sees all keys.
 */
#include "example.h"
#include "shard.h"

enum { HEADS = 8, KV_HEADS = 2, DIM = 64, QUERIES = 37, KEYS = 300 };
/* Some queries see no key of the second shard, some see a part of it. */
enum { FIRST_QUERY = 90, CUT = 110 };

/* Where tokens from `first` on stand. */
static DLTensor count_from(int32_t first, int32_t *data, int64_t *shape) {
  for (int64_t i = 0; i < shape[1]; ++i)
    data[i] = first + (int32_t)i;
  return view_i32(data, 2, shape);
}

/* All queries against `count` keys from `first` on. */
static void attend(const DLTensor *q, float *k, float *v, int64_t first,
                   int64_t count, DLTensor *o, DLTensor *lse) {
  int64_t shape[] = {1, KV_HEADS, count, DIM};
  int64_t strides[] = {KV_HEADS * KEYS * DIM, KEYS * DIM, DIM, 1};
  int64_t q_places[] = {1, QUERIES}, k_places[] = {1, count};
  int32_t q_positions[QUERIES], k_positions[KEYS];
  DLTensor tk = view(k + first * DIM, 4, shape, strides);
  DLTensor tv = view(v + first * DIM, 4, shape, strides);
  DLTensor tq_positions = count_from(FIRST_QUERY, q_positions, q_places);
  DLTensor tk_positions = count_from((int32_t)first, k_positions, k_places);
  shard_args args = {.size = sizeof args,
                     .q = q,
                     .k = &tk,
                     .v = &tv,
                     .o = o,
                     .lse = lse,
                     .positions = &tk_positions,
                     .query_positions = &tq_positions};
  check(shard(&args, NULL), "shard");
}

int main(void) {
  size_t o_count = (size_t)HEADS * QUERIES * DIM;
  size_t lse_count = (size_t)HEADS * QUERIES;
  size_t kv_count = (size_t)KV_HEADS * KEYS * DIM;
  int64_t shape[] = {1, HEADS, QUERIES, DIM}; /* of lse without the last */
  float *q = make_random(o_count, 1);
  float *k = make_random(kv_count, 2), *v = make_random(kv_count, 3);
  float *o[3], *lse[3];
  DLTensor to[3], tlse[3], tq = view(q, 4, shape, NULL);
  for (unsigned i = 0; i < 3; ++i) {
    o[i] = make_random(o_count, 4 + i);
    lse[i] = make_random(lse_count, 7 + i);
    to[i] = view(o[i], 4, shape, NULL);
    tlse[i] = view(lse[i], 3, shape, NULL);
  }

  attend(&tq, k, v, 0, KEYS, &to[2], &tlse[2]);
  attend(&tq, k, v, 0, CUT, &to[0], &tlse[0]);
  attend(&tq, k, v, CUT, KEYS - CUT, &to[1], &tlse[1]);

  /* In place: the first part takes in the second. */
  const DLTensor *o_parts[] = {&to[0], &to[1]};
  const DLTensor *lse_parts[] = {&tlse[0], &tlse[1]};
  posenc_merge_args args = {.size = sizeof args,
                            .count = 2,
                            .o_parts = o_parts,
                            .lse_parts = lse_parts,
                            .o = &to[0],
                            .lse = &tlse[0]};
  check(posenc_merge(&args, NULL), "merge");

  double o_difference = compare(o[0], o[2], o_count);
  double lse_difference = compare(lse[0], lse[2], lse_count);
  printf("two shards merged: o differs from one call by %.1e, lse by %.1e\n",
         o_difference, lse_difference);
  for (int i = 0; i < 3; ++i)
    free(o[i]), free(lse[i]);
  free(q), free(k), free(v);
  return o_difference < 1e-6 && lse_difference < 2e-6 ? 0 : 1;
}
