// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prepared factors: they print, parse and obey the contract of plans.
// RUN: posenc-opt %s --posenc-verify-plan | posenc-opt | FileCheck %s

// CHECK-LABEL: posenc.plan @factors
// CHECK: posenc.tile.factors %{{.*}} : !posenc.table<query, channel>
posenc.plan @factors kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([12]) keys(256) {
  posenc.prepare @rows0 rows {
    %c = posenc.sum_index extent(3)
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
  posenc.prepare @rows1 rows {
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
  posenc.keys {
  ^bb0(%k: !posenc.key):
    %t = posenc.tile.load_table @rows1 : !posenc.table<key, channel>
    // CHECK: posenc.tile.vector(%{{.*}}, %{{.*}}) : !posenc.table<key, channel>, !posenc.table<key, channel> -> !posenc.key
    %v = posenc.tile.vector(%t, %t) : !posenc.table<key, channel>, !posenc.table<key, channel> -> !posenc.key
    posenc.yield %v : !posenc.key
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %t = posenc.tile.load_table @rows0 : !posenc.table<query, channel>
    // CHECK: posenc.tile.vector(%{{.*}}) : !posenc.table<query, channel> -> !posenc.query
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
