/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The states that kernels take from one call to the next.
 */
#include "internal.h"

#include <string.h>

/* The rows of a head in a tensor [B, H, rows, columns] or [B, H, rows]. */
typedef struct state_rows {
  float *data; /* NULL: absent */
  int64_t rows, columns, row_stride, column_stride;
} state_rows;

static state_rows find_rows(const posenc_frame *frame, int32_t tensor,
                            int64_t batch, int64_t head) {
  const posenc_tensor_desc *desc = &frame->desc->tensors[tensor];
  const posenc_view *view = &frame->tensors[tensor];
  bool is_matrix = desc->rank == 4;
  state_rows rows = {NULL, desc->axes[2].value,
                     is_matrix ? desc->axes[3].value : 1, view->stride[2],
                     is_matrix ? view->stride[3] : 1};
  if (view->data)
    rows.data = (float *)(void *)view->data + batch * view->stride[0] +
                head * view->stride[1];
  return rows;
}

static void copy_row(float *to, int64_t to_stride, const float *from,
                     int64_t from_stride, int64_t columns) {
  if (to_stride == 1 && from_stride == 1) {
    memcpy(to, from, (size_t)columns * sizeof(float));
    return;
  }
  for (int64_t c = 0; c < columns; ++c)
    to[c * to_stride] = from[c * from_stride];
}

void posenc_kernel_load_state(const posenc_frame *sequence, int64_t batch,
                              int64_t head, int32_t tensor, float *state,
                              int64_t width) {
  state_rows from = find_rows(sequence, tensor, batch, head);
  /* Without earlier tokens the state is empty, whatever the tensor holds. */
  bool is_empty = !from.data || sequence->key_len == sequence->query_len;
  if (is_empty || from.columns < width)
    memset(state, 0, (size_t)(from.rows * width) * sizeof(float));
  for (int64_t r = 0; !is_empty && r < from.rows; ++r)
    copy_row(state + r * width, 1, from.data + r * from.row_stride,
             from.column_stride, from.columns);
}

void posenc_kernel_store_state(const posenc_frame *sequence, int64_t batch,
                               int64_t head, int32_t tensor, const float *state,
                               int64_t width) {
  state_rows to = find_rows(sequence, tensor, batch, head);
  for (int64_t r = 0; to.data && r < to.rows; ++r)
    copy_row(to.data + r * to.row_stride, to.column_stride, state + r * width,
             1, to.columns);
}
