/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sequences of a call that differ in length: their bounds, lengths and pages.
 */
#include "internal.h"

#include <string.h>

#define LONGEST_SEQUENCE (INT64_C(1) << 30)

/* The numbers of one of the small int32 tensors. */
typedef struct numbers {
  const char *name; /* NULL: the kernel has no such tensor */
  const posenc_view *view;
} numbers;

const posenc_view *posenc_find_role(const posenc_frame *frame, int32_t role,
                                    const posenc_tensor_desc **tensor) {
  const posenc_kernel_desc *desc = frame->desc;
  for (int32_t t = 0; t < desc->tensor_count; ++t)
    if (desc->tensors[t].flags & role) {
      *tensor = &desc->tensors[t];
      return &frame->tensors[t];
    }
  return NULL;
}

const posenc_axis_desc *posenc_find_ring(const posenc_kernel_desc *desc,
                                         const posenc_tensor_desc **tensor) {
  for (int32_t t = 0; t < desc->tensor_count; ++t)
    for (int32_t i = 0; i < desc->tensors[t].rank; ++i)
      if (desc->tensors[t].axes[i].kind == POSENC_AXIS_RING) {
        *tensor = &desc->tensors[t];
        return &desc->tensors[t].axes[i];
      }
  return NULL;
}

static numbers find_numbers(const posenc_frame *frame, int32_t role) {
  const posenc_tensor_desc *tensor = NULL;
  const posenc_view *view = posenc_find_role(frame, role, &tensor);
  return (numbers){view ? tensor->name : NULL, view};
}

static int64_t get(numbers n, int64_t row) {
  const int32_t *data = (const int32_t *)(const void *)n.view->data;
  return data[row * n.view->stride[0]];
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Bounds rise from 0 to at most `all`. */
static posenc_status check_bounds(const posenc_frame *frame, numbers n,
                                  int64_t all, const char *symbol,
                                  int64_t *longest) {
  const char *kernel = frame->desc->name;
  if (get(n, 0) != 0)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "%s: %s begins with %" PRId64 ", but must begin with 0",
                       kernel, n.name, get(n, 0));
  *longest = 0;
  for (int64_t b = 0; b < frame->batch; ++b) {
    int64_t begin = get(n, b), end = get(n, b + 1);
    if (end < begin || end > all)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: %s holds %" PRId64 " at %" PRId64
                         ", but must have from %" PRId64 ", the number before "
                         "it, to %s = %" PRId64,
                         kernel, n.name, end, b + 1, begin, symbol, all);
    *longest = larger(*longest, end - begin);
  }
  return POSENC_OK;
}

static posenc_status check_key_lengths(const posenc_frame *frame, numbers n,
                                       int64_t capacity, const char *what,
                                       int64_t *longest) {
  *longest = 0;
  for (int64_t b = 0; b < frame->batch; ++b) {
    int64_t length = get(n, b);
    if (length < 0 || length > capacity)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: %s holds %" PRId64 " at %" PRId64
                         ", but must have from 0 to %" PRId64 ", the %s",
                         frame->desc->name, n.name, length, b, capacity, what);
    *longest = larger(*longest, length);
  }
  return POSENC_OK;
}

/* A ring holds what the first query of a call sees. */
static posenc_status check_ring(const posenc_frame *frame, int64_t capacity) {
  const posenc_tensor_desc *tensor = NULL;
  const posenc_axis_desc *axis = posenc_find_ring(frame->desc, &tensor);
  int64_t wanted = axis->value + frame->query_len;
  if ((frame->desc->flags & POSENC_KERNEL_APPEND) || frame->query_len == 0 ||
      capacity >= wanted)
    return POSENC_OK;
  return posenc_fail(POSENC_SHAPE_MISMATCH,
                     "%s: %s has extent %" PRId64 " on axis %d, but must have "
                     "at least %" PRId64 ": a query sees %" PRId64
                     " keys before its own, and Lq is %" PRId64,
                     frame->desc->name, tensor->name, capacity,
                     (int)(axis - tensor->axes), wanted, axis->value,
                     frame->query_len);
}

