/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checks of one tensor by itself.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define LARGEST_EXTENT (INT64_C(1) << 30)
#define LARGEST_ROW_STRIDE INT64_C(0x7fffffff)
#define LARGEST_SPAN (INT64_C(1) << 30)
#define LARGEST_POSITION ((INT32_C(1) << 30) - 1)

posenc_status posenc_check_extents(const posenc_kernel_desc *desc,
                                   const posenc_tensor_desc *expected,
                                   const DLTensor *tensor) {
  const char *kernel = desc->name, *name = expected->name;
  if (tensor->ndim != expected->rank)
    return posenc_fail(POSENC_SHAPE_MISMATCH,
                       "%s: %s has rank %d, but must have %" PRId32, kernel,
                       name, tensor->ndim, expected->rank);
  if (!tensor->shape && expected->rank > 0)
    return posenc_fail(POSENC_INVALID_ARGUMENT, "%s: the shape of %s is NULL",
                       kernel, name);
  for (int32_t i = 0; i < expected->rank; ++i) {
    int64_t extent = tensor->shape[i];
    if (extent < 0)
      return posenc_fail(POSENC_INVALID_ARGUMENT,
                         "%s: %s has extent %" PRId64 " on axis %" PRId32
                         ", but extents must not be negative",
                         kernel, name, extent, i);
    if (extent > LARGEST_EXTENT)
      return posenc_fail(POSENC_OUT_OF_RANGE,
                         "%s: %s has extent %" PRId64 " on axis %" PRId32
                         ", but extents must be at most 2^30",
                         kernel, name, extent, i);
  }
  return POSENC_OK;
}

void posenc_describe_type(DLDataType type, char *text, size_t size) {
  static const char *const names[] = {"int",    "uint",    "float", "handle",
                                      "bfloat", "complex", "bool"};
  char lanes[16] = "";
  if (type.lanes != 1)
    snprintf(lanes, sizeof(lanes), "x%u", type.lanes);
  if (type.code == POSENC_DTYPE_FLOAT8_E4M3FN && type.bits == 8)
    snprintf(text, size, "float8_e4m3fn%s", lanes);
  else if (type.code < sizeof(names) / sizeof(names[0]))
    snprintf(text, size, "%s%u%s", names[type.code], type.bits, lanes);
  else
    snprintf(text, size, "type code %u with %u bits%s", type.code, type.bits,
             lanes);
}

/* Positions may be int64 too. */
static bool has_long_positions(const posenc_tensor_desc *expected,
                               const DLTensor *tensor) {
  DLDataType actual = tensor->dtype;
  return (expected->flags & POSENC_TENSOR_POSITIONS) && actual.code == kDLInt &&
         actual.bits == 64 && actual.lanes == 1;
}

static posenc_status check_type(const posenc_kernel_desc *desc,
                                const posenc_tensor_desc *expected,
                                const DLTensor *tensor) {
  DLDataType wanted = {expected->dtype_code, expected->dtype_bits, 1};
  DLDataType actual = tensor->dtype;
  char wanted_text[48], actual_text[48];
  if (actual.code == wanted.code && actual.bits == wanted.bits &&
      actual.lanes == wanted.lanes)
    return POSENC_OK;
  if (has_long_positions(expected, tensor))
    return POSENC_OK;
  posenc_describe_type(wanted, wanted_text, sizeof(wanted_text));
  posenc_describe_type(actual, actual_text, sizeof(actual_text));
  return posenc_fail(POSENC_DTYPE_MISMATCH, "%s: %s is %s, but must be %s%s",
                     desc->name, expected->name, actual_text, wanted_text,
                     expected->flags & POSENC_TENSOR_POSITIONS ? " or int64"
                                                               : "");
}

static posenc_status too_large(const posenc_kernel_desc *desc,
                               const posenc_tensor_desc *expected) {
  return posenc_fail(POSENC_OVERFLOW,
                     "%s: %s spans more bytes than fit in 64 bits", desc->name,
                     expected->name);
}

