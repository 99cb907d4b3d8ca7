// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breaches of the contract between plans and generators, one for each rule.
// RUN: posenc-opt %s --posenc-verify-plan -split-input-file -verify-diagnostics

posenc.plan @angles_list kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    // expected-error@below {{'posenc.vector_map' op cannot stand in posenc.prepare; expected one of: posenc.position, remap, freqs, freqs_map, table, rotate}}
    %m = posenc.vector_map %k : !posenc.key {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    posenc.yield %m : !posenc.key
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

posenc.plan @strip_list kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %b = posenc.bias() {
      %x = arith.constant 1.0 : f64
      posenc.yield %x : f64
    }
    // expected-error@below {{'posenc.add' op cannot stand in posenc.prepare; expected one of: posenc.position, relation, relation_map, sum_index, table, table_map, bias, tile.to_base2}}
    %c = posenc.add %b, %b
    posenc.yield %c : !posenc.score
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

posenc.plan @keys_list kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %r : !posenc.key
  }
  posenc.keys {
  ^bb0(%k: !posenc.key):
    %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<key>
    // expected-error@below {{'posenc.at_query' op cannot stand in posenc.keys; expected one of: posenc.tile.rotate, vadd, channel_scale, row_scale, vector_norm, vector_map, position, remap, table, table_map, tile.load_table}}
    %a = posenc.at_query %t bottom_right : !posenc.table<key> -> !posenc.table<query>
    posenc.yield %k : !posenc.key
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

posenc.plan @prologue_list kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    // expected-error@below {{'posenc.relation' op cannot stand in posenc.prologue; expected one of: posenc.tile.rotate, tile.scale, vadd, channel_scale, row_scale, vector_norm, vector_map, position, remap, table, table_map, at_query, tile.load_table}}
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
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

posenc.plan @step_list kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    // expected-error@below {{'posenc.freqs' op cannot stand in posenc.step; expected one of: posenc.dot, table_dot, add, bias, map, head_mlp, select, rowscan, position, remap, relation, relation_map, sum_index, table, table_map, project, at_query, tile.load_table, tile.load_strip, tile.to_base2}}
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
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

posenc.plan @epilogue_list kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
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
    // expected-error@below {{'posenc.position' op cannot stand in posenc.epilogue; expected one of: posenc.tile.normalize, tile.remainder, table}}
    %p = posenc.position query law(#posenc.iota)
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @angles_of_queries kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  // expected-error@below {{'posenc.prepare' op expects angles to be those of a posenc.rotate of the keys, or of queries with positions of their own}}
  posenc.prepare @angles0 angles {
  ^bb0(%q: !posenc.query):
    %p = posenc.position query law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
    %r = posenc.rotate %q by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.query
    posenc.yield %r : !posenc.query
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

posenc.plan @angles_of_channels kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
    // expected-error@below {{'posenc.rotate' op expects pairing(half) first_dim(0) in a table of angles, whatever channels it turns}}
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(4) : !posenc.key
    posenc.yield %r : !posenc.key
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

posenc.plan @strip_is_toeplitz kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %j = posenc.position key law(#posenc.iota)
    // expected-error@below {{'posenc.bias' op expects to be a function of head and distance in a strip: of relations between positions of one affine law and tables over row and head}}
    %b = posenc.bias(%j) : !posenc.coord {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    posenc.yield %b : !posenc.score
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

posenc.plan @strip_of_two_kinds_of_heads kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
    %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
    // expected-error@below {{'posenc.bias' op expects not to read both constants and an operand with a head axis in a strip, since the heads of a call may be a part of the kernel's}}
    %b = posenc.bias(%m, %t) : !posenc.table<head>, !posenc.table<head> {
    ^bb0(%x: f64, %y: f64):
      %z = arith.mulf %x, %y : f64
      posenc.yield %z : f64
    }
    posenc.yield %b : !posenc.score
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

posenc.plan @rotate_by_nothing kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects @angles0 to be a posenc.prepare of its plan}}
    %q1 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(4) : !posenc.query
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

posenc.plan @rotate_by_a_strip kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  // expected-note@below {{the table is here}}
  posenc.prepare @strip0 strip {
    %b = posenc.bias() {
      %x = arith.constant 1.0 : f64
      posenc.yield %x : f64
    }
    posenc.yield %b : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects @strip0 to be a table of kind angles, but it is one of strip}}
    %q1 = posenc.tile.rotate %q by @strip0 pairing(half) first_dim(0) dims(4) : !posenc.query
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

posenc.plan @rotated_dims kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %r : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    // expected-error@below {{'posenc.tile.rotate' op expects 'dims' to be 4, two for each frequency of @angles0, but got 6}}
    %q1 = posenc.tile.rotate %q by @angles0 pairing(half) first_dim(0) dims(6) : !posenc.query
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

posenc.plan @load_nothing kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    // expected-error@below {{'posenc.tile.load_strip' op expects @edge to be a posenc.prepare of its plan}}
    %s = posenc.tile.load_strip @edge
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @load_angles kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  // expected-note@below {{the table is here}}
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %r : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    // expected-error@below {{'posenc.tile.load_strip' op expects @angles0 to be a table of kind strip, but it is one of angles}}
    %s = posenc.tile.load_strip @angles0
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @until_dims kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects 'until' to be a map over (q_begin, q_end, lq, lk) without symbols and with results, but it has 2 dimensions, 0 symbols and 1 results}}
  posenc.step @all until(affine_map<(lq, lk) -> (lk)>) {
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

posenc.plan @until_symbols kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects 'until' to be a map over (q_begin, q_end, lq, lk) without symbols and with results, but it has 4 dimensions, 1 symbols and 1 results}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk)[s] -> (lk + s)>) {
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

posenc.plan @until_results kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects 'until' to be a map over (q_begin, q_end, lq, lk) without symbols and with results, but it has 4 dimensions, 0 symbols and 0 results}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> ()>) {
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

posenc.plan @last_step_of_whole_blocks kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects no 'whole_blocks' on the last step, which takes all keys that are left}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) whole_blocks {
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

posenc.plan @step_without_mask kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects 'until' to have the results of affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 + 1, d3)> or lesser ones, since the step does not apply #posenc.causal of the last step}}
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %u = posenc.select %s mask(#posenc.causal)
    posenc.yield %u : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @end_of_mask kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects the last 'until' to end where the masks of the step end, affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2, d3)>, but got affine_map<(d0, d1, d2, d3) -> (d3)>}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %u = posenc.select %s mask(#posenc.causal)
    posenc.yield %u : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @end_of_keys kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects the last 'until' to end where the masks of the step end, affine_map<(d0, d1, d2, d3) -> (d3)>, but got affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2, d3)>}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
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

