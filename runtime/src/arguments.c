/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checks a call's arguments against the kernel's description.
 */
#include "internal.h"

#include <string.h>

/* The symbolic extents of one call, indexed by POSENC_AXIS_... */
enum { SYMBOL_COUNT = POSENC_AXIS_LAST + 1 };

typedef struct symbol {
  bool fixed;
  int64_t extent;
  const char *tensor; /* that fixed it */
  int32_t axis;
} symbol;

static const char *const symbol_names[SYMBOL_COUNT] = {
    "",          "B",         "H",        "Hkv", "Lq",    "Lk",
    "",          "L",         "Tq",       "Tk",  "B + 1", "pages",
    "page_size", "max_pages", "capacity", "",    "n + 1", "N"};

static posenc_status malformed(const posenc_kernel_desc *desc,
                               const char *what) {
  return posenc_fail(POSENC_INTERNAL,
                     "%s: the kernel's description has a wrong %s", desc->name,
                     what);
}

static posenc_status check_desc(const posenc_kernel_desc *desc) {
  if (desc->abi != POSENC_KERNEL_ABI)
    return posenc_fail(POSENC_VERSION_MISMATCH,
                       "the kernel was compiled for kernel ABI %" PRIu32
                       ", but this runtime has ABI %d",
                       desc->abi, POSENC_KERNEL_ABI);
  if (desc->tensor_count < 0 || desc->tensor_count > POSENC_MAX_TENSORS)
    return malformed(desc, "number of tensors");
  if (desc->variant_count < 1)
    return malformed(desc, "number of variants");
  if (desc->heads < 1 || desc->kv_heads < 1 || desc->heads % desc->kv_heads)
    return malformed(desc, "number of heads");
  for (int32_t t = 0; t < desc->tensor_count; ++t) {
    const posenc_tensor_desc *tensor = &desc->tensors[t];
    if (tensor->rank < 0 || tensor->rank > POSENC_MAX_RANK)
      return malformed(desc, "rank");
    if (tensor->dtype_bits == 0 || tensor->dtype_bits % 8)
      return malformed(desc, "element type");
    for (int32_t i = 0; i < tensor->rank; ++i)
      if (tensor->axes[i].kind < POSENC_AXIS_CONST ||
          tensor->axes[i].kind > POSENC_AXIS_LAST ||
          tensor->axes[i].place < 0 || tensor->axes[i].place >= POSENC_MAX_RANK)
        return malformed(desc, "axis");
  }
  return POSENC_OK;
}

static posenc_status check_args(const posenc_kernel_desc *desc,
                                const posenc_any_args *args) {
  size_t expected = offsetof(posenc_any_args, tensors) +
                    (size_t)desc->tensor_count * sizeof(const DLTensor *);
  if (!args)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "%s: args is NULL", desc->name);
  if (args->size == 0)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: args->size is 0, but must be %zu, the size of the "
                       "kernel's struct",
                       desc->name, expected);
  if (args->size != expected)
    return posenc_fail(POSENC_VERSION_MISMATCH,
                       "%s: args->size is %zu, but the kernel takes %zu bytes: "
                       "header and library come from different compilations",
                       desc->name, args->size, expected);
  return POSENC_OK;
}

/* Compares one tensor's extents with constants and with what earlier tensors
 * fixed. HEADS_OR_1 and BATCH_OR_1 wait until H and B are known. */
static posenc_status match_axes(const posenc_kernel_desc *desc,
                                const posenc_tensor_desc *expected,
                                const DLTensor *tensor, symbol *symbols) {
  for (int32_t i = 0; i < expected->rank; ++i) {
    int64_t extent = tensor->shape[i];
    int32_t kind = expected->axes[i].kind;
    if (kind == POSENC_AXIS_HEADS_OR_1 || kind == POSENC_AXIS_BATCH_OR_1)
      continue;
    if (kind == POSENC_AXIS_BOUNDS) {
      if (extent < 1)
        return posenc_fail(POSENC_SHAPE_MISMATCH,
                           "%s: %s has extent 0 on axis %" PRId32
                           ", but must have B + 1",
                           desc->name, expected->name, i);
      kind = POSENC_AXIS_BATCH;
      extent -= 1;
    }
    if (kind == POSENC_AXIS_CONST) {
      if (extent == expected->axes[i].value)
        continue;
      return posenc_fail(POSENC_SHAPE_MISMATCH,
                         "%s: %s has extent %" PRId64 " on axis %" PRId32
                         ", but must have %" PRId64,
                         desc->name, expected->name, extent, i,
                         expected->axes[i].value);
    }
    symbol *s = &symbols[kind];
    if (!s->fixed) {
      *s = (symbol){true, extent, expected->name, i};
      continue;
    }
    if (extent != s->extent)
      return posenc_fail(POSENC_SHAPE_MISMATCH,
                         "%s: %s has extent %" PRId64 " on axis %" PRId32
                         " (%s), but must have %" PRId64 " like axis %" PRId32
                         " of %s",
                         desc->name, expected->name, extent, i,
                         symbol_names[kind], s->extent, s->axis, s->tensor);
  }
  return POSENC_OK;
}

