/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Merges the results of attention over parts of the keys.
 */
#include "internal.h"
#include "numbers.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_PARTS (INT64_C(1) << 30)
#define LEAST_RANK 3 /* the axis of heads, one before it and the columns */

/* Columns that are summed at a time, on the stack. All parts of a column are
 * read before it is written, so the output may be one of the parts. */
#define COLUMNS 256

/* Elements that an item of work reads or writes, about. */
#define ITEM_ELEMENTS (INT64_C(1) << 15)

static const posenc_kernel_desc merge_desc = {.name = "posenc_merge"};

typedef struct merge {
  posenc_frame frame; /* first: items are given its address */
  const posenc_merge_args *args;
  int32_t axes;    /* of lse: those that number the rows */
  int64_t columns; /* of o */
  int64_t rows, rows_per_item;
} merge;

typedef struct row {
  int64_t number;
  int64_t index[POSENC_MAX_RANK];
} row;

/* Columns of one type or the other. */
typedef union elements {
  float f32[COLUMNS];
  uint16_t x16[COLUMNS];
} elements;

/******************************************************************************
 * Rows
 *****************************************************************************/

/* Of the row's first element. Tensors were checked, so this cannot overflow if
 * there are elements. */
static char *find_row(const merge *m, const DLTensor *tensor, const row *r) {
  int64_t offset = 0;
  if (!tensor->strides)
    offset = r->number * (tensor->ndim > m->axes ? m->columns : 1);
  else
    for (int32_t i = 0; i < m->axes; ++i)
      offset += r->index[i] * tensor->strides[i];
  return (char *)tensor->data + tensor->byte_offset +
         offset * (tensor->dtype.bits / 8);
}

static int64_t column_stride(const merge *m, const DLTensor *o) {
  return o->strides && m->columns > 1 ? o->strides[m->axes] : 1;
}

static double read_f32(const char *data) {
  return (double)*(const float *)(const void *)data;
}

static double read_lse(const merge *m, const row *r, int64_t part) {
  return read_f32(find_row(m, m->args->lse_parts[part], r));
}

/* Of the row's head: axis 1 of [B, H, Lq] and of [T, H]. */
static double read_sink(const merge *m, const row *r) {
  const DLTensor *sinks = m->args->sinks;
  if (!sinks)
    return -(double)INFINITY;
  int64_t head = sinks->shape[0] == 1 ? 0 : r->index[1];
  int64_t stride = sinks->strides ? sinks->strides[0] : 1;
  return read_f32((const char *)sinks->data + sinks->byte_offset +
                  (head ? head * stride * (int64_t)sizeof(float) : 0));
}

/* The largest logarithm of a row, or NaN if one is. */
static double find_largest(const merge *m, const row *r) {
  double largest = read_sink(m, r);
  for (int64_t part = 0; part < m->args->count; ++part) {
    double lse = read_lse(m, r, part);
    if (lse > largest || isnan(lse))
      largest = lse;
  }
  return largest;
}

/* Relative to the largest, which may be infinite. */
static double weigh(double lse, double largest) {
  return lse == largest ? 1.0 : exp(lse - largest);
}

/* Loops over columns see neighbours only; others are copied. */
static void copy(const DLTensor *o, void *to, int64_t to_stride,
                 const void *from, int64_t from_stride, int64_t count) {
  if (o->dtype.bits == 32)
    for (int64_t j = 0; j < count; ++j)
      ((float *)to)[j * to_stride] = ((const float *)from)[j * from_stride];
  else
    for (int64_t j = 0; j < count; ++j)
      ((uint16_t *)to)[j * to_stride] =
          ((const uint16_t *)from)[j * from_stride];
}

static void add_columns(const merge *m, const row *r, const DLTensor *o,
                        double weight, int64_t first, int64_t count,
                        double *restrict sums) {
  elements copied;
  float widened[COLUMNS];
  int64_t stride = column_stride(m, o);
  const void *data = find_row(m, o, r) + first * stride * (o->dtype.bits / 8);
  if (stride != 1) {
    copy(o, &copied, 1, data, stride, count);
    data = &copied;
  }
  const uint16_t *x16 = data;
  const float *x = widened;
  if (o->dtype.bits == 32)
    x = data;
  else if (o->dtype.code == kDLBfloat)
    for (int64_t j = 0; j < count; ++j)
      widened[j] = widen_bf16(x16[j]);
  else
    for (int64_t j = 0; j < count; ++j)
      widened[j] = widen_f16(x16[j]);
  for (int64_t j = 0; j < count; ++j)
    sums[j] += weight * (double)x[j];
}