static posenc_status compact_strides(const posenc_kernel_desc *desc,
                                     const posenc_tensor_desc *expected,
                                     posenc_view *view) {
  int64_t stride = 1;
  for (int32_t i = expected->rank - 1; i >= 0; --i) {
    view->stride[i] = stride;
    if (__builtin_mul_overflow(stride, view->extent[i], &stride))
      return too_large(desc, expected);
  }
  return POSENC_OK;
}

static posenc_status check_stride(const posenc_kernel_desc *desc,
                                  const posenc_tensor_desc *expected,
                                  int32_t axis, int64_t extent,
                                  int64_t stride) {
  const char *rule = NULL;
  int32_t kind = expected->axes[axis].kind;
  bool is_heads = kind == POSENC_AXIS_HEADS || kind == POSENC_AXIS_KV_HEADS;
  bool is_long = stride > LARGEST_SPAN / (extent - 1);
  if ((expected->flags & POSENC_TENSOR_UNIT_STRIDE) &&
      axis == expected->rank - 1 && stride != 1)
    rule = "must be 1: the kernel reads contiguous elements";
  else if (stride < 0)
    rule = "must not be negative";
  else if (stride == 0 && (expected->flags & POSENC_TENSOR_OUTPUT))
    rule = "must not be 0: outputs cannot be broadcast";
  else if (stride > LARGEST_ROW_STRIDE &&
           (kind == POSENC_AXIS_QUERY_LEN || kind == POSENC_AXIS_KEY_LEN ||
            kind == POSENC_AXIS_LEN || kind == POSENC_AXIS_ALL_QUERIES ||
            kind == POSENC_AXIS_ALL_KEYS))
    rule = "must be at most 2^31 - 1";
  else if (kind == POSENC_AXIS_CONST &&
           stride > LARGEST_ROW_STRIDE / (expected->axes[axis].value - 1))
    rule = "makes the axis longer than 2^31 - 1 elements";
  else if (is_long && is_heads && (expected->flags & POSENC_TENSOR_ALL_HEADS))
    rule = "makes the axis longer than 2^30 elements: the kernel reads all "
           "heads together";
  else if (is_long &&
           (kind == POSENC_AXIS_KEY_LEN || kind == POSENC_AXIS_ALL_KEYS) &&
           (desc->flags & POSENC_KERNEL_ONE_RUN))
    rule = "makes the axis longer than 2^30 elements: the kernel scans all "
           "keys of a row";
  if (!rule)
    return POSENC_OK;
  return posenc_fail(POSENC_STRIDE_UNSUPPORTED,
                     "%s: %s has stride %" PRId64 " on axis %" PRId32
                     ", which %s",
                     desc->name, expected->name, stride, axis, rule);
}

/* In order of growing stride, each axis must step over all that lies inside
 * it. Strides and their products with extents are known to fit. */
