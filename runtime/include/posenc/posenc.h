/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the posenc runtime, and its manual.
 */
#ifndef POSENC_POSENC_H
#define POSENC_POSENC_H

#include <stddef.h>
#include <stdint.h>

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

/******************************************************************************
 * Introduction
 *
 * posenc-compile turns a description of an attention kernel into a library and
 * a header. The header declares, for a kernel called NAME,
 *
 *   typedef struct NAME_args { size_t size; DLTensor *q, *k, ... } NAME_args;
 *   posenc_status NAME(const NAME_args *args, const posenc_call *call);
 *   size_t        NAME_scratch_bytes(const NAME_args *, const posenc_call *);
 *   size_t        NAME_prepared_bytes(const NAME_args *);
 *   posenc_status NAME_prepare(const NAME_args *, void *buffer, size_t size);
 *
 * and says what each tensor must look like. This header declares what all
 * kernels share: status codes, the options of a call, thread pools and CPU
 * features. What is not in these two headers is not API.
 *
 * A program links the kernel library, then libposenc_runtime.a, then
 * -lpthread -lm -ldl.
 *
 * Rules that hold everywhere
 *  - Nothing aborts, exits, prints, or keeps a pointer after it returned (a
 *    pool keeps its hooks' context until it is destroyed).
 *  - There is no global state except the CPU feature word, filled once, and
 *    each thread's last error. Every function may be called from several
 *    threads at once unless its comment says otherwise.
 *  - The caller owns everything that is passed in. Tensors are only read,
 *    outputs are only written.
 *
 * Tensors
 *  - A tensor is a DLTensor on the CPU. The logical order of axes is fixed by
 *    the kernel's header ([B, H, L, D] for q, k, v and the output); other
 *    layouts in memory are expressed by strides. Strides count elements,
 *    NULL means compact row-major, and byte_offset is added to data.
 *  - An input's stride may be 0, which repeats the same data, but not negative.
 *    An output's elements must be distinct: sorted by stride, each axis must
 *    step over everything inside it. Axes of extent 0 or 1 may have any stride.
 *  - A query or key row may be at most 2^31 - 1 elements from the next one, an
 *    axis of fixed extent may span at most 2^31 - 1 elements, an extent is at
 *    most 2^30, and offsets in bytes must fit in an int64_t.
 *  - Positions are from -2^30 to 2^30 - 1, which each call checks. They are
 *    int32 or int64, as their DLTensor says.
 *  - Codes of type f8E4M3FN have the DLPack type POSENC_DTYPE_FLOAT8_E4M3FN and
 *    8 bits. A key or value in codes is each code times its scale.
 *  - Data must be aligned to its element size. Data may be NULL only in a
 *    tensor without elements. Any extent may be 0.
 *  - An output that shares memory with an input or with another output gives
 *    undefined results, unless a function allows it; this is not checked.
 *****************************************************************************/

/******************************************************************************
 * Version
 *****************************************************************************/

#define POSENC_VERSION_MAJOR 0
#define POSENC_VERSION_MINOR 1
#define POSENC_VERSION_PATCH 0
#define POSENC_VERSION_NUMBER                                                  \
  (POSENC_VERSION_MAJOR * 10000 + POSENC_VERSION_MINOR * 100 +                 \
   POSENC_VERSION_PATCH)

/* kDLFloat8_e4m3fn, which headers before DLPack 1.1 lack. */
#define POSENC_DTYPE_FLOAT8_E4M3FN 10

/* Marks what a shared library that contains the runtime exports. */
#ifndef POSENC_API
#if defined(__GNUC__)
#define POSENC_API __attribute__((visibility("default")))
#else
#define POSENC_API
#endif
#endif

/* POSENC_VERSION_NUMBER of the library that the program was linked with. */
POSENC_API int32_t posenc_version(void);

/******************************************************************************
 * Status
 *****************************************************************************/

