/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Thread pools.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "internal.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* A loop in progress; lives on the stack of the thread that runs it. */
typedef struct job {
  posenc_pool_body body;
  void *context;
  int64_t seats;   /* pool threads that may still join */
  int32_t helpers; /* pool threads inside body */
  bool listed;     /* in pool->jobs */
  struct job *next;
} job;

typedef struct helper {
  posenc_pool *pool;
  pthread_t thread;
  int32_t worker;
} helper;

struct posenc_pool {
  int32_t threads;
  posenc_pool_hooks hooks; /* parallel_for is NULL for own threads */
  pthread_mutex_t mutex;   /* guards what follows, and all jobs */
  pthread_cond_t work;     /* a job was listed, or `quit` */
  pthread_cond_t done;     /* a job lost its last helper */
  bool quit;
  job *jobs; /* those that want help, oldest first */
  int32_t started;
  helper helpers[]; /* threads - 1 */
};

static void list(posenc_pool *pool, job *j) {
  job **end = &pool->jobs;
  while (*end)
    end = &(*end)->next;
  *end = j;
  j->next = NULL;
  j->listed = true;
}

static void unlist(posenc_pool *pool, job *j) {
  if (!j->listed)
    return;
  job **link = &pool->jobs;
  while (*link != j)
    link = &(*link)->next;
  *link = j->next;
  j->listed = false;
}

static void *run_helper(void *context) {
  helper *self = context;
  posenc_pool *pool = self->pool;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (!pool->jobs && !pool->quit)
      pthread_cond_wait(&pool->work, &pool->mutex);
    job *j = pool->jobs;
    if (!j)
      break;
    ++j->helpers;
    if (--j->seats == 0)
      unlist(pool, j);
    pthread_mutex_unlock(&pool->mutex);
    j->body(j->context, self->worker, self->worker);
    pthread_mutex_lock(&pool->mutex);
    unlist(pool, j); /* nothing is left to do in it */
    if (--j->helpers == 0)
      pthread_cond_broadcast(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

/* Callers of one pool share its threads: a job is listed until it has its
 * helpers or its work runs out, and waits only for helpers that joined it. A
 * caller that gets no help does everything itself, so nothing can deadlock. */
static void run_own(posenc_pool *pool, int64_t seats, posenc_pool_body body,
                    void *body_context) {
  job j = {.body = body, .context = body_context, .seats = seats};
  pthread_mutex_lock(&pool->mutex);
  list(pool, &j);
  if (seats == 1)
    pthread_cond_signal(&pool->work);
  else
    pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  body(body_context, 0, 0);
  pthread_mutex_lock(&pool->mutex);
  unlist(pool, &j);
  while (j.helpers)
    pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

void posenc_pool_run(posenc_pool *pool, int64_t wanted, posenc_pool_body body,
                     void *body_context) {
  if (wanted > pool->threads)
    wanted = pool->threads;
  if (pool->hooks.parallel_for)
    pool->hooks.parallel_for(pool->hooks.context, wanted, body, body_context);
  else if (wanted > 1)
    run_own(pool, wanted - 1, body, body_context);
  else
    body(body_context, 0, 0);
}

static int32_t usable_cpus(void) {
  long count = 0;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    count = CPU_COUNT(&set);
#endif
  if (count < 1) /* more CPUs than cpu_set_t holds, or not Linux */
    count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count < 1)
    return 1;
  return count < POSENC_POOL_MAX_THREADS ? (int32_t)count
                                         : POSENC_POOL_MAX_THREADS;
}

static posenc_pool *allocate(int32_t threads, int32_t helpers) {
  posenc_pool *pool =
      malloc(sizeof(*pool) + (size_t)helpers * sizeof(pool->helpers[0]));
  if (!pool) {
    posenc_fail(POSENC_OUT_OF_MEMORY,
                "no memory for a pool of %" PRId32 " threads", threads);
    return NULL;
  }
  *pool = (posenc_pool){.threads = threads,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .work = PTHREAD_COND_INITIALIZER,
                        .done = PTHREAD_COND_INITIALIZER};
  return pool;
}

/* The program's signals stay with the program's threads. */
static bool start_helpers(posenc_pool *pool) {
  sigset_t all, before;
  bool ok = true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int32_t i = 0; ok && i < pool->threads - 1; ++i) {
    helper *h = &pool->helpers[i];
    h->pool = pool;
    h->worker = i + 1;
    ok = pthread_create(&h->thread, NULL, run_helper, h) == 0;
    pool->started += ok;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}

static posenc_status check_threads(int32_t threads, int32_t least) {
  if (threads >= least && threads <= POSENC_POOL_MAX_THREADS)
    return POSENC_OK;
  return posenc_fail(POSENC_INVALID_ARGUMENT,
                     "threads is %" PRId32 ", but must be %" PRId32 " .. %d",
                     threads, least, POSENC_POOL_MAX_THREADS);
}

posenc_status posenc_pool_create(int32_t threads, posenc_pool **pool) {
  if (!pool)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "pool is NULL");
  *pool = NULL;
  posenc_status status = check_threads(threads, 0);
  if (status)
    return status;
  if (threads == 0)
    threads = usable_cpus();
  posenc_pool *created = allocate(threads, threads - 1);
  if (!created)
    return POSENC_OUT_OF_MEMORY;
  if (!start_helpers(created)) {
    status = posenc_fail(POSENC_OUT_OF_MEMORY,
                         "the system started only %" PRId32 " of %" PRId32
                         " threads of a pool",
                         created->started, threads - 1);
    posenc_pool_destroy(created);
    return status;
  }
  *pool = created;
  return POSENC_OK;
}

posenc_status posenc_pool_create_hooked(const posenc_pool_hooks *hooks,
                                        posenc_pool **pool) {
  if (!pool)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "pool is NULL");
  *pool = NULL;
  if (!hooks)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "hooks is NULL");
  if (hooks->size != sizeof(*hooks))
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "hooks->size is %zu, but must be %zu", hooks->size,
                       sizeof(*hooks));
  posenc_status status = check_threads(hooks->threads, 1);
  if (status)
    return status;
  if (!hooks->parallel_for)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "hooks->parallel_for is NULL");
  posenc_pool *created = allocate(hooks->threads, 0);
  if (!created)
    return POSENC_OUT_OF_MEMORY;
  created->hooks = *hooks;
  *pool = created;
  return POSENC_OK;
}

int32_t posenc_pool_threads(const posenc_pool *pool) {
  return pool ? pool->threads : 1;
}

void posenc_pool_destroy(posenc_pool *pool) {
  if (!pool)
    return;
  pthread_mutex_lock(&pool->mutex);
  pool->quit = true;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t i = 0; i < pool->started; ++i)
    pthread_join(pool->helpers[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}