posenc.plan @queries_in_base2_twice kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q0 = posenc.tile.scale %q by(0.5) base2
    // expected-error@below {{'posenc.tile.scale' op expects queries that do not hold log2(e) yet}}
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

posenc.plan @score_in_base2_twice kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error@below {{'posenc.tile.to_base2' op expects a natural score, but its input is in base 2}}
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

posenc.plan @strip_in_base2_twice kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %b = posenc.bias() {
      %x = arith.constant 1.0 : f64
      posenc.yield %x : f64
    }
    %b2 = posenc.tile.to_base2 %b
    // expected-error@below {{'posenc.tile.to_base2' op expects a natural score, but its input is in base 2}}
    %b3 = posenc.tile.to_base2 %b2
    posenc.yield %b3 : !posenc.score
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

posenc.plan @sum_of_two_bases kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @strip0 strip {
    %b = posenc.bias() {
      %x = arith.constant 1.0 : f64
      posenc.yield %x : f64
    }
    posenc.yield %b : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %b = posenc.tile.load_strip @strip0
    // expected-error@below {{'posenc.add' op expects scores of one base, but its operands are in base 2 and natural}}
    %t = posenc.add %s, %b
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @map_in_base2 kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error@below {{'posenc.map' op expects a natural score, but its input is in base 2}}
    %m = posenc.map %s() {
    ^bb0(%x: f64):
      %y = math.tanh %x : f64
      posenc.yield %y : f64
    }
    posenc.yield %m : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @natural_score kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5)
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %u = posenc.select %s mask(#posenc.causal)
    // expected-error@below {{'posenc.yield' op expects the score of a step to be in base 2, but it is natural}}
    posenc.yield %u : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @vector_after_base2 kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    // expected-error@below {{'posenc.vector_norm' op expects vectors that do not hold log2(e)}}
    %q2 = posenc.vector_norm %q1 rms over(head) epsilon(1.0e-6) added : !posenc.query
    posenc.yield %q2 : !posenc.query
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

posenc.plan @natural_kind kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error@below {{'posenc.yield' op expects the score of a step to be natural, but it is in base 2}}
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize identity %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @network_of_two_steps kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %w1 = posenc.table law(#posenc.operand<"w1", rows = 2, channels = 3>) : !posenc.table<row, channel>
    %b1 = posenc.table law(#posenc.operand<"b1", channels = 3>) : !posenc.table<channel>
    %w2 = posenc.table law(#posenc.operand<"w2", rows = 3>) : !posenc.table<row, head>
    %b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
    // expected-error@below {{'posenc.head_mlp' op expects a plan that is not 'descending' and has one step}}
    %m = posenc.head_mlp(%s) weights(%w1, %b1, %w2, %b2) taps(1) {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %t = posenc.tile.to_base2 %m
    posenc.yield %t : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
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

posenc.plan @network_in_base_2 kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %w1 = posenc.table law(#posenc.operand<"w1", rows = 2, channels = 3>) : !posenc.table<row, channel>
    %b1 = posenc.table law(#posenc.operand<"b1", channels = 3>) : !posenc.table<channel>
    %w2 = posenc.table law(#posenc.operand<"w2", rows = 3>) : !posenc.table<row, head>
    %b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
    // expected-error@below {{'posenc.head_mlp' op expects a natural score, but its input is in base 2}}
    %m = posenc.head_mlp(%s) weights(%w1, %b1, %w2, %b2) taps(1) {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    posenc.yield %m : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @scan_of_ascending_plan kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error@below {{'posenc.rowscan' op expects a plan that is 'descending' and has one step}}
    %n = posenc.rowscan %s inclusive {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %t = posenc.tile.to_base2 %n
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @scan_in_base2 kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) descending {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error@below {{'posenc.rowscan' op expects a natural score, but its input is in base 2}}
    %n = posenc.rowscan %s inclusive {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %t = posenc.tile.to_base2 %n
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @index_in_base2 kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %a = posenc.table law(#posenc.operand<"a", rows = 4, channels = 8>) : !posenc.table<row, channel>
    // expected-error@below {{'posenc.table_dot' op expects a natural index, but it is in base 2}}
    %t = posenc.table_dot %q, %a at(%s) scale(1.0) : !posenc.query, !posenc.table<row, channel>, !posenc.score
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @branches_of_two_bases kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %b = posenc.bias() {
      %x = arith.constant 1.0 : f64
      posenc.yield %x : f64
    }
    // expected-error@below {{'posenc.select' op expects scores of one base, but its operands are in base 2 and natural}}
    %t = posenc.select %s else(%b) mask(#posenc.causal)
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @unbounded_rows kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  // expected-error@below {{'posenc.prepare' op expects a relation exactly if the rows of its table have no bounds}}
  posenc.prepare @rows0 rows {
    %t = posenc.table_map channels(8) {
    ^bb0(%r: f64, %c: f64):
      posenc.yield %r : f64
    }
    posenc.yield %t : !posenc.table<row, channel>
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

posenc.plan @rows_of_given_positions kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %t = posenc.table_map channels(8) {
    ^bb0(%r: f64, %c: f64):
      posenc.yield %r : f64
    }
    %i = posenc.position query law(#posenc.position_tensor)
    %j = posenc.position key law(#posenc.position_tensor)
    // expected-error@below {{'posenc.relation' op expects positions of #posenc.iota in a table of rows}}
    %d = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    posenc.yield %t, %d : !posenc.table<row, channel>, !posenc.relation
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

posenc.plan @type_of_rows kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %g = posenc.table law(#posenc.operand<"g">) : !posenc.table<head, key>
    %t = posenc.prefix_sum %g : !posenc.table<head, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    posenc.yield %t : !posenc.table<head, key>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    // expected-error@below {{'posenc.tile.load_table' op expects the type of @rows0, '!posenc.table<head, key>', but got '!posenc.table<key>'}}
    %t = posenc.tile.load_table @rows0 : !posenc.table<key>
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @two_normalizations kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
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
  // expected-error@below {{'posenc.epilogue' op expects one posenc.tile.normalize}}
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %x = posenc.tile.normalize softmax %state
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// expected-error@below {{'posenc.plan' op expects 'from' to have only results that come from masks of the last step, affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 - 3)>, but got affine_map<(d0, d1, d2, d3) -> (d0)>}}
posenc.plan @from_of_no_mask kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) from(affine_map<(q_begin, q_end, lq, lk) -> (q_begin)>) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.select %s mask(#posenc.window<left = 3>)
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @maximum_at_the_end kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects no 'maximum' on the last step, which ends where the first mask ends}}
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) maximum {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.select %s mask(#posenc.window<left = 3>)
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @interior_from_the_first_key kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects a step before it with 'maximum' and the results of affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2 - 4)>, since the step does not apply #posenc.window<left = 3> of the last step}}
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq + 1, lk)>) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.select %s mask(#posenc.window<left = 3>)
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @interior_without_minimum kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @entry until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq - 4)>) maximum {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.select %s mask(#posenc.window<left = 3>)
    posenc.yield %t : !posenc.score
  }
  // expected-error@below {{'posenc.step' op expects only the first step to have 'maximum'}}
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq + 1, lk)>) maximum {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.select %s mask(#posenc.window<left = 3>)
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @entry_without_mask kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects the body of the last step, which computes its keys, since it has 'maximum'}}
  posenc.step @entry until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq - 4)>) maximum {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq + 1, lk)>) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.select %s mask(#posenc.window<left = 3>)
    posenc.yield %t : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

// tile_vector_c2
posenc.plan @vector_channels kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(9)
    %p = posenc.position query law(#posenc.iota)
    %b = posenc.bias(%c, %p) : !posenc.relation, !posenc.coord {
    ^bb0(%n: f64, %x: f64):
      %y = arith.mulf %n, %x : f64
      %z = math.cos %y : f64
      posenc.yield %z : f64
    }
    %f = posenc.tile.factors %b : !posenc.table<query, channel>
    posenc.yield %f : !posenc.table<query, channel>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %t = posenc.tile.load_table @rows0 : !posenc.table<query, channel>
    // expected-error@below {{'posenc.tile.vector' op expects at most 8 channels, the plan's 'head_dim', but got 9}}
    %v = posenc.tile.vector(%t) : !posenc.table<query, channel> -> !posenc.query
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

// -----

posenc.plan @vector_table kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %t = posenc.table law(#posenc.operand<"t", channels = 3>) : !posenc.table<query, channel>
    posenc.yield %t : !posenc.table<query, channel>
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %t = posenc.tile.load_table @rows0 : !posenc.table<query, channel>
    // expected-error@below {{'posenc.tile.vector' op expects tables of posenc.tile.factors in a posenc.prepare of its plan}}
    %v = posenc.tile.vector(%t) : !posenc.table<query, channel> -> !posenc.query
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

// -----

// What is far for the rows of one step is far for those of another.
posenc.plan @other_score kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-note@below {{the other step is here}}
  posenc.step @run0 until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq - 98)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  // expected-error@below {{'posenc.step' op expects to yield what @run0 yields at the distances that both have, but for masks over storage indices}}
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.dot %q, %k scale(2.0)
    %u = posenc.select %s else(%t) mask(#posenc.window<left = 100, right = -1>) at(%i, %j)
    posenc.yield %u : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @packed_rows kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([4]) keys(16) packed(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %t = posenc.table law(#posenc.operand<"t", rows = 5, channels = 8>) : !posenc.table<row, channel>
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
    // expected-error@below {{'posenc.table_dot' op cannot stand in a 'packed' plan, whose tiles have several heads}}
    %d = posenc.table_dot %q, %t at(%r) scale(1.0) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
    posenc.yield %d : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// -----

posenc.plan @packed_values kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([4]) keys(16) packed(16) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  // expected-error@below {{'posenc.step' op expects to yield no table of values in a 'packed' plan}}
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %t = posenc.table law(#posenc.operand<"t", rows = 5, channels = 8>) : !posenc.table<row, channel>
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s, %t, %r : !posenc.score, !posenc.table<row, channel>, !posenc.relation
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
