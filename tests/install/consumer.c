/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls what posenc_add_kernel compiled. An attention kernel: the weights of a
 * row sum to one, so values that are all equal come back, and the first causal
 * row is the first value. An input embedding: twice x and the position's row.
 */
#include "consumer_causal.h"
#include "consumer_embedding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 4, KV_HEADS = 2, LENGTH = 70, DIM = 64, ROWS = 128 };

static DLTensor tensor(float *data, int ndim, int64_t *shape) {
  DLTensor result;
  memset(&result, 0, sizeof(result));
  result.data = data;
  result.device.device_type = kDLCPU;
  result.ndim = ndim;
  result.dtype.code = kDLFloat;
  result.dtype.bits = 32;
  result.dtype.lanes = 1;
  result.shape = shape;
  return result;
}

static float q[HEADS * LENGTH * DIM], k[KV_HEADS * LENGTH * DIM];
static float v[KV_HEADS * LENGTH * DIM], o[HEADS * LENGTH * DIM];

static int run(void) {
  int64_t q_shape[] = {1, HEADS, LENGTH, DIM};
  int64_t k_shape[] = {1, KV_HEADS, LENGTH, DIM};
  DLTensor q_tensor = tensor(q, 4, q_shape), k_tensor = tensor(k, 4, k_shape);
  DLTensor v_tensor = tensor(v, 4, k_shape), o_tensor = tensor(o, 4, q_shape);
  consumer_causal_args args;
  posenc_call call = POSENC_CALL_INIT;
  posenc_status status;

  memset(&args, 0, sizeof(args));
  args.size = sizeof(args);
  args.q = &q_tensor;
  args.k = &k_tensor;
  args.v = &v_tensor;
  args.o = &o_tensor;
  status = consumer_causal(&args, &call);
  if (status != POSENC_OK)
    fprintf(stderr, "%s: %s\n", posenc_status_string(status),
            posenc_last_error());
  return status == POSENC_OK;
}

static int embed(void) {
  static float x[LENGTH * DIM], y[LENGTH * DIM], table[ROWS * DIM];
  int64_t shape[] = {1, LENGTH, DIM}, table_shape[] = {ROWS, DIM};
  DLTensor x_tensor = tensor(x, 3, shape), y_tensor = tensor(y, 3, shape);
  DLTensor table_tensor = tensor(table, 2, table_shape);
  consumer_embedding_args args;
  int i;

  for (i = 0; i < ROWS * DIM; ++i)
    table[i] = (float)i;
  for (i = 0; i < LENGTH * DIM; ++i)
    x[i] = (float)(i % 5);
  memset(&args, 0, sizeof(args));
  args.size = sizeof(args);
  args.x = &x_tensor;
  args.y = &y_tensor;
  args.learned_absolute_table = &table_tensor;
  if (consumer_embedding(&args, NULL) != POSENC_OK) {
    fprintf(stderr, "embedding: %s\n", posenc_last_error());
    return 0;
  }
  for (i = 0; i < LENGTH * DIM; ++i)
    if (y[i] != 2.0f * x[i] + table[i]) {
      fprintf(stderr, "embedding: y[%d] = %.9g, expected %.9g\n", i, y[i],
              2.0f * x[i] + table[i]);
      return 0;
    }
  return 1;
}

int main(void) {
  unsigned state = 1;
  int i, h, d;
  for (i = 0; i < HEADS * LENGTH * DIM; ++i) {
    state = state * 1664525u + 1013904223u;
    q[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    if (i < KV_HEADS * LENGTH * DIM) {
      k[i] = -q[i] * 0.5f;
      v[i] = 3.0f;
    }
  }
  if (!run())
    return 1;
  for (i = 0; i < HEADS * LENGTH * DIM; ++i)
    if (!(fabsf(o[i] - 3.0f) <= 1e-5f)) {
      fprintf(stderr, "equal values: o[%d] = %.9g, expected 3\n", i, o[i]);
      return 1;
    }

  for (i = 0; i < KV_HEADS * LENGTH * DIM; ++i)
    v[i] = (float)i / 1024.0f;
  if (!run())
    return 1;
  for (h = 0; h < HEADS; ++h)
    for (d = 0; d < DIM; ++d) {
      float got = o[h * LENGTH * DIM + d];
      float expected = v[h / (HEADS / KV_HEADS) * LENGTH * DIM + d];
      if (!(fabsf(got - expected) <= 1e-5f)) {
        fprintf(stderr, "first row: head %d, column %d: %.9g, expected %.9g\n",
                h, d, got, expected);
        return 1;
      }
    }
  return !embed();
}
