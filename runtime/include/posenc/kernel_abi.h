/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a compiled kernel and the runtime say to each other. Not for users: a
 * program includes posenc/posenc.h and the header generated with its kernel.
 *
 * A kernel library is data (one posenc_kernel_desc) plus generated code. The
 * code asks the runtime to check its arguments against that description
 * (posenc_kernel_enter), to find scratch memory (posenc_kernel_scratch) and to
 * spread items over the pool (posenc_kernel_parallel). The compiler's driver
 * lowering emits these structures field by field: any change here bumps
 * POSENC_KERNEL_ABI, and a kernel of another ABI is refused at run time.
 */
#ifndef POSENC_KERNEL_ABI_H
#define POSENC_KERNEL_ABI_H

#include "posenc/posenc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSENC_KERNEL_ABI 6
#define POSENC_MAX_RANK 6
#define POSENC_MAX_TENSORS 24

/* What one extent of a tensor must be. The first tensor that mentions a
 * symbolic extent fixes it, later ones must agree. */
enum {
  POSENC_AXIS_CONST = 0,       /* exactly `value` */
  POSENC_AXIS_BATCH = 1,       /* B */
  POSENC_AXIS_HEADS = 2,       /* H, the query heads of this call (a shard's) */
  POSENC_AXIS_KV_HEADS = 3,    /* Hkv = H / (heads / kv_heads) */
  POSENC_AXIS_QUERY_LEN = 4,   /* Lq */
  POSENC_AXIS_KEY_LEN = 5,     /* Lk */
  POSENC_AXIS_HEADS_OR_1 = 6,  /* H, or 1 for "the same for every head" */
  POSENC_AXIS_LEN = 7,         /* L, the tokens of an input embedding */
  POSENC_AXIS_ALL_QUERIES = 8, /* Tq, those of all sequences */
  POSENC_AXIS_ALL_KEYS = 9,    /* Tk */
  POSENC_AXIS_BOUNDS = 10,     /* B + 1 */
  POSENC_AXIS_PAGES = 11,      /* pages of keys in memory */
  POSENC_AXIS_PAGE_SIZE = 12,  /* keys of a page */
  POSENC_AXIS_MAX_PAGES = 13,  /* pages of a sequence */
  POSENC_AXIS_RING = 14,       /* keys of a sequence in memory: key j is in slot
                                * j % capacity, and a query sees `value` keys
                                * before its own */
  POSENC_AXIS_BATCH_OR_1 = 15, /* B, or 1 for "the same for every entry" */
  POSENC_AXIS_BLOCK_BOUNDS = 16, /* at least the blocks of `value` queries of a
                                  * sequence, plus 1 */
  POSENC_AXIS_BLOCKS = 17,       /* any number of blocks of `value` keys */
  POSENC_AXIS_LAST = POSENC_AXIS_BLOCKS
};

enum {
  POSENC_TENSOR_OUTPUT = 1,      /* written by the kernel */
  POSENC_TENSOR_OPTIONAL = 2,    /* may be NULL */
  POSENC_TENSOR_UNIT_STRIDE = 4, /* the last axis must be contiguous */
  POSENC_TENSOR_PREPARE = 8,     /* NAME_prepare reads its data */
  POSENC_TENSOR_POSITIONS = 16,  /* from -2^30 to 2^30 - 1, so that their
                                  * differences are int32 too. A call may have
                                  * int64 here: its view is that of their low
                                  * halves, so the last axis has any stride */
  POSENC_TENSOR_ALL_HEADS = 32,  /* the heads are read together: they must span
                                  * at most 2^30 elements */
  /* int32, and read in the size queries too: */
  POSENC_TENSOR_QUERY_BOUNDS = 64, /* where sequences of queries begin */
  POSENC_TENSOR_KEY_BOUNDS = 128,  /* where sequences of keys begin */
  POSENC_TENSOR_KEY_LENGTHS = 256, /* numbers of keys */
  POSENC_TENSOR_PAGE_TABLE = 512,  /* the pages of a sequence */
  /* an output of which only the rows of new tokens are written; its extents
   * count in the size queries too */
  POSENC_TENSOR_CACHE = 1024,
  /* int32: which blocks of keys each block of queries sees, one after another,
   * and where those of a block of queries begin */
  POSENC_TENSOR_BLOCK_OFFSETS = 2048,
  POSENC_TENSOR_BLOCK_INDICES = 4096
};

typedef struct posenc_axis_desc {
  int32_t kind;  /* POSENC_AXIS_... */
  int32_t place; /* of the axis in the view */
  int64_t value;
} posenc_axis_desc;

typedef struct posenc_tensor_desc {
  const char *name; /* as in the specification: "q", "t5_bias.table" */
  int32_t rank;
  int32_t flags;
  uint8_t dtype_code, dtype_bits; /* DLPack's, lanes are 1 */
  uint16_t reserved0;
  uint32_t reserved1;
  posenc_axis_desc axes[POSENC_MAX_RANK];
} posenc_tensor_desc;

