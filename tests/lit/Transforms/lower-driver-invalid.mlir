// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: posenc-opt %s -posenc-lower-driver -split-input-file -verify-diagnostics

// expected-error @below {{expects one posenc.kernel in the module, but has 0}}
module {
}

// -----

// expected-error @below {{expects one posenc.kernel in the module, but has 2}}
module {
  posenc.kernel @a heads(2) head_dim(8)
  posenc.kernel @b heads(2) head_dim(8)
}

// -----

// expected-error @below {{expects a body: run posenc-expand-encodings}}
posenc.kernel @k heads(2) head_dim(8)

// -----

// expected-error @below {{has no posenc.plan: run posenc-plan}}
posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// expected-error @below {{expects to be a plan of @k, but is one of @other}}
posenc.plan @k_a kernel(@other) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// expected-error @below {{expects 'heads' to be 2 as in its kernel, but got 4}}
posenc.plan @k_a kernel(@k) isa("x86-64") heads(4) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// expected-error @below {{has no CPU generator for the instruction set 'sparc'; expected one of: x86-64-avx512-bf16, x86-64-avx512, x86-64-avx2, x86-64, aarch64}}
posenc.plan @k_a kernel(@k) isa("sparc") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// expected-error @below {{reads operand 'bias', which its kernel does not have}}
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<query, key>
    %b = posenc.bias(%t) : !posenc.table<query, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %b2 = posenc.tile.to_base2 %b
    %u = posenc.add %s, %b2
    posenc.yield %u : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// expected-note @below {{this plan has others}}
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
    %0 = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
// expected-error @below {{expects the same posenc.prepare operations in all plans of a kernel}}
posenc.plan @k_b kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 200.0, dims = 8>)
    %0 = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// What posenc-verify-plan refuses is refused here too.
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error @below {{'posenc.vector_norm' op cannot stand in posenc.step}}
    %n = posenc.vector_norm %q l2 over(head) epsilon(0.0) added : !posenc.query
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// A query cannot take two rows.
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([8]) keys(256) {
  // expected-error @below {{expects the positions of a table that queries share with keys to have one alignment, since a query takes one row of it}}
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %i = posenc.position key law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota<align = top_left>)
    %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
    %0 = posenc.rotate %k by(%i, %j) freqs(%f, %f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.query
    %q1 = posenc.tile.scale %q0 by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @k_many kernel(@k) isa("x86-64-avx2") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([24]) keys(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
// expected-error @below {{expects a plan for 'x86-64' that is not 'packed' beside it, for calls with more queries}}
posenc.plan @k_few kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([4]) keys(16) packed(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @k_many kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([8]) keys(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
posenc.plan @k_few kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([4]) keys(16) packed(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
// expected-error @below {{is the second 'packed' plan for 'x86-64'; expected one}}
posenc.plan @k_fewer kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([4]) keys(16) packed(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @k_many kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([8]) keys(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
// expected-error @below {{has rows of 3; expected a multiple of 4 up to 256 or a lesser power of 2 on x86-64}}
posenc.plan @k_few kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([3]) keys(16) packed(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error @below {{expects keys(state), since its output is a posenc.recurrence}}
posenc.kernel @k heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %o = posenc.recurrence (%q), (%k), %v scales([1.0])
  posenc.yield %o : !posenc.output
}
posenc.plan @k_plan kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([64, 4]) keys(64) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.chunk {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %o = posenc.tile.recurrence (%q), (%k)
    posenc.yield %o : !posenc.output
  }
}