/* Axes that have one extent of the call, or 1. */
static posenc_status match_or_1(const posenc_kernel_desc *desc,
                                const posenc_tensor_desc *expected,
                                const DLTensor *tensor, int32_t kind,
                                const char *symbol, int64_t extent) {
  for (int32_t i = 0; i < expected->rank; ++i)
    if (expected->axes[i].kind == kind && tensor->shape[i] != 1 &&
        tensor->shape[i] != extent)
      return posenc_fail(POSENC_SHAPE_MISMATCH,
                         "%s: %s has extent %" PRId64 " on axis %" PRId32
                         ", but must have 1 or %s = %" PRId64,
                         desc->name, expected->name, tensor->shape[i], i,
                         symbol, extent);
  return POSENC_OK;
}

static posenc_status check_heads(const posenc_kernel_desc *desc,
                                 const symbol *symbols, posenc_frame *frame) {
  const symbol *h = &symbols[POSENC_AXIS_HEADS];
  const symbol *kv = &symbols[POSENC_AXIS_KV_HEADS];
  int64_t group = desc->heads / desc->kv_heads;
  if (h->fixed && h->extent > desc->heads)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: %s has %" PRId64 " heads on axis %" PRId32
                       ", but the kernel has %" PRId32,
                       desc->name, h->tensor, h->extent, h->axis, desc->heads);
  if (kv->fixed && kv->extent > desc->kv_heads)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: %s has %" PRId64 " heads on axis %" PRId32
                       ", but the kernel has %" PRId32 " key/value heads",
                       desc->name, kv->tensor, kv->extent, kv->axis,
                       desc->kv_heads);
  if (h->fixed && kv->fixed && kv->extent * group != h->extent)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: %s has %" PRId64 " heads on axis %" PRId32
                       " and %s has %" PRId64 " on axis %" PRId32
                       ", but the kernel has %" PRId64
                       " query heads for each key/value head",
                       desc->name, kv->tensor, kv->extent, kv->axis, h->tensor,
                       h->extent, h->axis, group);
  if (h->fixed && h->extent % group)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: %s has %" PRId64 " heads on axis %" PRId32
                       ", but must have a multiple of %" PRId64
                       ", the query heads of one key/value head",
                       desc->name, h->tensor, h->extent, h->axis, group);
  frame->heads = h->fixed    ? h->extent
                 : kv->fixed ? kv->extent * group
                             : desc->heads;
  frame->kv_heads = frame->heads / group;
  if ((desc->flags & POSENC_KERNEL_ALL_HEADS) && frame->heads != desc->heads)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: the call has H = %" PRId64
                       " heads, but must have all %" PRId32
                       " of the kernel, which reads them together",
                       desc->name, frame->heads, desc->heads);
  return POSENC_OK;
}

static posenc_status check_shard(const posenc_kernel_desc *desc,
                                 int32_t first_head, posenc_frame *frame) {
  int64_t group = desc->heads / desc->kv_heads;
  if (first_head < 0 || first_head + frame->heads > desc->heads)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "%s: call->first_head is %" PRId32
                       ", but must be 0 .. %" PRId64 " for H = %" PRId64
                       " of the kernel's %" PRId32 " heads",
                       desc->name, first_head, desc->heads - frame->heads,
                       frame->heads, desc->heads);
  if (first_head % group)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "%s: call->first_head is %" PRId32
                       ", but must be a multiple of %" PRId64
                       ", the query heads of one key/value head",
                       desc->name, first_head, group);
  frame->first_head = first_head;
  return POSENC_OK;
}

/* Drivers multiply these when they count items and size scratch. Inputs that
 * are broadcast can make them huge without any memory behind. */