static void write_columns(const merge *m, const row *r, double factor,
                          int64_t first, int64_t count,
                          const double *restrict sums) {
  const DLTensor *o = m->args->o;
  elements rounded;
  int64_t stride = column_stride(m, o);
  void *data = find_row(m, o, r) + first * stride * (o->dtype.bits / 8);
  void *out = stride == 1 ? data : &rounded;
  float *restrict f32 = out;
  uint16_t *restrict x16 = out;
  if (o->dtype.bits == 32)
    for (int64_t j = 0; j < count; ++j)
      f32[j] = (float)(sums[j] * factor);
  else if (o->dtype.code == kDLBfloat)
    for (int64_t j = 0; j < count; ++j)
      x16[j] = narrow_bf16((float)(sums[j] * factor));
  else
    for (int64_t j = 0; j < count; ++j)
      x16[j] = narrow_f16((float)(sums[j] * factor));
  if (stride != 1)
    copy(o, data, stride, &rounded, 1, count);
}

/* Weighted sums of some columns; returns the sum of all weights, always added
 * in the same order. What weighs nothing is not looked at. */
static double add_parts(const merge *m, const row *r, double largest,
                        int64_t first, int64_t count, double *sums) {
  for (int64_t j = 0; j < count; ++j)
    sums[j] = 0.0;
  if (largest == -(double)INFINITY)
    return 1.0; /* an output of 0 and the logarithm -inf */
  double total = weigh(read_sink(m, r), largest);
  for (int64_t part = 0; part < m->args->count; ++part) {
    double weight = weigh(read_lse(m, r, part), largest);
    total += weight;
    if (count > 0 && weight != 0.0)
      add_columns(m, r, m->args->o_parts[part], weight, first, count, sums);
  }
  return total;
}

static void merge_row(const merge *m, const row *r) {
  double sums[COLUMNS];
  double largest = find_largest(m, r), total;
  int64_t first = 0;
  do {
    int64_t count = m->columns - first;
    if (count > COLUMNS)
      count = COLUMNS;
    total = add_parts(m, r, largest, first, count, sums);
    if (count > 0)
      write_columns(m, r, 1.0 / total, first, count, sums);
    first += count;
  } while (first < m->columns);
  /* Last, for the case that it is one of the parts. */
  if (m->args->lse)
    *(float *)(void *)find_row(m, m->args->lse, r) =
        (float)(largest + log(total));
}

static void find_index(const merge *m, row *r) {
  int64_t rest = r->number;
  for (int32_t i = m->axes - 1; i >= 0; --i) {
    r->index[i] = rest % m->args->o->shape[i];
    rest /= m->args->o->shape[i];
  }
}

static void next_row(const merge *m, row *r) {
  ++r->number;
  for (int32_t i = m->axes - 1; i >= 0; --i) {
    if (++r->index[i] < m->args->o->shape[i])
      return;
    r->index[i] = 0;
  }
}

/* Threads may round in other ways, or flush subnormal numbers to 0: results
 * must not depend on who computes them. */
static int32_t merge_rows(posenc_frame *frame, int64_t item, int64_t worker) {
  const merge *m = (const merge *)(const void *)frame;
  row r = {.number = item * m->rows_per_item};
  fenv_t environment;
  (void)worker;
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  find_index(m, &r);
  for (int64_t i = 0; i < m->rows_per_item && r.number < m->rows; ++i) {
    merge_row(m, &r);
    next_row(m, &r);
  }
  fesetenv(&environment);
  return POSENC_OK;
}

/******************************************************************************
 * Checks
 *****************************************************************************/

static posenc_status check_args(const posenc_merge_args *args) {
  if (!args)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "posenc_merge: args is NULL");
  if (args->size != sizeof(*args))
    return posenc_fail(args->size ? POSENC_VERSION_MISMATCH
                                  : POSENC_INVALID_ARGUMENT,
                       "posenc_merge: args->size is %zu, but must be "
                       "sizeof(posenc_merge_args), which is %zu in this "
                       "version",
                       args->size, sizeof(*args));
  if (args->count < 0 || args->count > MOST_PARTS)
    return posenc_fail(POSENC_OUT_OF_RANGE,
                       "posenc_merge: count is %" PRId64
                       ", but must be from 0 to 2^30",
                       args->count);
  if (args->count > 0 && (!args->o_parts || !args->lse_parts))
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "posenc_merge: %s is NULL, but count is %" PRId64,
                       args->o_parts ? "lse_parts" : "o_parts", args->count);
  return POSENC_OK;
}

static bool is_float(DLDataType type) {
  return type.lanes == 1 && ((type.code == kDLFloat && type.bits == 32) ||
                             (type.code == kDLFloat && type.bits == 16) ||
                             (type.code == kDLBfloat && type.bits == 16));
}

static posenc_status check_type(const char *name, DLDataType type) {
  char text[48];
  if (is_float(type))
    return POSENC_OK;
  posenc_describe_type(type, text, sizeof(text));
  return posenc_fail(POSENC_DTYPE_MISMATCH,
                     "posenc_merge: %s is %s, but must be float32, bfloat16 or "
                     "float16",
                     name, text);
}

