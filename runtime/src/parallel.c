/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel's parallel loop: hands out items in order and collects failures.
 */
#include "internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct loop {
  posenc_frame *frame;
  posenc_kernel_item item;
  int64_t count;
  _Atomic int64_t next;     /* the next item to start */
  _Atomic int64_t finished; /* items that ran */
  /* The failure of the lowest item. As items start in order, it does not depend
   * on timing. */
  pthread_mutex_t mutex;
  int64_t failed_item; /* or `count` */
  posenc_status status;
  char message[POSENC_ERROR_BYTES];
} loop;

static void record_failure(loop *l, int64_t item, int32_t code) {
  const char *kernel = l->frame->desc->name;
  posenc_status status = (posenc_status)code;
  if (!posenc_is_failure(code))
    status = posenc_fail(POSENC_INTERNAL,
                         "%s: item %" PRId64 " failed with code %" PRId32,
                         kernel, item, code);
  else if (!posenc_last_error()[0])
    posenc_fail(status, "%s: item %" PRId64 " failed: %s", kernel, item,
                posenc_status_string(status));
  pthread_mutex_lock(&l->mutex);
  if (item < l->failed_item) {
    l->failed_item = item;
    l->status = status;
    snprintf(l->message, sizeof(l->message), "%s", posenc_last_error());
  }
  pthread_mutex_unlock(&l->mutex);
  atomic_store_explicit(&l->next, l->count, memory_order_relaxed);
}

/* The body of the pool's loop: runs items until none is left. */
static void work(void *context, int64_t task, int32_t worker) {
  loop *l = context;
  (void)task;
  if (worker < 0 || worker >= l->frame->workers) {
    posenc_fail(POSENC_INVALID_ARGUMENT,
                "%s: the pool's parallel_for passed worker %" PRId32
                ", but has %" PRId64 " threads",
                l->frame->desc->name, worker, l->frame->workers);
    record_failure(l, -1, POSENC_INVALID_ARGUMENT);
    return;
  }
  posenc_clear_error();
  for (;;) {
    int64_t item = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    if (item >= l->count)
      return;
    int32_t code = l->item(l->frame, item, worker);
    if (code) {
      record_failure(l, item, code);
      return;
    }
    atomic_fetch_add_explicit(&l->finished, 1, memory_order_acq_rel);
  }
}

posenc_status posenc_kernel_parallel(posenc_frame *frame, int64_t count,
                                     posenc_kernel_item item) {
  posenc_call options;
  posenc_status status = posenc_read_call(frame->call, &options);
  if (status || count <= 0)
    return status;
  loop l = {.frame = frame,
            .item = item,
            .count = count,
            .mutex = PTHREAD_MUTEX_INITIALIZER,
            .failed_item = count,
            .status = POSENC_OK};
  atomic_init(&l.next, 0);
  atomic_init(&l.finished, 0);
  if (count == 1 || frame->workers <= 1)
    work(&l, 0, 0);
  else
    posenc_pool_run(options.pool, count, work, &l);
  pthread_mutex_destroy(&l.mutex);
  if (l.status)
    return posenc_fail(l.status, "%s", l.message);
  int64_t finished = atomic_load_explicit(&l.finished, memory_order_acquire);
  if (finished != count)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: the pool's parallel_for returned after %" PRId64
                       " of %" PRId64 " items",
                       frame->desc->name, finished, count);
  return POSENC_OK;
}

/* Halide's error code for a failed allocation. */
#define HALIDE_OUT_OF_MEMORY (-11)

posenc_status posenc_kernel_tile_failed(const posenc_frame *frame,
                                        int32_t code) {
  const char *isa = frame->desc->variants[frame->variant].isa;
  if (code == HALIDE_OUT_OF_MEMORY)
    return posenc_fail(POSENC_OUT_OF_MEMORY,
                       "%s: a tile function for %s ran out of memory",
                       frame->desc->name, isa);
  return posenc_fail(POSENC_INTERNAL,
                     "%s: a tile function for %s failed with code %" PRId32,
                     frame->desc->name, isa, code);
}