/* The pages that the keys of a sequence need. */
static posenc_status check_pages(const posenc_frame *frame, numbers table,
                                 numbers lengths, int64_t page_size,
                                 int64_t pages) {
  const int32_t *data = (const int32_t *)(const void *)table.view->data;
  for (int64_t b = 0; b < frame->batch; ++b) {
    int64_t size = larger(page_size, 1); /* without keys it may be 0 */
    int64_t used = (get(lengths, b) + size - 1) / size;
    for (int64_t p = 0; p < used; ++p) {
      int64_t page =
          data[b * table.view->stride[0] + p * table.view->stride[1]];
      if (pages == 0)
        return posenc_fail(POSENC_OUT_OF_RANGE,
                           "%s: %s holds %" PRId64 " for page %" PRId64
                           " of sequence %" PRId64 ", but there are no pages",
                           frame->desc->name, table.name, page, p, b);
      if (page < 0 || page >= pages)
        return posenc_fail(
            POSENC_OUT_OF_RANGE,
            "%s: %s holds %" PRId64 " for page %" PRId64 " of sequence %" PRId64
            ", but must have from 0 to %" PRId64,
            frame->desc->name, table.name, page, p, b, pages - 1);
    }
  }
  return POSENC_OK;
}

posenc_status posenc_find_sequences(const posenc_extents *extents,
                                    posenc_frame *frame) {
  numbers queries = find_numbers(frame, POSENC_TENSOR_QUERY_BOUNDS);
  numbers keys = find_numbers(frame, POSENC_TENSOR_KEY_BOUNDS);
  numbers lengths = find_numbers(frame, POSENC_TENSOR_KEY_LENGTHS);
  numbers pages = find_numbers(frame, POSENC_TENSOR_PAGE_TABLE);
  posenc_status status = POSENC_OK;

  frame->query_len = frame->longest_query = extents->queries;
  if (queries.name) {
    status = check_bounds(frame, queries, extents->all_queries, "Tq",
                          &frame->query_len);
    frame->longest_query = frame->query_len;
  }
  frame->all_queries =
      queries.name ? extents->all_queries : frame->batch * frame->query_len;

  frame->key_len = extents->keys;
  if (pages.name) {
    frame->key_len = extents->max_pages * extents->page_size;
    if (frame->key_len > LONGEST_SEQUENCE)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: %s has %" PRId64 " pages of %" PRId64
                         " keys for each sequence, but a sequence has at most "
                         "2^30 keys",
                         frame->desc->name, pages.name, extents->max_pages,
                         extents->page_size);
    /* Operands with a number for each key have no more. */
    if (extents->has_keys && extents->keys < frame->key_len)
      frame->key_len = extents->keys;
  }
  const posenc_tensor_desc *ring_tensor = NULL;
  bool is_ring = posenc_find_ring(frame->desc, &ring_tensor) != NULL;
  bool is_state = (frame->desc->flags & POSENC_KERNEL_STATE) != 0;
  if (is_ring)
    frame->key_len = extents->capacity;
  frame->longest_key = frame->key_len;
  if (!status && keys.name) {
    status =
        check_bounds(frame, keys, extents->all_keys, "Tk", &frame->key_len);
    frame->longest_key = frame->key_len;
  }
  if (!status && lengths.name)
    status = check_key_lengths(
        frame, lengths,
        is_ring || is_state ? LONGEST_SEQUENCE : frame->longest_key,
        is_ring || is_state ? "most keys of a sequence"
                            : "keys that there is room for",
        &frame->key_len);
  if (is_state)
    frame->longest_key = frame->key_len;
  if (!status && is_ring) {
    frame->first_key = larger(frame->key_len - extents->capacity, 0);
    status = check_ring(frame, extents->capacity);
  }
  if (!status && pages.name && lengths.name) /* pages have both */
    status =
        check_pages(frame, pages, lengths, extents->page_size, extents->pages);
  frame->all_keys = is_state ? frame->all_queries
                    : keys.name
                        ? extents->all_keys
                        : frame->batch * (frame->key_len - frame->first_key);
  return status;
}

