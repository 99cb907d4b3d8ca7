// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan and the host program of a kernel that appends to a cache.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-verify-plan -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --canonicalize --cse --posenc-plan=isa=x86-64 --posenc-lower-driver -split-input-file | FileCheck %s --check-prefix=DRIVER

// Attention reads keys where they are; new keys are of type dtype.
// CHECK-LABEL: posenc.plan @cache_x86_64
// CHECK-NOT: posenc.keys
// CHECK-LABEL: posenc.kernel @cache_append_kv
// CHECK-LABEL: posenc.plan @cache_append_kv_x86_64
// CHECK-SAME: kv_dtype(bf16) append {
// CHECK: posenc.prepare @angles0 angles
// CHECK: posenc.position key law(#posenc.appended<offset = 7>)
// CHECK: posenc.keys {
// CHECK-NEXT: ^bb0(%[[K:.*]]: !posenc.key):
// CHECK-NEXT: %[[R:.*]] = posenc.tile.rotate %[[K]] by @angles0
// CHECK-NEXT: posenc.yield %[[R]] : !posenc.key
// CHECK-NEXT: }
// CHECK-NEXT: }

// Tables, then items that transform keys and write both rows; one entry point
// more, and its size query.
// DRIVER-LABEL: func.func private @cache_append_kv_x86_64_append_item
// DRIVER: call @cache_append_kv_x86_64_keys
// DRIVER: call @posenc_kernel_append
// DRIVER: call @posenc_kernel_append
// DRIVER-LABEL: func.func @cache_append_kv(
// DRIVER: call @posenc_kernel_enter(
// DRIVER: call @posenc_kernel_scratch(
// DRIVER: constant @cache_append_kv_angles0_item
// DRIVER: constant @cache_append_kv_x86_64_append_item
// DRIVER-NOT: @cache_append_kv_prepare
// DRIVER: func.func @cache_append_kv_scratch_bytes(
posenc.kernel @cache heads(4) kv_heads(2) head_dim(8) dtype(bf16) kv_dtype(f16) keys(paged) key_cache(encoded)
  positions(#posenc.iota<offset = 7>) mask(#posenc.causal) encode [#posenc.rope]

// -----

// Raw keys need no table and no transform.
// CHECK-LABEL: posenc.plan @raw_append_kv_x86_64
// CHECK-SAME: append {
// CHECK-NEXT: }
// DRIVER-LABEL: func.func private @raw_append_kv_x86_64_append_item
// DRIVER-NOT: _keys
// DRIVER: call @posenc_kernel_append
// DRIVER: call @posenc_kernel_append
// DRIVER-LABEL: func.func @raw_append_kv(
posenc.kernel @raw heads(4) kv_heads(2) head_dim(8) keys(lengths) encode [#posenc.rope]
