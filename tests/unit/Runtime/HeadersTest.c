/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The public headers as C11, and the layout that the compiler relies on.
 */
#include "posenc/posenc.h"

#include "posenc/kernel_abi.h"

#define CHECK_LAYOUT(condition) _Static_assert(condition, "layout of the ABI")

#if UINTPTR_MAX == UINT64_MAX
CHECK_LAYOUT(sizeof(posenc_call) == 72);
CHECK_LAYOUT(offsetof(posenc_call, first_head) == 48);
CHECK_LAYOUT(offsetof(posenc_call, seed) == 56);
CHECK_LAYOUT(sizeof(posenc_merge_args) == 56);
CHECK_LAYOUT(sizeof(posenc_axis_desc) == 16);
CHECK_LAYOUT(sizeof(posenc_tensor_desc) == 120);
CHECK_LAYOUT(offsetof(posenc_tensor_desc, dtype_code) == 16);
CHECK_LAYOUT(offsetof(posenc_tensor_desc, axes) == 24);
CHECK_LAYOUT(sizeof(posenc_variant_desc) == 16);
CHECK_LAYOUT(sizeof(posenc_kernel_desc) == 64);
CHECK_LAYOUT(offsetof(posenc_kernel_desc, tensors) == 40);
CHECK_LAYOUT(offsetof(posenc_any_args, tensors) == 8);
CHECK_LAYOUT(sizeof(posenc_view) == 104);
CHECK_LAYOUT(offsetof(posenc_frame, batch) == 16);
CHECK_LAYOUT(offsetof(posenc_frame, prepared) == 80);
CHECK_LAYOUT(offsetof(posenc_frame, tensors) == 192);
#endif
CHECK_LAYOUT(sizeof(posenc_status) == 4);

posenc_call posenc_test_default_call(void);

posenc_call posenc_test_default_call(void) {
  posenc_call call = POSENC_CALL_INIT;
  return call;
}