static posenc_status check_products(const posenc_kernel_desc *desc,
                                    const posenc_frame *frame) {
  int64_t width =
      desc->head_dim > desc->value_dim ? desc->head_dim : desc->value_dim;
  int64_t lengths[] = {frame->longest_query, frame->longest_key};
  for (int32_t i = 0; i < 2; ++i) {
    int64_t bytes = 16; /* more than any element has */
    if (__builtin_mul_overflow(bytes, width < 1 ? 1 : width, &bytes) ||
        __builtin_mul_overflow(bytes, lengths[i], &bytes) ||
        __builtin_mul_overflow(bytes, frame->heads, &bytes) ||
        __builtin_mul_overflow(bytes, frame->batch, &bytes))
      return posenc_fail(
          POSENC_OVERFLOW,
          "%s: B = %" PRId64 ", H = %" PRId64 ", Lq = %" PRId64
          ", Lk = %" PRId64 " make tensors whose size does not fit in 64 bits",
          desc->name, frame->batch, frame->heads, lengths[0], lengths[1]);
  }
  return POSENC_OK;
}

#define LONGEST_RUN (INT64_C(1) << 22)

#define SEQUENCE_ROLES                                                         \
  (POSENC_TENSOR_QUERY_BOUNDS | POSENC_TENSOR_KEY_BOUNDS |                     \
   POSENC_TENSOR_KEY_LENGTHS | POSENC_TENSOR_PAGE_TABLE)

static bool has_sequences(const posenc_kernel_desc *desc) {
  for (int32_t t = 0; t < desc->tensor_count; ++t)
    if (desc->tensors[t].flags & SEQUENCE_ROLES)
      return true;
  return false;
}

static posenc_status check_lengths(const posenc_kernel_desc *desc,
                                   const posenc_frame *frame) {
  bool are_among = (desc->flags & POSENC_KERNEL_QUERIES_AMONG_KEYS) != 0;
  if (are_among && has_sequences(desc)) {
    posenc_status status = posenc_check_own_keys(frame);
    if (status)
      return status;
  } else if (are_among && frame->query_len > frame->key_len)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "%s: Lq is %" PRId64
                       ", but must be at most Lk = %" PRId64
                       ": the kernel looks queries up among the keys",
                       desc->name, frame->query_len, frame->key_len);
  if ((desc->flags & POSENC_KERNEL_ONE_RUN) &&
      frame->key_len - frame->first_key > LONGEST_RUN)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "%s: Lk is %" PRId64
                       ", but must be at most 2^22: the kernel scans all keys "
                       "of a row",
                       desc->name, frame->key_len - frame->first_key);
  return POSENC_OK;
}

static bool is_looked_at(const posenc_tensor_desc *expected, bool prepare) {
  return !prepare || !(expected->flags & POSENC_TENSOR_OUTPUT) ||
         (expected->flags & POSENC_TENSOR_CACHE);
}

/* Extents of all tensors that are looked at, and what follows from them. */
static posenc_status check_shapes(const posenc_any_args *args, bool prepare,
                                  posenc_extents *extents,
                                  posenc_frame *frame) {
  const posenc_kernel_desc *desc = frame->desc;
  symbol symbols[SYMBOL_COUNT] = {{false, 0, NULL, 0}};
  posenc_status status;
  for (int32_t t = 0; t < desc->tensor_count; ++t) {
    const posenc_tensor_desc *expected = &desc->tensors[t];
    const DLTensor *tensor = args->tensors[t];
    if (!is_looked_at(expected, prepare))
      continue;
    if (!tensor) {
      if (expected->flags & POSENC_TENSOR_OPTIONAL)
        continue;
      return posenc_fail(POSENC_INVALID_ARGUMENT,
                         "%s: %s is NULL, but the kernel needs it", desc->name,
                         expected->name);
    }
    status = posenc_check_extents(desc, expected, tensor);
    if (!status)
      status = match_axes(desc, expected, tensor, symbols);
    if (status)
      return status;
  }
  status = check_heads(desc, symbols, frame);
  if (status)
    return status;
  const symbol *batch = &symbols[POSENC_AXIS_BATCH];
  frame->batch = batch->fixed ? batch->extent : 1;
  for (int32_t t = 0; t < desc->tensor_count; ++t) {
    const posenc_tensor_desc *expected = &desc->tensors[t];
    const DLTensor *tensor = args->tensors[t];
    if (!tensor || !is_looked_at(expected, prepare))
      continue;
    status = match_or_1(desc, expected, tensor, POSENC_AXIS_HEADS_OR_1, "H",
                        frame->heads);
    if (!status)
      status = match_or_1(desc, expected, tensor, POSENC_AXIS_BATCH_OR_1, "B",
                          frame->batch);
    if (status)
      return status;
  }
  extents->queries = symbols[POSENC_AXIS_QUERY_LEN].extent;
  /* A kernel has Lk or L, the other one is 0. */
  extents->keys =
      symbols[POSENC_AXIS_KEY_LEN].extent + symbols[POSENC_AXIS_LEN].extent;
  extents->has_keys = symbols[POSENC_AXIS_KEY_LEN].fixed;
  extents->all_queries = symbols[POSENC_AXIS_ALL_QUERIES].extent;
  extents->all_keys = symbols[POSENC_AXIS_ALL_KEYS].extent;
  extents->pages = symbols[POSENC_AXIS_PAGES].extent;
  extents->page_size = symbols[POSENC_AXIS_PAGE_SIZE].extent;
  extents->max_pages = symbols[POSENC_AXIS_MAX_PAGES].extent;
  extents->capacity = symbols[POSENC_AXIS_RING].extent;
  return POSENC_OK;
}

