// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case for each numbered constraint and each message of level 3's verifiers.
// What a part may hold is checked by posenc-verify-plan and tested with it.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// plan_c1
// expected-error@below {{'posenc.plan' op expects 'heads' to be between 1 and 65536, but got 0}}
posenc.plan @plan_c1_heads kernel(@k) isa("x86-64") heads(0) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c1: nothing divides by it
// expected-error@below {{'posenc.plan' op expects 'heads' to be between 1 and 65536, but got 0}}
posenc.plan @plan_c1_heads_zero_with_table kernel(@k) isa("x86-64") heads(0) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prepare @strip0 strip {
    %t = posenc.table law(#posenc.constants<[1.0]>) : !posenc.table<head>
    %b = posenc.bias(%t) : !posenc.table<head> {
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

// plan_c1
// expected-error@below {{'posenc.plan' op expects 'kv_heads' to be a positive divisor of 'heads' (2), but got 3}}
posenc.plan @plan_c1_kv_heads kernel(@k) isa("x86-64") heads(2) kv_heads(3) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c1
// expected-error@below {{'posenc.plan' op expects 'head_dim' to be even and between 2 and 256, but got 9}}
posenc.plan @plan_c1_head_dim kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(9) value_dim(8) rows([4, 2]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c1
// expected-error@below {{'posenc.plan' op expects 'value_dim' to be between 1 and 256, but got 0}}
posenc.plan @plan_c1_value_dim kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(0) rows([4, 2]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c2
// expected-error@below {{'posenc.plan' op expects at least one entry in 'rows'}}
posenc.plan @plan_c2_no_rows kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c2
// expected-error@below {{'posenc.plan' op expects 'rows' to be positive and to decrease, but got array<i64: 2, 4>}}
posenc.plan @plan_c2_rows_rise kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([2, 4]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c2
// expected-error@below {{'posenc.plan' op expects 'rows' to be positive and to decrease, but got array<i64: 4, 0>}}
posenc.plan @plan_c2_rows_zero kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 0]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c2
// expected-error@below {{'posenc.plan' op expects 'keys' to be positive, but got 0}}
posenc.plan @plan_c2_keys kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(0) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c2
// expected-error@below {{'posenc.plan' op expects 'isa' to name an instruction set, but it is empty}}
posenc.plan @plan_c2_isa kernel(@k) isa("") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c3
// expected-error@below {{'posenc.plan' op expects a posenc.prologue, a posenc.step and a posenc.epilogue}}
posenc.plan @plan_c3_missing kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c3
// expected-error@below {{'posenc.plan' op expects a posenc.prologue, a posenc.step and a posenc.epilogue}}
posenc.plan @plan_c3_empty kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
}

// -----

// plan_c3
posenc.plan @plan_c3_order kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  // expected-error@below {{'posenc.keys' op is out of place: expected posenc.prepare ..., at most one posenc.keys, one posenc.prologue, posenc.step ... and one posenc.epilogue, or one posenc.chunk, in this order}}
  posenc.keys {
  ^bb0(%k: !posenc.key):
    posenc.yield %k : !posenc.key
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c3
posenc.plan @plan_c3_twice kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  // expected-error@below {{'posenc.prologue' op is out of place: expected posenc.prepare ..., at most one posenc.keys, one posenc.prologue, posenc.step ... and one posenc.epilogue, or one posenc.chunk, in this order}}
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// plan_c3
posenc.plan @plan_c3_foreign kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
  // expected-error@below {{'arith.constant' op cannot stand in a posenc.plan; expected posenc.prepare, keys, prologue, step, epilogue or chunk}}
  %c = arith.constant 1.0 : f64
}

// -----

// prepare_c1
posenc.plan @prepare_c1_angles kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.prepare' op expects its body to have the arguments ('!posenc.key'), but got ()}}
  posenc.prepare @angles0 angles {
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
    posenc.yield %p, %f : !posenc.coord, !posenc.freqs
  }
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// prepare_c1
posenc.plan @prepare_c1_angles_yield kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.prepare' op expects its body to yield ('!posenc.key'), but got ('!posenc.coord')}}
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    posenc.yield %p : !posenc.coord
  }
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// prepare_c1
posenc.plan @prepare_c1_strip kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.prepare' op expects its body to yield ('!posenc.score'), but got ()}}
  posenc.prepare @strip0 strip {
    posenc.yield
  }
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// prepare_c1
posenc.plan @prepare_c1_arguments kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.prepare' op expects its body to have the arguments (), but got ('!posenc.score')}}
  posenc.prepare @strip0 strip {
  ^bb0(%s: !posenc.score):
    posenc.yield %s : !posenc.score
  }
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// keys_c1
posenc.plan @keys_c1 kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.keys' op expects its body to have the arguments ('!posenc.key'), but got ('!posenc.query')}}
  posenc.keys {
  ^bb0(%k: !posenc.query):
    posenc.yield %k : !posenc.query
  }
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// prologue_c1
posenc.plan @prologue_c1 kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.prologue' op expects its body to yield ('!posenc.query'), but got ()}}
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield
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

// step_c1
posenc.plan @step_c1 kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects its body to yield ('!posenc.score'), but got ('!posenc.query')}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %q : !posenc.query
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// epilogue_c1
posenc.plan @epilogue_c1 kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  // expected-error@below {{'posenc.epilogue' op expects its body to yield ('!posenc.output'), but got ('!posenc.state')}}
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    posenc.yield %state : !posenc.state
  }
}