typedef struct posenc_variant_desc {
  const char *isa;    /* "x86-64-avx512", ... */
  uint64_t requires_; /* POSENC_CPU_... bits that must all be present */
} posenc_variant_desc;

enum {
  /* queries are looked up among the keys (positions from a tensor, tables over
   * keys, own values): needs Lq <= Lk */
  POSENC_KERNEL_QUERIES_AMONG_KEYS = 1,
  /* a call must hold all heads of the kernel */
  POSENC_KERNEL_ALL_HEADS = 2,
  /* all keys of a row are read together: Lk is at most 2^22, and the keys of a
   * head must span at most 2^30 elements */
  POSENC_KERNEL_ONE_RUN = 4,
  /* prepared tables depend on the length of each sequence */
  POSENC_KERNEL_PREPARED_BY_LENGTH = 8,
  /* it appends to a cache: its queries are new tokens, the last of the keys of
   * their sequence, and call->prepared, which is for attention, is ignored */
  POSENC_KERNEL_APPEND = 16,
  /* keys are those of new tokens, as many as queries; earlier ones are in a
   * state */
  POSENC_KERNEL_STATE = 32
};

typedef struct posenc_kernel_desc {
  uint32_t abi;
  uint32_t flags;
  const char *name;
  int32_t heads, kv_heads, head_dim, value_dim;
  int32_t tensor_count, variant_count;
  const posenc_tensor_desc *tensors;   /* in the order of NAME_args */
  const posenc_variant_desc *variants; /* best first */
  uint64_t fingerprint; /* of the specification, kept in prepared buffers */
} posenc_kernel_desc;

/* The layout shared by every NAME_args: `size`, then one DLTensor pointer for
 * each entry of posenc_kernel_desc.tensors. */
typedef struct posenc_any_args {
  size_t size;
  const DLTensor *tensors[];
} posenc_any_args;

/* A checked tensor. Its axes are where their `place` says: packed tensors look
 * like those of a batch of one entry. Strides count elements; axes that no axis
 * of the tensor is placed on, and one of extent 1 where the description says
 * HEADS_OR_1 or BATCH_OR_1, have stride 0, so that they can be indexed by head
 * and batch. data is NULL when an optional tensor is absent; byte_offset is
 * included. */
typedef struct posenc_view {
  char *data;
  int64_t extent[POSENC_MAX_RANK];
  int64_t stride[POSENC_MAX_RANK];
} posenc_view;

/* One call in flight; lives on the caller's stack. */
typedef struct posenc_frame {
  const posenc_kernel_desc *desc;
  const posenc_call *call; /* NULL: all defaults */
  /* The lengths are the largest of all sequences, or those of one; key_len is
   * also L. */
  int64_t batch, heads, kv_heads, query_len, key_len;
  int64_t first_head; /* of the shard, in the specification's numbering */
  int64_t variant;    /* index into desc->variants */
  int64_t workers;    /* upper bound of the `worker` given to items, plus 1 */
  char *prepared;     /* caller's prepared payload (header skipped), or NULL */
  char *shared;       /* scratch shared by all workers, 64-byte aligned */
  char *worker_base;  /* worker w owns worker_base + w * worker_bytes */
  int64_t worker_bytes;
  void *owned; /* internal scratch to be freed by posenc_kernel_leave */
  uint64_t seed, offset; /* of the call's random numbers */
  /* What tables have room for in a sequence, at least the lengths. */
  int64_t longest_query, longest_key;
  /* What scratch has room for in all sequences, and where a sequence begins. */
  int64_t all_queries, all_keys;
  int64_t query_base, key_base;
  /* The first key that a ring still holds, 0 without a ring: of one sequence,
   * or of the longest. */
  int64_t first_key;
  posenc_view tensors[POSENC_MAX_TENSORS];
} posenc_frame;

/* Checks args and call against the description and fills the frame. Lengths
 * are limited to 2^30 and products of extents and strides must fit in int64.
 * `call` may be NULL. On failure nothing needs to be released. */
posenc_status posenc_kernel_enter(const posenc_kernel_desc *desc,
                                  const void *args, const posenc_call *call,
                                  posenc_frame *frame);

/* The same without checking outputs: for NAME_prepare and the size queries.
 * They may be NULL; the sizes of a call depend on the strides of those that it
 * has. Only extents are checked; data may be NULL unless flagged
 * POSENC_TENSOR_PREPARE and `need_data` is nonzero. `call` (may be NULL) only
 * says how many workers a call would have and whether it would bring a
 * prepared buffer (frame->prepared is then not NULL, but was not checked). */
