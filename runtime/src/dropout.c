/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The random numbers of attention dropout, and the masks that they make.
 */
#include "internal.h"

#include <math.h>

#define RANK 4
#define LARGEST_BATCH (INT64_C(1) << 30)

static const posenc_kernel_desc mask_desc = {.name = "posenc_dropout_mask"};

/******************************************************************************
 * Random numbers
 *****************************************************************************/

static uint32_t low(uint64_t x) { return (uint32_t)x; }
static uint32_t high(uint64_t x) { return (uint32_t)(x >> 32); }

/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011) of the words, with the
 * seed for the key. */
static void philox(uint64_t seed, uint32_t words[4]) {
  uint32_t key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = UINT64_C(0xD2511F53) * words[0];
    uint64_t second = UINT64_C(0xCD9E8D57) * words[2];
    words[0] = high(second) ^ words[1] ^ key0;
    words[1] = low(second);
    words[2] = high(first) ^ words[3] ^ key1;
    words[3] = low(first);
    key0 += UINT32_C(0x9E3779B9);
    key1 += UINT32_C(0xBB67AE85);
  }
}

/* Two words of the counters of a head's pairs. */
static uint64_t head_words(uint64_t seed, uint64_t offset, int64_t batch,
                           int64_t head) {
  uint32_t words[4] = {low(offset), high(offset), (uint32_t)batch,
                       (uint32_t)head};
  philox(seed, words);
  return words[0] | (uint64_t)words[1] << 32;
}

uint64_t posenc_kernel_dropout(const posenc_frame *frame, int64_t batch,
                               int64_t head) {
  return head_words(frame->seed, frame->offset, batch,
                    frame->first_head + head);
}

/******************************************************************************
 * Masks
 *****************************************************************************/

typedef struct mask_call {
  posenc_frame frame; /* first: items are given its address */
  posenc_view view;
  int64_t first_batch, first_head;
  uint64_t dropped; /* words below it drop their pair; 2^32: all do */
} mask_call;

/* A row of the mask: the keys of one query. */
static int32_t write_row(posenc_frame *frame, int64_t item, int64_t worker) {
  const mask_call *m = (const mask_call *)(const void *)frame;
  const int64_t *extent = m->view.extent, *stride = m->view.stride;
  int64_t query = item % extent[2];
  int64_t head = item / extent[2] % extent[1];
  int64_t batch = item / extent[2] / extent[1];
  uint64_t words = head_words(frame->seed, frame->offset,
                              m->first_batch + batch, m->first_head + head);
  char *row =
      m->view.data + batch * stride[0] + head * stride[1] + query * stride[2];
  uint32_t block[4];
  (void)worker;
  for (int64_t key = 0; key < extent[3]; ++key) {
    if (key % 4 == 0) {
      block[0] = (uint32_t)(key / 4);
      block[1] = (uint32_t)(query + extent[3] - extent[2]);
      block[2] = low(words);
      block[3] = high(words);
      philox(frame->seed, block);
    }
    row[key * stride[3]] = block[key % 4] >= m->dropped;
  }
  return POSENC_OK;
}

static posenc_status check_numbers(double probability, int64_t first_batch,
                                   int32_t first_head) {
  if (!(probability >= 0 && probability < 1))
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "posenc_dropout_mask: probability is %g, but must be at "
                       "least 0 and below 1",
                       probability);
  if (first_batch < 0 || first_batch > LARGEST_BATCH)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "posenc_dropout_mask: first_batch is %" PRId64
                       ", but must be from 0 to 2^30",
                       first_batch);
  if (first_head < 0)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "posenc_dropout_mask: call->first_head is %" PRId32
                       ", but must not be negative",
                       first_head);
  return POSENC_OK;
}

static posenc_status check_mask(const DLTensor *mask, posenc_view *view) {
  posenc_tensor_desc expected = {.name = "mask",
                                 .rank = RANK,
                                 .flags = POSENC_TENSOR_OUTPUT,
                                 .dtype_code = kDLUInt,
                                 .dtype_bits = 8};
  char empty;
  if (!mask)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "posenc_dropout_mask: mask is NULL");
  for (int32_t i = 0; i < RANK; ++i) /* a kind without limits of its own */
    expected.axes[i] = (posenc_axis_desc){POSENC_AXIS_BATCH, i, 0};
  posenc_status status = posenc_check_extents(&mask_desc, &expected, mask);
  if (!status)
    status = posenc_check_data(&mask_desc, &expected, mask, &empty, view);
  return status;
}

posenc_status posenc_dropout_mask(double probability, int64_t first_batch,
                                  const posenc_call *call, DLTensor *mask) {
  posenc_call options;
  posenc_view view = {0};
  posenc_status status = posenc_read_call(call, &options);
  if (!status)
    status = check_numbers(probability, first_batch, options.first_head);
  if (!status)
    status = check_mask(mask, &view);
  if (status)
    return status;
  mask_call m = {.frame = {.desc = &mask_desc,
                           .call = call,
                           .workers = posenc_pool_threads(options.pool),
                           .seed = options.seed,
                           .offset = options.offset},
                 .view = view,
                 .first_batch = first_batch,
                 .first_head = options.first_head,
                 .dropped = (uint64_t)ceil(probability * 0x1p32)};
  /* Their number fits, as no two elements share memory. */
  int64_t rows = view.extent[3] ? view.extent[0] : 0;
  for (int32_t i = 1; rows && i < RANK - 1; ++i)
    rows *= view.extent[i];
  return rows ? posenc_kernel_parallel(&m.frame, rows, write_row) : POSENC_OK;
}
