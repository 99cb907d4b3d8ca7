// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of keys, values and operands in memory, from level 1 to the driver.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-lower-driver -split-input-file | FileCheck %s --check-prefix=DRIVER

// Operands of encodings have the type, those of masks are f32.
// CHECK-LABEL: posenc.kernel @tables
// CHECK-SAME: head_dim(8) {
// CHECK-DAG: #posenc.operand<"t5_bias.table", rows = 32, dtype = bf16>
// CHECK-DAG: #posenc.operand<"prefix">
// CHECK-NOT: table_dtype
// DRIVER-LABEL: func.func @tables(
posenc.kernel @tables heads(2) head_dim(8) table_dtype(bf16) mask(#posenc.prefix) encode [#posenc.t5_bias]

// -----

// Scales of tokens are tensors 4 and 5, and written.
// CHECK-LABEL: posenc.kernel @codes
// CHECK-SAME: kv_dtype(i8) kv_scales(token) keys(lengths)
// CHECK-LABEL: posenc.kernel @codes_append_kv
// CHECK-SAME: kv_dtype(i8) kv_scales(token) keys(lengths) {
// DRIVER-LABEL: func.func private @codes_append_kv_x86_64_append_item
// DRIVER: %[[K:.*]] = arith.constant 4 : i32
// DRIVER: call @posenc_kernel_append(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[K]],
// DRIVER: %[[V:.*]] = arith.constant 5 : i32
// DRIVER: call @posenc_kernel_append(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[V]],
posenc.kernel @codes heads(2) head_dim(8) kv_dtype(i8) kv_scales(token) keys(lengths)