posenc_status posenc_kernel_enter_prepare(const posenc_kernel_desc *desc,
                                          const void *args,
                                          const posenc_call *call,
                                          int32_t need_data,
                                          posenc_frame *frame);

/* One sequence of a call: the frame's lengths and bases are those of this batch
 * entry, and packed tensors begin at its first token. */
void posenc_kernel_sequence(const posenc_frame *call, int64_t batch,
                            posenc_frame *sequence);

/* Bytes that posenc_kernel_scratch takes from call->scratch for these sizes
 * (alignment included), or SIZE_MAX when that overflows. */
size_t posenc_kernel_scratch_bytes(const posenc_frame *frame,
                                   int64_t shared_bytes, int64_t worker_bytes);

/* Sets frame->shared and frame->worker_base from call->scratch, or allocates
 * when the caller gave none. */
posenc_status posenc_kernel_scratch(posenc_frame *frame, int64_t shared_bytes,
                                    int64_t worker_bytes);

/* An item of work. A nonzero status stops the remaining items. */
typedef int32_t (*posenc_kernel_item)(posenc_frame *frame, int64_t item,
                                      int64_t worker);

/* Runs items 0 .. count-1, started in that order, on the call's pool or on the
 * calling thread. Returns the first failure. */
posenc_status posenc_kernel_parallel(posenc_frame *frame, int64_t count,
                                     posenc_kernel_item item);

/* Releases what posenc_kernel_scratch allocated; returns `status`. */
posenc_status posenc_kernel_leave(posenc_frame *frame, posenc_status status);

/* The prepared buffer: a 64-byte header that says which kernel and shape it
 * was made for, then `payload_bytes` of tables, 64-byte aligned when the
 * buffer is. posenc_kernel_enter refuses a buffer made for something else. */
size_t posenc_prepared_total_bytes(int64_t payload_bytes);
posenc_status posenc_prepared_begin(const posenc_frame *frame, void *buffer,
                                    size_t size, int64_t payload_bytes,
                                    char **payload);
/* Writes the header last, so that a failed prepare leaves no valid buffer. */
void posenc_prepared_finish(const posenc_frame *frame, void *buffer);

/* Writes the new tokens [begin, begin + count) of a key head to their rows of a
 * cache; of a ring those that the last tokens overwrite are left out.
 * `sequence` is the frame of the batch entry, `tensor` the number of the new
 * keys or values, whose heads are [.., Hkv, .., dim], and `cache` that of the
 * cache. With `rows` not NULL, those f32 rows, one after another, are written
 * in the place of the tensor's. Numbers of the cache's type are copied bit by
 * bit, others are rounded to the nearest, ties to even. `scales` is the number
 * of the scales of a cache of 8-bit codes, or -1. Where they are an output a
 * row's is that of its largest magnitude, and is written with it. */
void posenc_kernel_append(const posenc_frame *sequence, int64_t batch,
                          int32_t tensor, int32_t cache, int32_t scales,
                          int64_t head, int64_t begin, int64_t count,
                          const float *rows);

/* The first key in [key, end) that the block of a query lists, or with `hidden`
 * the first one that it does not list; `end` if there is none. */
int64_t posenc_kernel_next_listed(const posenc_frame *frame, int64_t batch,
                                  int64_t head, int64_t query, int64_t key,
                                  int64_t end, int32_t hidden);

/* Two words, the first in the low half, of the counters that attention dropout
 * draws by for a head of the call: c2 and c3 of the pairs' Philox4x32-10
 * blocks, whose c0 is the key's index div 4 and whose c1 the query's place
 * among the keys. The key is frame->seed. */
uint64_t posenc_kernel_dropout(const posenc_frame *frame, int64_t batch,
                               int64_t head);

/* The state of a head from the tensor with that number, whose shape is [B, H,
 * rows, columns] or [B, H, rows]: rows of `width` numbers, 0 behind the
 * columns. All are 0 if the tensor is absent, and if no tokens of the sequence
 * come before the call's. And back: nothing is written if the tensor is absent.
 */
void posenc_kernel_load_state(const posenc_frame *sequence, int64_t batch,
                              int64_t head, int32_t tensor, float *state,
                              int64_t width);
void posenc_kernel_store_state(const posenc_frame *sequence, int64_t batch,
                               int64_t head, int32_t tensor, const float *state,
                               int64_t width);

/* Records a tile function's failure (a Halide error code). */
posenc_status posenc_kernel_tile_failed(const posenc_frame *frame,
                                        int32_t code);

/* Records that a token's position is no row of `what`, which has `rows`. */
posenc_status posenc_kernel_position_failed(const posenc_frame *frame,
                                            const char *what, int64_t batch,
                                            int64_t token, double position,
                                            int64_t rows);

#ifdef __cplusplus
}
#endif
#endif /* POSENC_KERNEL_ABI_H */
