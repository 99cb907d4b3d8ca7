/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the runtime's files share with each other.
 */
#ifndef POSENC_RUNTIME_INTERNAL_H
#define POSENC_RUNTIME_INTERNAL_H

#include "posenc/kernel_abi.h"

#include <inttypes.h>
#include <stdbool.h>

/* Room for one sentence; longer ones are cut. */
#define POSENC_ERROR_BYTES 512

/* Cache line and widest vector. */
#define POSENC_ALIGNMENT 64

/* status.c: records the calling thread's sentence and returns `status`. */
posenc_status posenc_fail(posenc_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void posenc_clear_error(void);
bool posenc_is_failure(int32_t value);

/* call.c: the options of a call with the defaults filled in. */
posenc_status posenc_read_call(const posenc_call *call, posenc_call *options);

/* variant.c: index of the variant to run. */
posenc_status posenc_choose_variant(const posenc_kernel_desc *desc,
                                    int64_t *variant);

/* tensor.c: one tensor by itself; agreement between tensors is arguments.c's.
 * Messages start with the kernel's name. */
posenc_status posenc_check_extents(const posenc_kernel_desc *desc,
                                   const posenc_tensor_desc *expected,
                                   const DLTensor *tensor);
/* The rest: device, type, strides, data. Fills `view`. A tensor that has no
 * elements gets `empty` for its data if that is NULL. */
posenc_status posenc_check_data(const posenc_kernel_desc *desc,
                                const posenc_tensor_desc *expected,
                                const DLTensor *tensor, char *empty,
                                posenc_view *view);
/* Extents and strides alone, unchecked; nothing of a tensor of another rank. */
void posenc_view_layout(const posenc_tensor_desc *expected,
                        const DLTensor *tensor, posenc_view *view);
/* "float32", "bfloat16", "int8x4" */
void posenc_describe_type(DLDataType type, char *text, size_t size);

/* What the tensors say about sequences. */
typedef struct posenc_extents {
  int64_t queries, keys;         /* Lq and Lk, or 0 */
  bool has_keys;                 /* some tensor has the extent Lk */
  int64_t all_queries, all_keys; /* of packed ones */
  int64_t pages, page_size, max_pages;
  int64_t capacity; /* of a ring */
} posenc_extents;

/* The axis of a tensor that is a ring of keys, or NULL; and the tensor. */
const posenc_axis_desc *posenc_find_ring(const posenc_kernel_desc *desc,
                                         const posenc_tensor_desc **tensor);
/* The view of the tensor with a role, or NULL; and its description. */
const posenc_view *posenc_find_role(const posenc_frame *frame, int32_t role,
                                    const posenc_tensor_desc **tensor);

/* sequences.c: checks bounds, lengths and pages, whose tensors have views, and
 * sets the frame's lengths. */
posenc_status posenc_find_sequences(const posenc_extents *extents,
                                    posenc_frame *frame);
/* Of their lengths: what a prepared buffer was made for. */
uint64_t posenc_hash_sequences(const posenc_frame *frame);
/* No sequence has more queries than keys. */
posenc_status posenc_check_own_keys(const posenc_frame *frame);

/* blocks.c: lists of blocks fit the call's lengths and rise. */
posenc_status posenc_check_blocks(const posenc_frame *frame);

/* prepared.c: sets frame->prepared once the shape is known. */
posenc_status posenc_check_prepared(posenc_frame *frame, const void *prepared);

/* pool.c: calls `body` with workers 0 .. n - 1, n <= `wanted`, at the same time
 * as far as threads are idle. `body` returns when no work is left, so that a
 * worker that comes too late finds none. */
void posenc_pool_run(posenc_pool *pool, int64_t wanted, posenc_pool_body body,
                     void *body_context);

#endif /* POSENC_RUNTIME_INTERNAL_H */
