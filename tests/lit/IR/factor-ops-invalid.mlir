// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case for each numbered constraint of prepared factors; tile_vector_c2 is
// checked by posenc-verify-plan and tested with it.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// tile_factors_c1
posenc.plan @tile_factors_c1_side kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(3)
    %p = posenc.position key law(#posenc.iota)
    %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
    ^bb0(%n: f64, %x: f64):
      %y = arith.mulf %n, %x : f64
      %z = math.cos %y : f64
      posenc.yield %z : f64
    }
    // expected-error@below {{'posenc.tile.factors' op expects a bias without inputs of the key side, but its input #1 is one}}
    %f = posenc.tile.factors %b : !posenc.table<query, channel>
    posenc.yield %f : !posenc.table<query, channel>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0) channels([0, 0, 3])
    %t = posenc.tile.to_base2 %s
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// tile_factors_c1
posenc.plan @tile_factors_c1_bias kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(3)
    %p = posenc.position query law(#posenc.iota)
    %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
    ^bb0(%n: f64, %x: f64):
      %y = arith.mulf %n, %x : f64
      %z = math.cos %y : f64
      posenc.yield %z : f64
    }
    %b2 = posenc.add %b, %b
    // expected-error@below {{'posenc.tile.factors' op expects a posenc.bias}}
    %f = posenc.tile.factors %b2 : !posenc.table<query, channel>
    posenc.yield %f : !posenc.table<query, channel>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0) channels([0, 0, 3])
    %t = posenc.tile.to_base2 %s
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// tile_factors_c2
posenc.plan @tile_factors_c2_order kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(3)
    %p = posenc.position query law(#posenc.iota)
    %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
    ^bb0(%n: f64, %x: f64):
      %y = arith.mulf %n, %x : f64
      %z = math.cos %y : f64
      posenc.yield %z : f64
    }
    // expected-error@below {{'posenc.tile.factors' op expects a table over batch and head where it differs by them, then query or key, then channel, but got '!posenc.table<channel, query>'}}
    %f = posenc.tile.factors %b : !posenc.table<channel, query>
    posenc.yield %f : !posenc.table<channel, query>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0) channels([0, 0, 3])
    %t = posenc.tile.to_base2 %s
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// tile_factors_c2
posenc.plan @tile_factors_c2_axes kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(3)
    %p = posenc.position query law(#posenc.iota)
    %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
    ^bb0(%n: f64, %x: f64):
      %y = arith.mulf %n, %x : f64
      %z = math.cos %y : f64
      posenc.yield %z : f64
    }
    // expected-error@below {{expects a table over batch and head}}
    %f = posenc.tile.factors %b : !posenc.table<query, key, channel>
    posenc.yield %f : !posenc.table<query, key, channel>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0) channels([0, 0, 3])
    %t = posenc.tile.to_base2 %s
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// tile_vector_c1
posenc.plan @tile_vector_c1_side kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(3)
    %p = posenc.position key law(#posenc.iota)
    %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
    ^bb0(%n: f64, %x: f64):
      %y = arith.mulf %n, %x : f64
      %z = math.cos %y : f64
      posenc.yield %z : f64
    }
    %f = posenc.tile.factors %b : !posenc.table<key, channel>
    posenc.yield %f : !posenc.table<key, channel>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %t = posenc.tile.load_table @rows0 : !posenc.table<key, channel>
    // expected-error@below {{'posenc.tile.vector' op expects tables over query and channel, and batch or head, but got '!posenc.table<key, channel>'}}
    %v = posenc.tile.vector(%t) : !posenc.table<key, channel> -> !posenc.query
    posenc.yield %v : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0) channels([0, 0, 3])
    %t = posenc.tile.to_base2 %s
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