static posenc_status check_overlap(const posenc_kernel_desc *desc,
                                   const posenc_tensor_desc *expected,
                                   const posenc_view *view) {
  int32_t order[POSENC_MAX_RANK];
  int32_t count = 0;
  for (int32_t i = 0; i < expected->rank; ++i) {
    if (view->extent[i] < 2)
      continue;
    int32_t at = count++;
    for (; at > 0 && view->stride[order[at - 1]] > view->stride[i]; --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t last = 0; /* offset of the last element of the axes so far */
  for (int32_t n = 0; n < count; ++n) {
    int32_t axis = order[n];
    if (view->stride[axis] <= last)
      return posenc_fail(POSENC_STRIDE_UNSUPPORTED,
                         "%s: %s has stride %" PRId64 " on axis %" PRId32
                         ", but must have more than %" PRId64
                         ": elements of an output must not overlap",
                         desc->name, expected->name, view->stride[axis], axis,
                         last);
    last += (view->extent[axis] - 1) * view->stride[axis];
  }
  return POSENC_OK;
}

/* Strides of axes of extent 1 mean nothing, and frameworks fill in anything:
 * they become 0, which also repeats the one part of HEADS_OR_1 and
 * BATCH_OR_1, but a contiguous axis stays contiguous. */
static void normalise_strides(const posenc_tensor_desc *expected,
                              posenc_view *view) {
  for (int32_t i = 0; i < expected->rank; ++i)
    if (view->extent[i] < 2)
      view->stride[i] = (expected->flags & POSENC_TENSOR_UNIT_STRIDE) &&
                        i == expected->rank - 1 &&
                        expected->axes[i].kind != POSENC_AXIS_HEADS_OR_1;
}

static posenc_status check_strides(const posenc_kernel_desc *desc,
                                   const posenc_tensor_desc *expected,
                                   const DLTensor *tensor, posenc_view *view,
                                   int64_t *span) {
  posenc_status status;
  if (!tensor->strides) {
    status = compact_strides(desc, expected, view);
    if (status)
      return status;
  }
  int64_t last = 0, rows = 0;
  for (int32_t i = 0; i < expected->rank; ++i) {
    if (tensor->strides)
      view->stride[i] = tensor->strides[i];
    if (view->extent[i] < 2)
      continue;
    status = check_stride(desc, expected, i, view->extent[i], view->stride[i]);
    if (status)
      return status;
    int64_t offset;
    if (__builtin_mul_overflow(view->extent[i] - 1, view->stride[i], &offset) ||
        __builtin_add_overflow(last, offset, &last))
      return too_large(desc, expected);
    /* Tiles find rows of pages and rings by their offsets in elements. */
    int32_t kind = expected->axes[i].kind;
    if (kind == POSENC_AXIS_PAGES || kind == POSENC_AXIS_PAGE_SIZE ||
        kind == POSENC_AXIS_RING)
      rows += offset;
    if (rows > LARGEST_SPAN)
      return posenc_fail(POSENC_STRIDE_UNSUPPORTED,
                         "%s: %s has %s that span more than 2^30 elements, "
                         "the last of them %" PRId64 " behind the first",
                         desc->name, expected->name,
                         kind == POSENC_AXIS_RING ? "slots" : "pages", rows);
  }
  if (__builtin_add_overflow(last, 1, span) ||
      __builtin_mul_overflow(*span, tensor->dtype.bits / 8, span))
    return too_large(desc, expected);
  normalise_strides(expected, view);
  if (expected->flags & POSENC_TENSOR_OUTPUT)
    return check_overlap(desc, expected, view);
  return POSENC_OK;
}

/* The last axis is contiguous; a stride of 0 repeats what was looked at. */
static posenc_status check_positions(const posenc_kernel_desc *desc,
                                     const posenc_tensor_desc *expected,
                                     const posenc_view *view, bool are_long) {
  int64_t index[POSENC_MAX_RANK] = {0};
  int32_t last = expected->rank - 1;
  for (;;) {
    int64_t offset = 0;
    for (int32_t i = 0; i < last; ++i)
      offset += index[i] * view->stride[i];
    const void *data = view->data;
    for (int64_t j = 0; j < view->extent[last]; ++j) {
      int64_t position = are_long ? ((const int64_t *)data)[offset + j]
                                  : ((const int32_t *)data)[offset + j];
      if (position < -LARGEST_POSITION - 1 || position > LARGEST_POSITION)
        return posenc_fail(POSENC_OUT_OF_RANGE,
                           "%s: %s holds %" PRId64 " for token %" PRId64
                           ", but positions must be from -2^30 to 2^30 - 1",
                           desc->name, expected->name, position, j);
    }
    int32_t axis = last - 1;
    for (; axis >= 0; --axis) {
      if (view->stride[axis] != 0 && ++index[axis] < view->extent[axis])
        break;
      index[axis] = 0;
    }
    if (axis < 0)
      return POSENC_OK;
  }
}

/* Kernels read int32: the low halves of int64 positions, which come first. */
static void see_low_halves(const posenc_tensor_desc *expected,
                           posenc_view *view) {
  _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                 "targets are little-endian");
  for (int32_t i = 0; i < expected->rank; ++i)
    view->stride[i] *= 2;
}

/* The same tensor in the order of the tensor's own axes. */
static posenc_status check_data(const posenc_kernel_desc *desc,
                                const posenc_tensor_desc *expected,
                                const DLTensor *tensor, char *empty,
                                posenc_view *view) {
  const char *kernel = desc->name, *name = expected->name;
  if (tensor->device.device_type != kDLCPU)
    return posenc_fail(POSENC_NO_DEVICE,
                       "%s: %s is on device type %d, but must be on the CPU",
                       kernel, name, (int)tensor->device.device_type);
  posenc_status status = check_type(desc, expected, tensor);
  if (status)
    return status;

  bool has_elements = true;
  for (int32_t i = 0; i < expected->rank; ++i) {
    view->extent[i] = tensor->shape[i];
    has_elements = has_elements && view->extent[i] > 0;
  }
  if (!has_elements) {
    /* Nothing will be read, so strides and data may be anything; but NULL would
     * say that the tensor is absent. */
    view->data = tensor->data ? tensor->data : empty;
    return POSENC_OK;
  }

  int64_t span = 0;
  status = check_strides(desc, expected, tensor, view, &span);
  if (status)
    return status;
  if (!tensor->data)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: the data of %s is NULL, but it has elements",
                       kernel, name);
  uintptr_t address, end;
  if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset,
                             &address) ||
      __builtin_add_overflow(address, span, &end))
    return too_large(desc, expected);
  unsigned item_bytes = tensor->dtype.bits / 8u;
  if (address % item_bytes != 0)
    return posenc_fail(POSENC_INVALID_ARGUMENT,
                       "%s: the data of %s is at address %#" PRIxPTR
                       ", but must be aligned to its %u-byte elements",
                       kernel, name, address, item_bytes);
  view->data = (char *)tensor->data + tensor->byte_offset;
  if (!(expected->flags & POSENC_TENSOR_POSITIONS))
    return POSENC_OK;
  bool are_long = has_long_positions(expected, tensor);
  status = check_positions(desc, expected, view, are_long);
  if (!status && are_long)
    see_low_halves(expected, view);
  return status;
}

