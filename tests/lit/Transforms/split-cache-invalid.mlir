// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys that a cache cannot hold encoded, with the reason.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache -split-input-file -verify-diagnostics

// expected-error@below {{cannot have key_cache(encoded); expected key_cache(raw), since its products read 2 different key vectors, and a cache holds one}}
// expected-note@below {{one is the key itself}}
// expected-note@below {{one is made here}}
posenc.kernel @rerope heads(2) head_dim(8) keys(lengths) key_cache(encoded) mask(#posenc.causal) encode [#posenc.rerope<window = 4>]

// -----

// expected-error@below {{since its products read 2 different key vectors, and a cache holds one}}
posenc.kernel @two_products heads(2) head_dim(8) keys(lengths) key_cache(encoded) {
// expected-note@below {{one is the key itself}}
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{one is made here}}
  %n = posenc.vector_norm %k rms over(head) epsilon(1.0e-6) added : !posenc.key
  %s = posenc.dot %q, %k scale(0.5)
  %t = posenc.dot %q, %n scale(0.5)
  %u = posenc.add %s, %t
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{the key vector is not that of the key alone: its frequencies depend on the length of the call}}
// expected-note@below {{this takes part in it}}
posenc.kernel @dynamic_ntk heads(2) head_dim(8) keys(paged) key_cache(encoded)
  encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0, original_length = 16>>]

// -----

// expected-error@below {{the key vector is not that of the key alone: it depends on the query head, and query heads share their keys}}
posenc.kernel @heads heads(4) kv_heads(2) head_dim(8) keys(lengths) key_cache(encoded) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{this takes part in it}}
  %t = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %u = posenc.vadd %k, %t : !posenc.key, !posenc.table<head, channel>
  %s = posenc.dot %q, %u scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{the key vector is not that of the key alone: it depends on an operand with a number for each key or query of the call}}
posenc.kernel @key_axis heads(2) head_dim(8) keys(lengths) key_cache(encoded) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{this takes part in it}}
  %t = posenc.table law(#posenc.operand<"u">) : !posenc.table<batch, key>
  %u = posenc.row_scale %k(%t) : !posenc.key, !posenc.table<batch, key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %u scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-note@below {{the other kernel is here}}
posenc.kernel @taken heads(2) head_dim(8) keys(lengths)
// expected-error@below {{has the name 'taken_append_kv', which is that of the kernel that fills another one's cache; rename one of the two}}
posenc.kernel @taken_append_kv heads(2) head_dim(8)

// -----

// kernel_c14
// expected-error@below {{'posenc.kernel' op cannot have keys(ring); expected a mask over indices that bounds how far back a query sees, such as #posenc.window<left = 4095> or #posenc.chunk, since a ring holds the last keys only}}
posenc.kernel @no_window heads(2) head_dim(8) keys(ring) mask(#posenc.causal)

// -----

// kernel_c14
// expected-error@below {{cannot have keys(ring); expected a mask over indices that bounds how far back a query sees}}
posenc.kernel @top_left heads(2) head_dim(8) keys(ring) mask(#posenc.window<left = 8, align = top_left>)

// -----

// kernel_c14
// expected-error@below {{cannot have keys(ring); expected a mask over indices that bounds how far back a query sees}}
posenc.kernel @by_position heads(2) head_dim(8) keys(ring) mask(#posenc.window<left = 8, by = position>)

// -----

// kernel_c14
// expected-error@below {{cannot have keys(ring); expected no operand with a number for each key, since keys are forgotten, but it reads 'positions'}}
posenc.kernel @positions heads(2) head_dim(8) keys(ring) mask(#posenc.window<left = 8>)
  positions(#posenc.position_tensor) encode [#posenc.rope]

// -----

// kernel_c14
// expected-error@below {{expected no operand with a number for each key, since keys are forgotten, but it reads 'bias'}}
posenc.kernel @pairs heads(2) head_dim(8) keys(ring) mask(#posenc.window<left = 8>) encode [#posenc.dense_bias]

// -----

// kernel_c14
// expected-error@below {{cannot have keys(ring); expected no network that sees keys beyond those that a mask shows}}
// expected-note@below {{this one has 3 taps}}
posenc.kernel @network heads(2) head_dim(8) keys(ring) mask(#posenc.window<left = 8>) encode [#posenc.alibi, #posenc.dape<version = v2>]