static posenc_status check_like_o(const char *name, const DLTensor *tensor,
                                  const DLTensor *o) {
  for (int32_t i = 0; i < tensor->ndim; ++i)
    if (tensor->shape[i] != o->shape[i])
      return posenc_fail(POSENC_SHAPE_MISMATCH,
                         "posenc_merge: %s has extent %" PRId64
                         " on axis %" PRId32 ", but must have %" PRId64
                         " like o",
                         name, tensor->shape[i], i, o->shape[i]);
  return POSENC_OK;
}

static posenc_status check_sinks(const DLTensor *sinks, const DLTensor *o) {
  int64_t extent = sinks->shape[0], heads = o->shape[1];
  if (extent == 1 || extent == heads)
    return POSENC_OK;
  return posenc_fail(POSENC_SHAPE_MISMATCH,
                     "posenc_merge: sinks has extent %" PRId64
                     " on axis 0, but must have 1 or H = %" PRId64,
                     extent, heads);
}

/* The rank tells what a tensor is: like o, like lse, which has one axis less,
 * or the sinks. Views are not kept, as there may be any number of parts. */
static posenc_status check_tensor(const char *name, int32_t rank, int32_t flags,
                                  const DLTensor *tensor, const DLTensor *o) {
  posenc_tensor_desc expected = {.name = name,
                                 .rank = rank,
                                 .flags = flags,
                                 .dtype_code = kDLFloat,
                                 .dtype_bits = 32};
  char empty;
  posenc_view view;
  if (!tensor)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "posenc_merge: %s is NULL",
                       name);
  for (int32_t i = 0; i < rank; ++i) /* a kind without limits of its own */
    expected.axes[i] = (posenc_axis_desc){POSENC_AXIS_BATCH, i, 0};
  posenc_status status = posenc_check_extents(&merge_desc, &expected, tensor);
  if (!status)
    status = rank == 1 ? check_sinks(tensor, o) : check_like_o(name, tensor, o);
  if (!status && rank == o->ndim) {
    status = check_type(name, tensor->dtype);
    expected.dtype_code = tensor->dtype.code;
    expected.dtype_bits = tensor->dtype.bits;
  }
  if (!status)
    status = posenc_check_data(&merge_desc, &expected, tensor, &empty, &view);
  return status;
}

static posenc_status check_part(const posenc_merge_args *args, int64_t part) {
  const DLTensor *o = args->o;
  char name[40];
  snprintf(name, sizeof(name), "o_parts[%" PRId64 "]", part);
  posenc_status status = check_tensor(name, o->ndim, 0, args->o_parts[part], o);
  if (status)
    return status;
  snprintf(name, sizeof(name), "lse_parts[%" PRId64 "]", part);
  return check_tensor(name, o->ndim - 1, 0, args->lse_parts[part], o);
}

static posenc_status check_tensors(const posenc_merge_args *args) {
  const DLTensor *o = args->o;
  if (!o)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "posenc_merge: o is NULL");
  if (o->ndim < LEAST_RANK || o->ndim > POSENC_MAX_RANK)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "posenc_merge: o has rank %d, but must have from %d to "
                       "%d",
                       o->ndim, LEAST_RANK, POSENC_MAX_RANK);
  posenc_status status = check_tensor("o", o->ndim, POSENC_TENSOR_OUTPUT, o, o);
  if (!status && args->lse)
    status =
        check_tensor("lse", o->ndim - 1, POSENC_TENSOR_OUTPUT, args->lse, o);
  if (!status && args->sinks)
    status = check_tensor("sinks", 1, 0, args->sinks, o);
  for (int64_t part = 0; !status && part < args->count; ++part)
    status = check_part(args, part);
  return status;
}

/* Whether an output has elements. Their number, and so that of the rows, fits
 * in 64 bits, as no two share memory. */
static bool count_rows(merge *m) {
  const DLTensor *o = m->args->o;
  for (int32_t i = 0; i < m->axes; ++i)
    if (o->shape[i] == 0)
      return false;
  if (m->columns == 0 && !m->args->lse)
    return false;
  m->rows = 1;
  for (int32_t i = 0; i < m->axes; ++i)
    m->rows *= o->shape[i];
  int64_t elements = (m->columns > 0 ? m->columns : 1) * (m->args->count + 1);
  m->rows_per_item = elements < ITEM_ELEMENTS ? ITEM_ELEMENTS / elements : 1;
  return true;
}

posenc_status posenc_merge(const posenc_merge_args *args,
                           const posenc_call *call) {
  posenc_call options;
  posenc_status status = check_args(args);
  if (!status)
    status = posenc_read_call(call, &options);
  if (!status)
    status = check_tensors(args);
  if (status)
    return status;
  merge m = {.frame = {.desc = &merge_desc,
                       .call = call,
                       .workers = posenc_pool_threads(options.pool)},
             .args = args,
             .axes = args->o->ndim - 1,
             .columns = args->o->shape[args->o->ndim - 1]};
  if (!count_rows(&m))
    return POSENC_OK;
  int64_t items = (m.rows - 1) / m.rows_per_item + 1;
  return posenc_kernel_parallel(&m.frame, items, merge_rows);
}
