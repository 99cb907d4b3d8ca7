// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that append to a cache.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache -split-input-file | FileCheck %s
// A second run changes nothing.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache -split-input-file > %t
// RUN: posenc-opt %t --posenc-split-cache -split-input-file | diff %t -

// Raw keys stay the kernel's business.
// CHECK-LABEL: posenc.kernel @raw heads(4) kv_heads(2) head_dim(8)
// CHECK-SAME: keys(lengths) no_lse {
// CHECK: posenc.rotate %{{.*}} : !posenc.query
// CHECK: posenc.rotate %{{.*}} : !posenc.key
// CHECK: posenc.kernel @raw_append_kv heads(4) kv_heads(2) head_dim(8)
// CHECK-SAME: keys(lengths) {
// CHECK-NEXT: ^bb0(%{{.*}}: !posenc.query, %[[K:.*]]: !posenc.key, %{{.*}}: !posenc.value):
// CHECK-NEXT: posenc.yield %[[K]] : !posenc.key
posenc.kernel @raw heads(4) kv_heads(2) head_dim(8) keys(lengths) no_lse encode [#posenc.rope]

// -----

// Encoded keys are read as they are.
// CHECK-LABEL: posenc.kernel @encoded
// CHECK-SAME: dtype(bf16) kv_dtype(f16) queries(packed) keys(paged) key_cache(encoded) {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key, %{{.*}}: !posenc.value):
// CHECK-NOT: !posenc.key
// CHECK: %[[R:.*]] = posenc.rotate %{{.*}} : !posenc.query
// CHECK: posenc.dot %[[R]], %[[K]]
// CHECK: posenc.kernel @encoded_append_kv
// CHECK-SAME: dtype(bf16) kv_dtype(f16) queries(packed) keys(paged) {
// CHECK-NEXT: ^bb0(%{{.*}}: !posenc.query, %[[K:.*]]: !posenc.key, %{{.*}}: !posenc.value):
// CHECK-NOT: position query
// CHECK: %[[J:.*]] = posenc.position key law(#posenc.appended<offset = 7>)
// CHECK: %[[R:.*]] = posenc.rotate %[[K]] by(%[[J]])
// CHECK-NEXT: posenc.yield %[[R]] : !posenc.key
posenc.kernel @encoded heads(4) kv_heads(2) head_dim(8) dtype(bf16) kv_dtype(f16) queries(packed) keys(paged)
  key_cache(encoded) mask(#posenc.causal) positions(#posenc.iota<offset = 7>) encode [#posenc.rope, #posenc.alibi]

// -----

// Positions of an operand, gains, and a norm that is the keys' alone.
// CHECK-LABEL: posenc.kernel @positions
// CHECK-NOT: key_gain
// CHECK: posenc.kernel @positions_append_kv
// CHECK-NOT: query_gain
// CHECK: key_gain
// CHECK: posenc.position key law(#posenc.position_tensor)
posenc.kernel @positions heads(4) kv_heads(2) head_dim(8) keys(lengths) key_cache(encoded)
  positions(#posenc.position_tensor) encode [#posenc.qk_norm<gain = channel>, #posenc.rope]

// -----

// No product, no key vector: any will do.
// CHECK-LABEL: posenc.kernel @no_product
// CHECK: posenc.kernel @no_product_append_kv
// CHECK: posenc.yield %{{.*}} : !posenc.key
posenc.kernel @no_product heads(2) head_dim(8) keys(lengths) key_cache(encoded) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t = posenc.table law(#posenc.constants<[0.5, 1.0]>) : !posenc.table<head>
  %s = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// Heads may differ where each has keys of its own.
// CHECK-LABEL: posenc.kernel @own_keys_append_kv
// CHECK: posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
// CHECK: %[[U:.*]] = posenc.vadd
// CHECK: posenc.yield %[[U]] : !posenc.key
posenc.kernel @own_keys heads(2) head_dim(8) keys(lengths) key_cache(encoded) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %u = posenc.vadd %k, %t : !posenc.key, !posenc.table<head, channel>
  %s = posenc.dot %q, %u scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// Other kernels have nothing to append to.
// CHECK-LABEL: posenc.kernel @packed
// CHECK-NOT: _append_kv
posenc.kernel @packed heads(2) head_dim(8) queries(packed) keys(packed) encode [#posenc.rope]
