/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two kernels from C: a prompt through the decoder, then one more token against
 * the keys and values so far; and the encoder on packed q, k and v.
 */
#include "decoder.h"
#include "encoder.h"
#include "example.h"

enum { HEADS = 8, KV_HEADS = 2, DIM = 64, LENGTH = 100 };

static double run_decoder(posenc_pool *pool) {
  int64_t q_shape[] = {1, HEADS, LENGTH, DIM};
  int64_t kv_shape[] = {1, KV_HEADS, LENGTH, DIM};
  size_t q_count = (size_t)HEADS * LENGTH * DIM;
  size_t kv_count = (size_t)KV_HEADS * LENGTH * DIM;
  float *q = make_random(q_count, 1), *k = make_random(kv_count, 2);
  float *v = make_random(kv_count, 3), *o = make_random(q_count, 4);
  DLTensor tq = view(q, 4, q_shape, NULL), tk = view(k, 4, kv_shape, NULL);
  DLTensor tv = view(v, 4, kv_shape, NULL), to = view(o, 4, q_shape, NULL);
  decoder_args args = {
      .size = sizeof args, .q = &tq, .k = &tk, .v = &tv, .o = &to};
  posenc_call call = POSENC_CALL_INIT;
  call.pool = pool;
  check(decoder(&args, &call), "decoder, prompt");

  /* One query against all keys: the last row again. The rows of one head lie
   * LENGTH * DIM floats apart, so the last of each head is a strided view. */
  int64_t last_shape[] = {1, HEADS, 1, DIM};
  int64_t last_strides[] = {HEADS * LENGTH * DIM, LENGTH * DIM, DIM, 1};
  float *o_last = make_random((size_t)HEADS * DIM, 5);
  DLTensor tq_last =
      view(q + (size_t)(LENGTH - 1) * DIM, 4, last_shape, last_strides);
  DLTensor to_last = view(o_last, 4, last_shape, NULL);
  args.q = &tq_last;
  args.o = &to_last;
  check(decoder(&args, &call), "decoder, one token");

  double difference = 0;
  for (int h = 0; h < HEADS; ++h)
    for (int c = 0; c < DIM; ++c) {
      double prompt = o[((size_t)h * LENGTH + LENGTH - 1) * DIM + c];
      difference = fmax(difference, fabs(prompt - o_last[h * DIM + c]));
    }
  free(q), free(k), free(v), free(o), free(o_last);
  return difference;
}

static double run_encoder(void) {
  /* q, k and v packed as [L, 3, H, D], as a fused projection leaves them. */
  enum { H = 4, D = 32 };
  int64_t shape[] = {1, H, LENGTH, D};
  int64_t strides[] = {0, D, 3 * H * D, 1};
  float *qkv = make_random((size_t)LENGTH * 3 * H * D, 6);
  float *o = make_random((size_t)H * LENGTH * D, 7);
  DLTensor tq = view(qkv, 4, shape, strides);
  DLTensor tk = view(qkv + H * D, 4, shape, strides);
  DLTensor tv = view(qkv + 2 * H * D, 4, shape, strides);
  DLTensor to = view(o, 4, shape, NULL);
  encoder_args args = {
      .size = sizeof args, .q = &tq, .k = &tk, .v = &tv, .o = &to};
  check(encoder(&args, NULL), "encoder");

  /* Row 0 of head 0 the slow way. */
  double sum = 0, out[D] = {0};
  for (int j = 0; j < LENGTH; ++j) {
    double score = 0;
    for (int c = 0; c < D; ++c)
      score += (double)qkv[c] * qkv[(size_t)j * 3 * H * D + H * D + c];
    double weight = exp(score / sqrt(D) - log1p(j));
    sum += weight;
    for (int c = 0; c < D; ++c)
      out[c] += weight * qkv[(size_t)j * 3 * H * D + 2 * H * D + c];
  }
  double difference = 0;
  for (int c = 0; c < D; ++c)
    difference = fmax(difference, fabs(out[c] / sum - o[c]));
  free(qkv), free(o);
  return difference;
}

int main(void) {
  posenc_pool *pool = NULL;
  check(posenc_pool_create(2, &pool), "pool");
  double decode = run_decoder(pool);
  double encode = run_encoder();
  posenc_pool_destroy(pool);
  printf("posenc %d.%d.%d\n", POSENC_VERSION_MAJOR, POSENC_VERSION_MINOR,
         POSENC_VERSION_PATCH);
  printf("decoder: a token decoded alone differs from the prompt's last row "
         "by %.1e\n",
         decode);
  printf("encoder: differs from a loop in double precision by %.1e\n", encode);
  return decode < 1e-5 && encode < 1e-5 ? 0 : 1;
}