/* Values never change; gaps leave room for related codes. */
typedef enum posenc_status {
  /* The call did what it says. */
  POSENC_OK = 0,
  /* A pointer is NULL, an extent is negative, data is misaligned, a buffer is
   * too small or was prepared for another call, or an environment variable
   * names something unknown: a mistake of the caller. */
  POSENC_INVALID_ARGUMENT = 10,
  /* A tensor's rank or extent differs from what the kernel, or another tensor
   * of the same call, requires. */
  POSENC_SHAPE_MISMATCH = 20,
  /* A tensor's element type differs from the one the kernel was compiled for,
   * or has more than one lane. */
  POSENC_DTYPE_MISMATCH = 21,
  /* A stride is negative, too large, not 1 where the kernel needs contiguous
   * elements, or makes elements of an output overlap. */
  POSENC_STRIDE_UNSUPPORTED = 22,
  /* A number is outside its documented range: an extent above 2^30, heads of a
   * shard that the kernel does not have, more queries than positions. */
  POSENC_OUT_OF_RANGE = 23,
  /* A product of extents, strides and element sizes does not fit in 64 bits. */
  POSENC_OVERFLOW = 24,
  /* The library holds no variant for this CPU, or POSENC_ISA asks for one that
   * the CPU cannot run. */
  POSENC_UNSUPPORTED_CPU = 30,
  /* An allocation failed or a thread could not be started. */
  POSENC_OUT_OF_MEMORY = 40,
  /* A tensor is on a device that the kernel does not run on, or there is no
   * such device. */
  POSENC_NO_DEVICE = 50,
  /* The device's driver reported a failure. */
  POSENC_DEVICE_ERROR = 51,
  /* Header, kernel library and runtime come from versions that do not fit
   * together, or a struct has a member that this version does not know. */
  POSENC_VERSION_MISMATCH = 60,
  /* posenc contradicts itself: please report it. */
  POSENC_INTERNAL = 90
} posenc_status;

/* The name of a status, such as "shape mismatch", or "unknown status". The
 * string is static. */
POSENC_API const char *posenc_status_string(posenc_status status);

/* One sentence about the latest failure on the calling thread, such as
 * "bloom: k has extent 7 on axis 2 (Lk), but must have 9 like axis 2 of v",
 * also when the failure happened on a thread of the pool. Meaningful only
 * directly after a call that failed: a call that succeeds may leave it as it
 * was or clear it. Never NULL. The string belongs to the runtime and stays
 * valid until the thread's next call into posenc. */
POSENC_API const char *posenc_last_error(void);

/******************************************************************************
 * Thread pools
 *
 * A kernel runs on the thread that calls it, helped by the threads of the pool
 * in posenc_call.pool. Results do not depend on the pool.
 *****************************************************************************/

/* A pool may serve calls from several threads at once. Each call makes progress
 * on its calling thread; idle pool threads join the oldest call that wants
 * help. A pool may also be used from inside a body that it runs. A pool must
 * not be used in a child after fork(). */
typedef struct posenc_pool posenc_pool;

#define POSENC_POOL_MAX_THREADS 1024

/* Creates a pool for `threads` threads including the calling one, so
 * threads - 1 are started; they sleep between calls and take no signals. 0
 * means one for each CPU that is online and that the process may use. On
 * failure *pool is NULL.
 * INVALID_ARGUMENT: pool is NULL, threads is negative or above
 * POSENC_POOL_MAX_THREADS. OUT_OF_MEMORY: memory or threads ran out. */
POSENC_API posenc_status posenc_pool_create(int32_t threads,
                                            posenc_pool **pool);

/* One task of a parallel loop. `worker` identifies the executing thread among
 * those of the loop: two tasks that run at the same time have different ones.
 */
typedef void (*posenc_pool_body)(void *body_context, int64_t item,
                                 int32_t worker);

/* An existing thread pool of the program. Kernels keep their work on the stack:
 * each thread that runs tasks, and the calling one, needs up to 512 KB of it.
 */
typedef struct posenc_pool_hooks {
  size_t size;     /* sizeof(posenc_pool_hooks) */
  int32_t threads; /* workers are 0 .. threads - 1 */
  void *context;   /* given back to parallel_for */
  /* Calls body(body_context, item, worker) exactly once for each item in
   * 0 .. items - 1, on any threads and in any order, even one after another,
   * and returns when all have returned. items is at most `threads`: each call
   * works until nothing is left to do, so work is balanced whatever the
   * schedule. Must accept being called from several threads at once if kernels
   * are. Neither side may throw or longjmp through the other. */
  void (*parallel_for)(void *context, int64_t items, posenc_pool_body body,
                       void *body_context);
} posenc_pool_hooks;

/* Creates a pool that runs on the program's own threads. The struct is copied.
 * Every `worker` must be below hooks->threads: a call that sees another one, or
 * a loop that ends early, fails with INVALID_ARGUMENT. On failure *pool is
 * NULL. INVALID_ARGUMENT: a pointer is NULL, size is not that of the struct,
 * threads is below 1 or above POSENC_POOL_MAX_THREADS. OUT_OF_MEMORY. */
POSENC_API posenc_status
posenc_pool_create_hooked(const posenc_pool_hooks *hooks, posenc_pool **pool);

/* The number of threads including the caller's; 1 for NULL. */
POSENC_API int32_t posenc_pool_threads(const posenc_pool *pool);

/* Stops and joins the pool's threads and frees it. NULL is allowed. No call may
 * be using the pool. */
POSENC_API void posenc_pool_destroy(posenc_pool *pool);

/******************************************************************************
 * Options of a call
 *****************************************************************************/

