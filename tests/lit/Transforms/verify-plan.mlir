// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans that keep the contract pass and are not changed.
// RUN: posenc-opt %s -o %t.before
// RUN: posenc-opt %s --posenc-verify-plan -o %t.after
// RUN: diff %t.before %t.after
// RUN: FileCheck %s < %t.after

// Base 2 comes from the queries, from the strip and from a change in the step.
// CHECK-LABEL: posenc.plan @all_parts
posenc.plan @all_parts kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %r : !posenc.key
  }
  posenc.prepare @strip0 strip {
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
    %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
    ^bb0(%d: f64, %x: f64):
      %y = arith.mulf %d, %x : f64
      posenc.yield %y : f64
    }
    %b2 = posenc.tile.to_base2 %b
    posenc.yield %b2 : !posenc.score
  }
  posenc.keys {
  ^bb0(%k: !posenc.key):
    %k1 = posenc.tile.rotate %k by @angles0 pairing(half) first_dim(4) dims(4) : !posenc.key
    posenc.yield %k1 : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(1.0) base2
    %q2 = posenc.tile.rotate %q1 by @angles0 pairing(half) first_dim(4) dims(4) : !posenc.query
    %q3 = posenc.tile.scale %q2 by(0.5)
    posenc.yield %q3 : !posenc.query
  }
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq + 1, lk)>) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %b = posenc.tile.load_strip @strip0
    %s1 = posenc.add %s, %b
    %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
    %c = posenc.bias(%t) : !posenc.table<head, query, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %c2 = posenc.tile.to_base2 %c
    %s2 = posenc.add %c2, %s1
    posenc.yield %s2 : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (lk, q_end + lk - lq)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %b = posenc.tile.load_strip @strip0
    %s1 = posenc.add %s, %b
    %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
    %c = posenc.bias(%t) : !posenc.table<head, query, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %c2 = posenc.tile.to_base2 %c
    %s2 = posenc.add %c2, %s1
    %u = posenc.select %s2 mask(#posenc.causal)
    posenc.yield %u : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// One step may do, and queries stay natural for a map.
// CHECK-LABEL: posenc.plan @one_step_with_map
posenc.plan @one_step_with_map kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %m = posenc.map %s() {
    ^bb0(%x: f64):
      %y = math.tanh %x : f64
      posenc.yield %y : f64
    }
    %m2 = posenc.tile.to_base2 %m
    posenc.yield %m2 : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// The keys of a window begin and end with it.
posenc.plan @window kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) from(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq - 3)>) {
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

// Steps by distance: one score of a select, and one row of a table, in each way
// that rows of a tile allow.
// CHECK-LABEL: posenc.plan @by_distance
posenc.plan @by_distance kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8)
    value_dim(8) rows([12]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %q1 = posenc.tile.scale %q by(0.5) base2
    posenc.yield %q1 : !posenc.query
  }
  posenc.step @run0 until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq - 100)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %t = posenc.dot %q, %k scale(2.0)
    posenc.yield %t : !posenc.score
  }
  posenc.step @band0 until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq - 101)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %s = posenc.dot %q, %k scale(1.0)
    %t = posenc.dot %q, %k scale(2.0)
    %u = posenc.select %s else(%t) mask(#posenc.window<left = 100, right = -1>) at(%i, %j)
    posenc.yield %u : !posenc.score
  }
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
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
