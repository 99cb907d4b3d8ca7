/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Working memory of a call: one shared block, then one block for each worker.
 */
#include "internal.h"

#include <stdlib.h>

/* Rounds up to a multiple of the alignment. */
static bool round_up(int64_t bytes, size_t *rounded) {
  if (bytes < 0 || (uint64_t)bytes > (uint64_t)PTRDIFF_MAX)
    return false;
  size_t value = (size_t)bytes;
  *rounded =
      (value + POSENC_ALIGNMENT - 1) / POSENC_ALIGNMENT * POSENC_ALIGNMENT;
  return true;
}

typedef struct layout {
  size_t shared, worker, total; /* all multiples of the alignment */
} layout;

static bool compute_layout(const posenc_frame *frame, int64_t shared_bytes,
                           int64_t worker_bytes, layout *out) {
  size_t workers;
  if (!round_up(shared_bytes, &out->shared) ||
      !round_up(worker_bytes, &out->worker) ||
      __builtin_mul_overflow(out->worker, frame->workers, &workers) ||
      __builtin_add_overflow(out->shared, workers, &out->total))
    return false;
  /* Offsets and the slack for an unaligned buffer must fit as well. */
  return out->total <= (size_t)PTRDIFF_MAX - POSENC_ALIGNMENT;
}

static size_t with_slack(size_t total) {
  return total ? total + POSENC_ALIGNMENT - 1 : 0;
}

size_t posenc_kernel_scratch_bytes(const posenc_frame *frame,
                                   int64_t shared_bytes, int64_t worker_bytes) {
  layout sizes;
  if (!compute_layout(frame, shared_bytes, worker_bytes, &sizes))
    return SIZE_MAX;
  return with_slack(sizes.total);
}

posenc_status posenc_kernel_scratch(posenc_frame *frame, int64_t shared_bytes,
                                    int64_t worker_bytes) {
  const char *kernel = frame->desc->name;
  posenc_call options;
  layout sizes;
  posenc_status status = posenc_read_call(frame->call, &options);
  if (status)
    return status;
  if (!compute_layout(frame, shared_bytes, worker_bytes, &sizes))
    return posenc_fail(POSENC_OVERFLOW,
                       "%s: the scratch of %" PRId64
                       " workers does not fit in the address space",
                       kernel, frame->workers);
  char *base = NULL;
  if (options.scratch) {
    size_t needed = with_slack(sizes.total);
    if (options.scratch_bytes < needed)
      return posenc_fail(POSENC_INVALID_ARGUMENT,
                         "%s: call->scratch_bytes is %zu, but must be at least "
                         "%zu for these shapes and this pool",
                         kernel, options.scratch_bytes, needed);
    size_t misalignment = (uintptr_t)options.scratch % POSENC_ALIGNMENT;
    base = options.scratch;
    if (misalignment)
      base += POSENC_ALIGNMENT - misalignment;
  } else if (sizes.total) {
    base = aligned_alloc(POSENC_ALIGNMENT, sizes.total);
    if (!base)
      return posenc_fail(POSENC_OUT_OF_MEMORY,
                         "%s: no memory for %zu bytes of scratch", kernel,
                         sizes.total);
    free(frame->owned);
    frame->owned = base;
  }
  frame->shared = sizes.shared ? base : NULL;
  frame->worker_base = sizes.worker ? base + sizes.shared : NULL;
  frame->worker_bytes = (int64_t)sizes.worker;
  return POSENC_OK;
}

posenc_status posenc_kernel_leave(posenc_frame *frame, posenc_status status) {
  free(frame->owned);
  frame->owned = NULL;
  return status;
}
