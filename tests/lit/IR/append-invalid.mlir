// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Caches and the kernels that fill them: one case for each message.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{expected 'key_cache' to be one of raw, encoded, but got 'rotated'}}
posenc.kernel @value heads(2) head_dim(8) keys(lengths) key_cache(rotated)

// -----

// kernel_c11
// expected-error@below {{'posenc.kernel' op expects keys(lengths), keys(paged) or keys(ring) beside 'key_cache', but got keys(dense)}}
posenc.kernel @dense heads(2) head_dim(8) key_cache(raw)

// -----

// kernel_c11
// expected-error@below {{'posenc.kernel' op expects keys(lengths), keys(paged) or keys(ring) beside 'key_cache', but got keys(packed)}}
posenc.kernel @packed heads(2) head_dim(8) keys(packed) key_cache(encoded)

// -----

// kernel_c11
// expected-error@below {{'posenc.kernel' op expects keys(lengths), keys(paged) or keys(ring), since its body yields a key of a cache, but got keys(dense)}}
posenc.kernel @no_cache heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  posenc.yield %k : !posenc.key
}

// -----

// kernel_c11
// expected-error@below {{'posenc.kernel' op expects no 'key_cache' clause, since its body says what is written to the cache}}
posenc.kernel @both heads(2) head_dim(8) keys(lengths) key_cache(raw) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  posenc.yield %k : !posenc.key
}

// -----

// kernel_c12
posenc.kernel @iota heads(2) head_dim(8) keys(lengths) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.position' op expects #posenc.appended where keys are appended to a cache, but got #posenc.iota}}
  %j = posenc.position key law(#posenc.iota)
  posenc.yield %k : !posenc.key
}

// -----

// kernel_c12
posenc.kernel @query_side heads(2) head_dim(8) keys(lengths) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.position' op expects #posenc.appended to be a law of keys in a body that yields a key}}
  %j = posenc.position query law(#posenc.appended)
  posenc.yield %k : !posenc.key
}

// -----

// kernel_c12
posenc.kernel @attention heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.position' op expects #posenc.appended to be a law of keys in a body that yields a key}}
  %j = posenc.position key law(#posenc.appended)
  %s = posenc.dot %q, %k scale(1.0)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c12
posenc.kernel @key_axis heads(2) head_dim(8) keys(lengths) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects no query or key axis where keys are appended to a cache, but got '!posenc.table<batch, key>'}}
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<batch, key>
  posenc.yield %k : !posenc.key
}

// -----

// kernel_c12
// expected-error@below {{'posenc.kernel' op expects 'positions' to be counted or those of an operand, but got #posenc.appended, the law of keys that are appended to a cache}}
posenc.kernel @clause heads(2) head_dim(8) keys(lengths) positions(#posenc.appended)

// -----

// kernel_c12
// expected-error@below {{'posenc.embed' op expects 'positions' to be counted or those of an operand, but got #posenc.appended, the law of keys that are appended to a cache}}
posenc.embed @embed dim(8) positions(#posenc.appended)

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects no operand to be named 'k_cache', which the kernel itself uses}}
posenc.kernel @name heads(2) head_dim(8) keys(lengths) encode [#posenc.dense_bias<name = "k_cache">]

// -----

// appended_c1
// expected-error@below {{expected 'offset' to be between -2^30 and 2^30, but got 1073741825}}
#law = #posenc.appended<offset = 1073741825>

// -----

// plan_c5
// expected-error@below {{'posenc.plan' op expects no posenc.prologue, posenc.step and posenc.epilogue, since it is an 'append' plan}}
posenc.plan @steps kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([16]) keys(64) append {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
}

// -----

// keys_c1
posenc.plan @keys kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([16]) keys(64) append {
  // expected-error@below {{'posenc.keys' op expects its body to yield one key in an 'append' plan, but got 2}}
  posenc.keys {
  ^bb0(%k: !posenc.key):
    posenc.yield %k, %k : !posenc.key, !posenc.key
  }
}

// -----

// kernel_c11
// expected-error@below {{'posenc.kernel' op expects no 'blocks' clause, since its body yields a key of a cache and has no scores}}
posenc.kernel @lists heads(2) head_dim(8) keys(ring) blocks(#posenc.block_list<queries = 4, keys = 4>) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  posenc.yield %k : !posenc.key
}
