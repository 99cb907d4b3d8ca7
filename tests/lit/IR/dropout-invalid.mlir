// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout of weights and types of embeddings: one case for each message.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// kernel_c16
// expected-error@below {{'posenc.kernel' op expects 'dropout' to be at least 0 and below 1, but got 1}}
posenc.kernel @one heads(2) head_dim(8) dropout(1.0)

// -----

// kernel_c16
// expected-error@below {{'posenc.kernel' op expects 'dropout' to be at least 0 and below 1, but got -1.000000e-01}}
posenc.kernel @negative heads(2) head_dim(8) dropout(-0.1)

// -----

// kernel_c16
// expected-error@below {{'posenc.kernel' op expects 'dropout' to be at least 0 and below 1, but got nan}}
posenc.kernel @nan heads(2) head_dim(8) dropout(0x7FF8000000000000)

// -----

// expected-error@below {{'posenc.kernel' op expects no 'dropout' clause beside a body: the body says what is computed}}
posenc.kernel @body heads(2) head_dim(8) dropout(0.5) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @drop_weights_c1 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  // expected-error@below {{'posenc.drop_weights' op expects 'probability' to be at least 0 and below 1, but got 1}}
  %d = posenc.drop_weights %p probability(1.0)
  %o = posenc.weighted_sum %d, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @drop_weights_c2 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %d = posenc.drop_weights %p probability(0.1)
  // expected-error@below {{'posenc.drop_weights' op expects weights of a posenc.normalize, of which nothing has been dropped}}
  %e = posenc.drop_weights %d probability(0.1)
  %o = posenc.weighted_sum %e, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @remainder_c1 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize exp %s
  %d = posenc.drop_weights %p probability(0.1)
  %o1 = posenc.weighted_sum %d, %v
  // expected-error@below {{'posenc.remainder' op expects weights of a posenc.normalize: what a row leaves over does not depend on what is dropped}}
  %o2 = posenc.remainder %d, %v
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
}

// -----

posenc.plan @tile_normalize_c1 kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    // expected-error@below {{'posenc.tile.normalize' op expects 'dropout' to be above 0 and below 1, but got 0}}
    %o = posenc.tile.normalize softmax %state dropout(0.0)
    posenc.yield %o : !posenc.output
  }
}

// -----

// embed_c2
// expected-error@below {{'posenc.embed' op expects 'dtype' to be f32 or f64, but got 'bf16'}}
posenc.embed @embed dim(8) dtype(bf16)

// -----

// embed_c2
// expected-error@below {{'posenc.embed' op expects 'table_dtype' to be f32, bf16, f16 or f64, but got 'i8'}}
posenc.embed @embed_tables dim(8) table_dtype(i8)

// -----

// expected-error@below {{'posenc.embed' op expects no 'table_dtype' clause beside a body: the body says what is computed}}
posenc.embed @embed_body dim(8) table_dtype(bf16) {
^bb0(%x: !posenc.tokens):
  posenc.yield %x : !posenc.tokens
}