void posenc_kernel_sequence(const posenc_frame *call, int64_t batch,
                            posenc_frame *sequence) {
  const posenc_kernel_desc *desc = call->desc;
  numbers queries = find_numbers(call, POSENC_TENSOR_QUERY_BOUNDS);
  numbers keys = find_numbers(call, POSENC_TENSOR_KEY_BOUNDS);
  numbers lengths = find_numbers(call, POSENC_TENSOR_KEY_LENGTHS);
  memcpy(sequence, call,
         offsetof(posenc_frame, tensors) +
             (size_t)desc->tensor_count * sizeof(posenc_view));
  sequence->query_base = batch * call->longest_query;
  sequence->key_base = batch * (call->key_len - call->first_key);
  if (queries.name) {
    sequence->query_base = get(queries, batch);
    sequence->query_len = get(queries, batch + 1) - sequence->query_base;
  }
  if (keys.name) {
    sequence->key_base = get(keys, batch);
    sequence->key_len = get(keys, batch + 1) - sequence->key_base;
  }
  if (lengths.name)
    sequence->key_len = get(lengths, batch);
  /* Only a ring has room for fewer keys than the sequence has. */
  sequence->first_key = larger(sequence->key_len - call->longest_key, 0);
  for (int32_t t = 0; t < desc->tensor_count; ++t) {
    const posenc_tensor_desc *tensor = &desc->tensors[t];
    posenc_view *view = &sequence->tensors[t];
    for (int32_t i = 0; view->data && i < tensor->rank; ++i) {
      int32_t kind = tensor->axes[i].kind;
      int64_t first = kind == POSENC_AXIS_ALL_QUERIES ? sequence->query_base
                      : kind == POSENC_AXIS_ALL_KEYS  ? sequence->key_base
                                                      : 0;
      view->data += first * view->stride[tensor->axes[i].place] *
                    (tensor->dtype_bits / 8);
    }
  }
}

/* FNV-1a */
static uint64_t add_to_hash(uint64_t hash, numbers n, int64_t count) {
  for (int64_t i = 0; n.name && i < count; ++i)
    hash = (hash ^ (uint64_t)get(n, i)) * UINT64_C(0x100000001b3);
  return hash;
}

uint64_t posenc_hash_sequences(const posenc_frame *frame) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  hash = add_to_hash(hash, find_numbers(frame, POSENC_TENSOR_QUERY_BOUNDS),
                     frame->batch + 1);
  hash = add_to_hash(hash, find_numbers(frame, POSENC_TENSOR_KEY_BOUNDS),
                     frame->batch + 1);
  return add_to_hash(hash, find_numbers(frame, POSENC_TENSOR_KEY_LENGTHS),
                     frame->batch);
}

posenc_status posenc_check_own_keys(const posenc_frame *frame) {
  posenc_frame sequence;
  for (int64_t b = 0; b < frame->batch; ++b) {
    posenc_kernel_sequence(frame, b, &sequence);
    bool fits = sequence.query_len <= sequence.key_len;
    if (!fits &&
        (frame->desc->flags & (POSENC_KERNEL_APPEND | POSENC_KERNEL_STATE)))
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: sequence %" PRId64 " has %" PRId64
                         " new tokens, but key_lengths holds %" PRId64
                         " for it, and must count them too",
                         frame->desc->name, b, sequence.query_len,
                         sequence.key_len);
    if (!fits)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: sequence %" PRId64 " has %" PRId64
                         " queries, but must have at most its %" PRId64
                         " keys: the kernel looks queries up among the keys",
                         frame->desc->name, b, sequence.query_len,
                         sequence.key_len);
  }
  return POSENC_OK;
}