/* How a kernel is called. NULL, or a struct of zeros, means: on the calling
 * thread, internal scratch, all heads. Set `size` to sizeof(posenc_call), best
 * with POSENC_CALL_INIT, as soon as any other member is set.
 *
 *   posenc_call call = POSENC_CALL_INIT;
 *   call.pool = pool;
 *
 * `size` is the version of the struct: members beyond it are taken as zero, and
 * bytes beyond what the runtime knows must be zero (else VERSION_MISMATCH). */
typedef struct posenc_call {
  size_t size;
  /* Threads that help, or NULL. */
  posenc_pool *pool;
  /* Working memory of at least NAME_scratch_bytes() bytes for the same args and
   * the same pool, at any alignment; its contents are lost. Lengths of keys
   * count: ask with the longest to serve all. One call at a time
   * may use it. NULL: the kernel allocates and frees what it needs. */
  void *scratch;
  size_t scratch_bytes;
  /* A buffer filled by NAME_prepare for the same shapes, or NULL to compute
   * what it holds within the call. Many calls at a time may use it. */
  const void *prepared;
  /* The CUDA stream of a GPU kernel, NULL for its default stream. Unused on the
   * CPU. */
  void *stream;
  /* The number, in the whole kernel, of the first head of these tensors: a
   * tensor-parallel shard passes fewer heads than the kernel has. */
  int32_t first_head;
  /* Key and position of the counter-based random numbers of kernels that have
   * dropout: equal ones give equal numbers. Unused elsewhere. */
  uint64_t seed, offset;
} posenc_call;

#ifdef __cplusplus
#define POSENC_CALL_INIT                                                       \
  {sizeof(posenc_call), nullptr, nullptr, 0, nullptr, nullptr, 0, 0, 0}
#else
#define POSENC_CALL_INIT                                                       \
  {sizeof(posenc_call), NULL, NULL, 0, NULL, NULL, 0, 0, 0}
#endif

/******************************************************************************
 * Merging parts
 *
 * Attention over keys that lie in several places, such as the shards of ring or
 * sequence parallelism, a common prefix and the rest of each sequence, or
 * chunks of a long cache, is computed part by part: the same queries against
 * the keys of each. posenc_merge makes one result of the parts' results:
 *
 *   o = sum_i exp(lse_i) o_i / (sum_i exp(lse_i) + exp(sink))
 *   lse = log(sum_i exp(lse_i) + exp(sink))
 *
 * (computed without overflow). The scores of a part must be those of the whole:
 * positions and masks must not depend on which keys the part holds, and only
 * softmax can be merged.
 *
 *   const DLTensor *o_parts[] = {&o_a, &o_b}, *lse_parts[] = {&lse_a, &lse_b};
 *   posenc_merge_args args = {.size = sizeof args, .count = 2,
 *       .o_parts = o_parts, .lse_parts = lse_parts, .o = &o, .lse = &lse};
 *   status = posenc_merge(&args, NULL);
 *****************************************************************************/

/* Tensors follow the rules above. The first axes are the same for all: o and
 * the parts of o have one more than lse and its parts. The second axis counts
 * the heads. o [B, H, Lq, Dv] and lse [B, H, Lq] as well as packed o [T, H, Dv]
 * and lse [T, H] are such tensors; o may have 3 to 6 axes. */
typedef struct posenc_merge_args {
  size_t size;   /* sizeof(posenc_merge_args) */
  int64_t count; /* of parts, from 0 to 2^30 */
  /* For each part its output and the natural logarithm of its sum of
   * exponentials, lse. The outputs may be float32, bfloat16 or float16, each of
   * another type if need be; lse is float32. The arrays may be NULL if there
   * are no parts. */
  const DLTensor *const *o_parts;
  const DLTensor *const *lse_parts;
  /* float32 [H] or [1], or NULL: a score of each head that takes weight and has
   * no value (#posenc.attention_sink). It counts once, so the parts must have
   * been computed without it, and of several merges only the last may pass it.
   */
  const DLTensor *sinks;
  DLTensor *o;   /* float32, bfloat16 or float16 */
  DLTensor *lse; /* float32, or NULL; includes the sink */
} posenc_merge_args;