static posenc_status check_contents(const posenc_any_args *args, bool prepare,
                                    bool need_data, posenc_frame *frame) {
  const posenc_kernel_desc *desc = frame->desc;
  for (int32_t t = 0; t < desc->tensor_count; ++t) {
    const posenc_tensor_desc *expected = &desc->tensors[t];
    const DLTensor *tensor = args->tensors[t];
    posenc_view *view = &frame->tensors[t];
    /* Sizes depend on the strides of outputs, too. */
    if (!tensor || (need_data && !is_looked_at(expected, prepare)))
      continue;
    bool is_read = !prepare || (expected->flags & SEQUENCE_ROLES) ||
                   (need_data && (expected->flags & POSENC_TENSOR_PREPARE));
    if (!is_read) {
      posenc_view_layout(expected, tensor, view);
      continue;
    }
    /* Any address that is not NULL serves for a tensor without elements. */
    posenc_status status =
        posenc_check_data(desc, expected, tensor, (char *)frame, view);
    if (status)
      return status;
  }
  return POSENC_OK;
}

static posenc_status check_tensors(const posenc_any_args *args, bool prepare,
                                   bool need_data, posenc_frame *frame) {
  posenc_extents extents;
  posenc_status status = check_shapes(args, prepare, &extents, frame);
  if (!status)
    status = check_contents(args, prepare, need_data, frame);
  if (!status)
    status = posenc_find_sequences(&extents, frame);
  if (!status)
    status = check_lengths(frame->desc, frame);
  if (!status)
    status = check_products(frame->desc, frame);
  return status;
}

static posenc_status begin(const posenc_kernel_desc *desc,
                           const posenc_any_args *args, posenc_frame *frame) {
  memset(frame, 0, sizeof(*frame));
  frame->desc = desc;
  frame->workers = 1;
  posenc_status status = check_desc(desc);
  if (!status)
    status = check_args(desc, args);
  return status;
}

posenc_status posenc_kernel_enter(const posenc_kernel_desc *desc,
                                  const void *args, const posenc_call *call,
                                  posenc_frame *frame) {
  posenc_call options;
  posenc_status status = begin(desc, args, frame);
  if (!status)
    status = posenc_read_call(call, &options);
  if (!status)
    status = check_tensors(args, false, true, frame);
  if (!status)
    status = posenc_check_blocks(frame);
  if (!status)
    status = check_shard(desc, options.first_head, frame);
  if (!status)
    status = posenc_choose_variant(desc, &frame->variant);
  if (!status && !(desc->flags & POSENC_KERNEL_APPEND))
    status = posenc_check_prepared(frame, options.prepared);
  if (status)
    return status;
  frame->call = call && call->size ? call : NULL;
  frame->seed = options.seed;
  frame->offset = options.offset;
  frame->workers = posenc_pool_threads(options.pool);
  return POSENC_OK;
}

posenc_status posenc_kernel_enter_prepare(const posenc_kernel_desc *desc,
                                          const void *args,
                                          const posenc_call *call,
                                          int32_t need_data,
                                          posenc_frame *frame) {
  posenc_call options;
  posenc_status status = begin(desc, args, frame);
  if (!status)
    status = posenc_read_call(call, &options);
  if (!status)
    status = check_tensors(args, true, need_data != 0, frame);
  if (!status)
    status = posenc_choose_variant(desc, &frame->variant);
  if (status)
    return status;
  frame->workers = posenc_pool_threads(options.pool);
  /* Not looked into: the size queries only ask whether there will be one. */
  frame->prepared = (char *)options.prepared;
  return POSENC_OK;
}

posenc_status posenc_kernel_position_failed(const posenc_frame *frame,
                                            const char *what, int64_t batch,
                                            int64_t token, double position,
                                            int64_t rows) {
  return posenc_fail(POSENC_OUT_OF_RANGE,
                     "%s: token %" PRId64 " of batch entry %" PRId64
                     " is at position %.17g, but %s has the positions 0 .. "
                     "%" PRId64,
                     frame->desc->name, token, batch, position, what, rows - 1);
}
