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
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
// expected-error @below {{has no CPU generator for the instruction set 'sparc'; expected one of: x86-64}}
posenc.plan @k_a kernel(@k) isa("sparc") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
    %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<query, key>
    %b = posenc.bias(%t) : !posenc.table<query, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %u = posenc.add %s, %b
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
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
    %a = posenc.select %s mask(#posenc.causal)
    // expected-error @below {{expects one alignment in all steps, but has top_left beside bottom_right}}
    %b = posenc.select %a mask(#posenc.causal<top_left>)
    posenc.yield %b : !posenc.score
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
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
    posenc.yield %p, %f : !posenc.coord, !posenc.freqs
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 200.0, dims = 8>)
    posenc.yield %p, %f : !posenc.coord, !posenc.freqs
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  // expected-error @below {{expects angles to yield a posenc.position of the key side and posenc.freqs}}
  posenc.prepare @angles0 angles {
    %p = posenc.position query law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
    posenc.yield %p, %f : !posenc.coord, !posenc.freqs
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %i = posenc.position query law(#posenc.iota)
    // expected-error @below {{expects the positions of a strip's side to have one affine law, but got #posenc.iota<offset = 1>}}
    %i1 = posenc.position query law(#posenc.iota<offset = 1>)
    %b = posenc.bias() {
      %c = arith.constant 1.0 : f64
      posenc.yield %c : f64
    }
    posenc.yield %b : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %i = posenc.position query law(#posenc.iota)
    // expected-error @below {{expects no position among the inputs of a strip's term, since it depends on distances only}}
    %b = posenc.bias(%i) : !posenc.coord {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    posenc.yield %b : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
  %s0 = posenc.dot %q, %k scale(0.5)
  %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<key>
  %b = posenc.bias(%t) : !posenc.table<key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %s0, %b
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    // expected-error @below {{expects the tables of a strip to have row and head axes only, but got '!posenc.table<key>'}}
    %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<key>
    %b = posenc.bias(%t) : !posenc.table<key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    posenc.yield %b : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
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
  %s0 = posenc.dot %q, %k scale(0.5)
  %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head>
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %s0, %b
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
posenc.plan @k_a kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  // expected-error @below {{expects a strip not to count both the heads of the kernel and those of the call}}
  posenc.prepare @strip0 strip {
    %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head>
    %c = posenc.table law(#posenc.constants<[1.0, 2.0]>) : !posenc.table<head>
    %b = posenc.bias(%t, %c) : !posenc.table<head>, !posenc.table<head> {
    ^bb0(%x: f64, %y: f64):
      %z = arith.mulf %x, %y : f64
      posenc.yield %z : f64
    }
    posenc.yield %b : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(0.5)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
