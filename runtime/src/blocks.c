/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lists of the blocks of keys that blocks of queries see.
 */
#include "internal.h"

/* The lists of a call, in compressed sparse rows. */
typedef struct block_lists {
  const posenc_tensor_desc *offsets_desc, *indices_desc;
  const posenc_view *offsets, *indices; /* NULL: the kernel has no lists */
  int64_t queries, keys;                /* of a block */
} block_lists;

static block_lists find_lists(const posenc_frame *frame) {
  block_lists lists = {0};
  lists.offsets =
      posenc_find_role(frame, POSENC_TENSOR_BLOCK_OFFSETS, &lists.offsets_desc);
  lists.indices =
      posenc_find_role(frame, POSENC_TENSOR_BLOCK_INDICES, &lists.indices_desc);
  if (lists.offsets && lists.indices) {
    lists.queries = lists.offsets_desc->axes[2].value;
    lists.keys = lists.indices_desc->axes[0].value;
  }
  return lists;
}

static int64_t get_offset(const block_lists *lists, int64_t batch, int64_t head,
                          int64_t block) {
  const posenc_view *view = lists->offsets;
  const int32_t *data = (const int32_t *)(const void *)view->data;
  return data[batch * view->stride[0] + head * view->stride[1] +
              block * view->stride[2]];
}

static int64_t get_index(const block_lists *lists, int64_t place) {
  const int32_t *data = (const int32_t *)(const void *)lists->indices->data;
  return data[place * lists->indices->stride[0]];
}

static int64_t count_blocks(int64_t tokens, int64_t size) {
  return tokens / size + (tokens % size != 0);
}

/* The blocks of keys of one block of queries. */
static posenc_status check_list(const posenc_frame *frame,
                                const block_lists *lists, int64_t begin,
                                int64_t end) {
  int64_t blocks = count_blocks(frame->key_len, lists->keys), previous = -1;
  for (int64_t place = begin; place < end; ++place) {
    int64_t index = get_index(lists, place);
    if (blocks == 0)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: %s holds %" PRId64 " at %" PRId64
                         ", but must have none there, since Lk is 0",
                         frame->desc->name, lists->indices_desc->name, index,
                         place);
    if (index < 0 || index >= blocks)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: %s holds %" PRId64 " at %" PRId64
                         ", but must have from 0 to %" PRId64
                         ", a block of %" PRId64 " of the %" PRId64 " keys",
                         frame->desc->name, lists->indices_desc->name, index,
                         place, blocks - 1, lists->keys, frame->key_len);
    if (index <= previous)
      return posenc_fail(
          POSENC_OUT_OF_RANGE,
          "%s: %s holds %" PRId64 " at %" PRId64 " behind %" PRId64
          ", but must rise for each block of queries",
          frame->desc->name, lists->indices_desc->name, index, place, previous);
    previous = index;
  }
  return POSENC_OK;
}

/* The lists of one batch entry and head. */
static posenc_status check_lists(const posenc_frame *frame,
                                 const block_lists *lists, int64_t batch,
                                 int64_t head) {
  int64_t all = lists->indices->extent[0];
  int64_t begin = 0;
  for (int64_t block = 0; block < lists->offsets->extent[2]; ++block) {
    int64_t end = get_offset(lists, batch, head, block);
    if (end < begin || end > all)
      return posenc_fail(
          POSENC_OUT_OF_RANGE,
          "%s: %s holds %" PRId64 " at [%" PRId64 ", %" PRId64 ", %" PRId64
          "], but must have from %" PRId64 "%s to N = %" PRId64,
          frame->desc->name, lists->offsets_desc->name, end, batch, head, block,
          begin, block ? ", the number before it," : "", all);
    posenc_status status =
        block ? check_list(frame, lists, begin, end) : POSENC_OK;
    if (status)
      return status;
    begin = end;
  }
  return POSENC_OK;
}

posenc_status posenc_check_blocks(const posenc_frame *frame) {
  block_lists lists = find_lists(frame);
  if (!lists.offsets || !lists.indices)
    return POSENC_OK;
  int64_t wanted = count_blocks(frame->query_len, lists.queries) + 1;
  if (lists.offsets->extent[2] < wanted)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: %s has extent %" PRId64
                       " on axis 2, but must have at least %" PRId64
                       ": Lq = %" PRId64 " queries are in blocks of %" PRId64,
                       frame->desc->name, lists.offsets_desc->name,
                       lists.offsets->extent[2], wanted, frame->query_len,
                       lists.queries);
  for (int64_t b = 0; b < lists.offsets->extent[0]; ++b)
    for (int64_t h = 0; h < lists.offsets->extent[1]; ++h) {
      posenc_status status = check_lists(frame, &lists, b, h);
      if (status)
        return status;
    }
  return POSENC_OK;
}

/* The first place in [begin, end) whose index is at least `index`. */
static int64_t find_index(const block_lists *lists, int64_t begin, int64_t end,
                          int64_t index) {
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (get_index(lists, middle) < index)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

int64_t posenc_kernel_next_listed(const posenc_frame *frame, int64_t batch,
                                  int64_t head, int64_t query, int64_t key,
                                  int64_t end, int32_t hidden) {
  block_lists lists = find_lists(frame);
  int64_t row = query / lists.queries;
  int64_t last = get_offset(&lists, batch, head, row + 1);
  int64_t block = key / lists.keys;
  int64_t place =
      find_index(&lists, get_offset(&lists, batch, head, row), last, block);
  int64_t next = end;
  if (hidden) {
    for (; place < last && get_index(&lists, place) == block; ++place)
      ++block;
    next = block * lists.keys;
  } else if (place < last) {
    next = get_index(&lists, place) * lists.keys;
  }
  next = next < key ? key : next;
  return next < end ? next : end;
}