// -----

// A part ends with posenc.yield.
posenc.plan @part_terminator kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.prologue' op expects its body to end with posenc.yield}}
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    llvm.unreachable
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

// tile_rotate_c1
posenc.plan @tile_rotate_c1_odd kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects 'dims' to be even and positive, but got 3}}
    %0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(3) : !posenc.query
    posenc.yield %0 : !posenc.query
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

// tile_rotate_c1
posenc.plan @tile_rotate_c1_zero kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects 'dims' to be even and positive, but got 0}}
    %0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(0) : !posenc.query
    posenc.yield %0 : !posenc.query
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

// tile_rotate_c1
posenc.plan @tile_rotate_c1_outside kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects the rotated channels [2, 2 + 8) to lie within the plan's 'head_dim' (8)}}
    %0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(2) dims(8) : !posenc.query
    posenc.yield %0 : !posenc.query
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

// tile_rotate_c1
posenc.plan @tile_rotate_c1_negative kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects the rotated channels [-2, -2 + 8) to lie within the plan's 'head_dim' (8)}}
    %0 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(-2) dims(8) : !posenc.query
    posenc.yield %0 : !posenc.query
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

// tile_scale_c1
posenc.plan @tile_scale_c1 kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.scale' op expects 'factor' to be finite, but got nan}}
    %0 = posenc.tile.scale %q by(0x7FF8000000000000)
    posenc.yield %0 : !posenc.query
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

// A part stands in a plan only.
// expected-error@below {{'posenc.keys' op expects parent op 'posenc.plan'}}
posenc.keys {
^bb0(%k: !posenc.key):
  posenc.yield %k : !posenc.key
}

// -----

// Two parts of one name.
posenc.plan @same_name kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-note@below {{see existing symbol definition here}}
  posenc.prepare @all angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %r : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  // expected-error@below {{redefinition of symbol named 'all'}}
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

// expected-error@below {{'posenc.plan' op expects 'from' to be a map over (q_begin, q_end, lq, lk) without symbols and with results, but it has 2 dimensions, 0 symbols and 1 results}}
posenc.plan @from kernel(@k) isa("x86-64") heads(2) kv_heads(1) head_dim(8) value_dim(8) rows([4, 2]) keys(8)
    from(affine_map<(lq, lk) -> (lk)>) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{'posenc.plan' op expects 'packed' to be positive, but got 0}}
posenc.plan @packed_zero kernel(@k) isa("x86-64") heads(8) kv_heads(2) head_dim(8) value_dim(8) rows([4, 2]) keys(8) packed(0) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{'posenc.plan' op expects no 'descending' beside 'packed'}}
posenc.plan @packed_descending kernel(@k) isa("x86-64") heads(8) kv_heads(2) head_dim(8) value_dim(8) rows([4, 2]) keys(8) descending packed(16) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{'posenc.plan' op expects no 'append' beside 'packed'}}
posenc.plan @packed_append kernel(@k) isa("x86-64") heads(8) kv_heads(2) head_dim(8) value_dim(8) rows([4, 2]) keys(8) append packed(16) {
}

// -----

// expected-error@below {{'posenc.plan' op expects no 'blocks' beside 'packed'}}
posenc.plan @packed_blocks kernel(@k) isa("x86-64") heads(8) kv_heads(2) head_dim(8) value_dim(8) rows([4, 2]) keys(8) blocks(#posenc.block_list<queries = 4, keys = 8>) packed(16) {
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @kept kernel(@k) isa("x86-64") heads(8) kv_heads(2) head_dim(8) value_dim(8) rows([4, 2]) keys(8) {
  // expected-error@below {{'posenc.keys' op expects no 'on_load': tiles of a plan that is not 'packed' read keys more than once}}
  posenc.keys on_load {
  ^bb0(%k: !posenc.key):
    posenc.yield %k : !posenc.key
  }
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
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