/* In the order that the kernel has the axes in. */
static void place(const posenc_tensor_desc *expected, const posenc_view *own,
                  posenc_view *view) {
  for (int32_t i = 0; i < expected->rank; ++i) {
    view->extent[expected->axes[i].place] = own->extent[i];
    view->stride[expected->axes[i].place] = own->stride[i];
  }
}

posenc_status posenc_check_data(const posenc_kernel_desc *desc,
                                const posenc_tensor_desc *expected,
                                const DLTensor *tensor, char *empty,
                                posenc_view *view) {
  posenc_view own;
  memset(&own, 0, sizeof(own));
  posenc_status status = check_data(desc, expected, tensor, empty, &own);
  view->data = own.data;
  place(expected, &own, view);
  return status;
}

void posenc_view_layout(const posenc_tensor_desc *expected,
                        const DLTensor *tensor, posenc_view *view) {
  if (tensor->ndim != expected->rank || !tensor->shape)
    return;
  posenc_view own;
  memset(&own, 0, sizeof(own));
  int64_t compact = 1;
  for (int32_t i = expected->rank - 1; i >= 0; --i) {
    own.extent[i] = tensor->shape[i];
    own.stride[i] = tensor->strides ? tensor->strides[i] : compact;
    /* Calls refuse what overflows. */
    (void)__builtin_mul_overflow(compact, own.extent[i], &compact);
  }
  if (compact == 0) /* as in check_data */
    memset(own.stride, 0, sizeof(own.stride));
  else
    normalise_strides(expected, &own);
  place(expected, &own, view);
}
