/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the examples share: numbers, tensor views, errors.
 */
#ifndef POSENC_EXAMPLE_H
#define POSENC_EXAMPLE_H

#include "posenc/posenc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints what went wrong and ends the program. */
static inline void check(posenc_status status, const char *what) {
  if (status == POSENC_OK)
    return;
  fprintf(stderr, "%s: %s: %s\n", what, posenc_status_string(status),
          posenc_last_error());
  exit(1);
}

/* `count` zeros. */
static inline float *make_zeros(size_t count) {
  float *data = calloc(count ? count : 1, sizeof *data);
  if (!data) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return data;
}

/* `count` numbers from -1 to 1. */
static inline float *make_random(size_t count, unsigned seed) {
  float *data = make_zeros(count);
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
  return data;
}

static inline DLTensor view_type(void *data, DLDataType type, int32_t rank,
                                 int64_t *shape, int64_t *strides) {
  DLTensor tensor = {.data = data,
                     .device = {kDLCPU, 0},
                     .ndim = rank,
                     .dtype = type,
                     .shape = shape,
                     .strides = strides};
  return tensor;
}

/* A view of f32 numbers; `strides` may be NULL for compact. */
static inline DLTensor view(float *data, int32_t rank, int64_t *shape,
                            int64_t *strides) {
  return view_type(data, (DLDataType){kDLFloat, 32, 1}, rank, shape, strides);
}

/* A compact view of int32 numbers. */
static inline DLTensor view_i32(int32_t *data, int32_t rank, int64_t *shape) {
  return view_type(data, (DLDataType){kDLInt, 32, 1}, rank, shape, NULL);
}

/* The largest difference; NaN where there is one. */
static inline double compare(const float *a, const float *b, size_t count) {
  double difference = 0;
  for (size_t i = 0; i < count && !isnan(difference); ++i) {
    double d = fabs((double)a[i] - b[i]);
    if (!(d <= difference))
      difference = d;
  }
  return difference;
}

#endif /* POSENC_EXAMPLE_H */