/* Merges the parts on the calling thread and call->pool; no other member of
 * `call`, which may be NULL, means anything here. Nothing is allocated.
 *
 * In place: o may be the very tensor (same data, type and strides) that is one
 * of o_parts, and lse one of lse_parts. So a running result can take in one
 * part after the other.
 *
 * Accuracy: sums are taken in double precision, in the order of the parts, and
 * rounded to f32, from there to 16 bits, to the nearest, ties to even. Results
 * do not depend on threads nor on their floating-point modes (rounding, FTZ,
 * DAZ), which stay as they were.
 *
 * Special values, row by row:
 *  - A part that weighs nothing is not looked at, even if its o holds NaN: its
 *    lse is -inf (it saw no key), or 746 and more below the largest.
 *  - Without parts, or if all lse are -inf, o is 0 and lse that of the sink, or
 *    -inf if there is none.
 *  - If a lse or the sink is +inf, those that are so share the weight equally.
 *  - If a lse or the sink is NaN, so are o and lse. NaN and inf in the o of a
 *    part that weighs something go the usual way.
 *
 * INVALID_ARGUMENT, SHAPE_MISMATCH, DTYPE_MISMATCH, STRIDE_UNSUPPORTED,
 * OUT_OF_RANGE, OVERFLOW, NO_DEVICE, VERSION_MISMATCH: as for kernels. The
 * outputs are as they were, unless it was the hooks of the pool that failed. */
POSENC_API posenc_status posenc_merge(const posenc_merge_args *args,
                                      const posenc_call *call);

/******************************************************************************
 * Attention dropout
 *
 * A kernel with `dropout(p)` drops each weight with probability p and divides
 * the others by 1 - p, after normalisation: lse does not change. Which weights
 * are dropped depends on call->seed and offset, the batch entry, the head of
 * the kernel (call->first_head counts), the key's index in its sequence and the
 * query's place among the keys (i + Lk - Lq), and on nothing else: not on
 * threads, tiles, strides, storage or the machine, nor on whether a sequence is
 * computed at once or in pieces behind a cache. Another offset gives another
 * mask.
 *****************************************************************************/

/* Writes the mask of a kernel with that probability: 1 where a weight is kept,
 * 0 where it is dropped. The mask is uint8 [B, H, Lq, Lk] with any strides. Its
 * first entry is that of batch entry first_batch of the kernel's call, from 0
 * to 2^30, and its first head is call->first_head. Of call, which may be NULL,
 * the pool, first_head, seed and offset mean something here. Nothing is
 * allocated.
 *
 *   call.seed = 42;
 *   status = NAME(&args, &call);
 *   status = posenc_dropout_mask(0.1, 0, &call, &mask);
 *
 * Where the sequences of a call differ in length each has a mask of its own:
 * first_batch is then its number, and B is 1.
 *
 * INVALID_ARGUMENT, SHAPE_MISMATCH, DTYPE_MISMATCH, STRIDE_UNSUPPORTED,
 * OUT_OF_RANGE, OVERFLOW, NO_DEVICE, VERSION_MISMATCH: as for kernels. The mask
 * is as it was, unless it was the hooks of the pool that failed. */
POSENC_API posenc_status posenc_dropout_mask(double probability,
                                             int64_t first_batch,
                                             const posenc_call *call,
                                             DLTensor *mask);

/******************************************************************************
 * CPU features
 *
 * A kernel library holds variants for several instruction sets, best first; a
 * call runs the first one whose features are all present. The environment
 * variable POSENC_ISA, read at each call, forces the variant of that name
 * (x86-64, x86-64-avx2, x86-64-avx512, x86-64-avx512-bf16): a name that the
 * library does not hold is INVALID_ARGUMENT, one that the CPU cannot run is
 * UNSUPPORTED_CPU. Empty is the same as unset. As always with the environment,
 * do not change it while another thread may read it.
 *****************************************************************************/

/* AVX2, FMA and F16C, enabled by the operating system. */
#define POSENC_CPU_AVX2_FMA (UINT64_C(1) << 0)
/* AVX2_FMA and AVX-512 F, DQ, BW, VL and CD, enabled by the operating system.
 */
#define POSENC_CPU_AVX512 (UINT64_C(1) << 1)
/* AVX512 and the bfloat16 dot product AVX512_BF16. */
#define POSENC_CPU_AVX512_BF16 (UINT64_C(1) << 2)

/* On AArch64, of Linux and Android; what every such CPU has (NEON) has no bit.
 * FEAT_FP16, FEAT_DotProd and FEAT_BF16. */
#define POSENC_CPU_DOTPROD_BF16 (UINT64_C(1) << 8)
/* DOTPROD_BF16 and SVE2. */
#define POSENC_CPU_SVE2 (UINT64_C(1) << 9)
/* The SVE vectors of the thread that asked first have this many bits. A program
 * that changes the length of a thread's vectors afterwards (PR_SVE_SET_VL) must
 * not call kernels there. */
#define POSENC_CPU_SVE_128 (UINT64_C(1) << 10)
#define POSENC_CPU_SVE_256 (UINT64_C(1) << 11)
#define POSENC_CPU_SVE_512 (UINT64_C(1) << 12)

/* The POSENC_CPU_... bits that this machine has; detected once. */
POSENC_API uint64_t posenc_cpu_features(void);

#ifdef __cplusplus
}
#endif
#endif /* POSENC_POSENC_H */
