// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Caches and the kernels that fill them: printing and parsing.
// RUN: posenc-opt %s | FileCheck %s
// RUN: posenc-opt %s | posenc-opt | FileCheck %s
// RUN: posenc-opt %s -emit-bytecode | posenc-opt | FileCheck %s

// CHECK: posenc.kernel @raw heads(2) head_dim(8) keys(lengths) key_cache(raw)
posenc.kernel @raw heads(2) head_dim(8) key_cache(raw) keys(lengths)

// CHECK: posenc.kernel @encoded heads(2) head_dim(8) queries(packed) keys(paged) key_cache(encoded) no_lse encode [#posenc.rope]
posenc.kernel @encoded heads(2) head_dim(8) queries(packed) keys(paged) key_cache(encoded) no_lse encode [#posenc.rope]

// CHECK: posenc.kernel @encoded_append_kv heads(2) head_dim(8) queries(packed) keys(paged) {
// CHECK: posenc.position key law(#posenc.appended)
// CHECK: posenc.position key law(#posenc.appended<offset = -3>)
// CHECK: posenc.yield %{{.*}} : !posenc.key
posenc.kernel @encoded_append_kv heads(2) head_dim(8) queries(packed) keys(paged) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.appended)
  %l = posenc.position key law(#posenc.appended<offset = -3>)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  %r = posenc.rotate %k by(%j, %l) freqs(%f, %f) pairing(half) first_dim(0) : !posenc.key
  posenc.yield %r : !posenc.key
}

// CHECK: posenc.plan @plan kernel(@encoded_append_kv) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([16]) keys(64) append {
// CHECK-NEXT: }
posenc.plan @plan kernel(@encoded_append_kv) isa("x86-64") heads(2) kv_heads(2)
    head_dim(8) value_dim(8) rows([16]) keys(64) append {
}
