// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of level 3 prints, parses and prints the same.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

posenc.kernel @k heads(2) head_dim(8)

// CHECK-LABEL: posenc.plan @all_parts kernel(@k) isa("x86-64-avx2") heads(2) kv_heads(1)
// CHECK-SAME: head_dim(8) value_dim(6) rows([24, 8]) keys(256) {
posenc.plan @all_parts kernel(@k) isa("x86-64-avx2") heads(2) kv_heads(1) head_dim(8) value_dim(6)
    rows([24, 8]) keys(256) {
  // CHECK: posenc.prepare @angles0 angles {
  // CHECK: posenc.yield %{{.*}} : !posenc.key
  posenc.prepare @angles0 angles {
  ^bb0(%k: !posenc.key):
    %p = posenc.position key law(#posenc.iota)
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
    %r = posenc.rotate %k by(%p) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    posenc.yield %r : !posenc.key
  }
  // CHECK: posenc.prepare @strip0 strip {
  // CHECK: posenc.tile.to_base2 %
  posenc.prepare @strip0 strip {
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %b = posenc.bias(%r) : !posenc.relation {
    ^bb0(%d: f64):
      posenc.yield %d : f64
    }
    %c = posenc.tile.to_base2 %b
    posenc.yield %c : !posenc.score
  }
  // CHECK: posenc.keys {
  // CHECK-NEXT: ^bb0(%[[K:.*]]: !posenc.key):
  // CHECK-NEXT: posenc.tile.rotate %[[K]] by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.key
  posenc.keys {
  ^bb0(%k: !posenc.key):
    %0 = posenc.tile.rotate %k by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.key
    posenc.yield %0 : !posenc.key
  }
  // CHECK: posenc.prologue {
  // CHECK: posenc.tile.scale %{{.*}} by(1.250000e-01) base2
  // CHECK: posenc.tile.scale %{{.*}} by(2.000000e+00){{$}}
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %0 = posenc.tile.rotate %q by @angles0 pairing(interleaved) first_dim(2) dims(6) : !posenc.query
    %1 = posenc.tile.scale %0 by(0.125) base2
    %2 = posenc.tile.scale %1 by(2.0)
    posenc.yield %2 : !posenc.query
  }
  // CHECK: posenc.step @interior until(#{{.*}}) whole_blocks {
  // CHECK: posenc.tile.load_strip @strip0
  posenc.step @interior until(affine_map<(q_begin, q_end, lq, lk) -> (q_begin + lk - lq + 1, lk)>) whole_blocks {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %b = posenc.tile.load_strip @strip0
    %t = posenc.add %s, %b
    posenc.yield %t : !posenc.score
  }
  // CHECK: posenc.step @edge until(#{{.*}}) {
  posenc.step @edge until(affine_map<(q_begin, q_end, lq, lk) -> (q_end + lk - lq, lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    %u = posenc.select %s mask(#posenc.causal)
    posenc.yield %u : !posenc.score
  }
  // CHECK: posenc.epilogue {
  // CHECK-NEXT: ^bb0(%[[STATE:.*]]: !posenc.state):
  // CHECK-NEXT: %[[O:.*]] = posenc.tile.normalize softmax %[[STATE]]
  // CHECK-NEXT: posenc.yield %[[O]] : !posenc.output
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}

// The parts that every plan has.
// CHECK-LABEL: posenc.plan @fewest_parts
// CHECK-NOT: posenc.prepare
// CHECK-NOT: posenc.keys
// CHECK: posenc.prologue
// CHECK: posenc.step
// CHECK: posenc.epilogue
posenc.plan @fewest_parts kernel(@k) isa("x86-64") heads(2) kv_heads(2) head_dim(8) value_dim(8) rows([1]) keys(8) {
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

// CHECK-LABEL: posenc.plan @ranges
// CHECK-SAME: descending from(#{{.*}}) {
// CHECK: posenc.step @entry until(#{{.*}}) maximum {
// CHECK: posenc.step @edge until(#{{.*}}) {
posenc.plan @ranges kernel(@k) isa("x86-64-avx2") heads(2) kv_heads(1) head_dim(8) value_dim(6)
    rows([24, 8]) keys(256) descending from(affine_map<(q_begin, q_end, lq, lk) -> (q_begin, 3)>) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @entry until(affine_map<(q_begin, q_end, lq, lk) -> (q_end)>) maximum {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
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

// CHECK-LABEL: posenc.plan @packed
// CHECK-SAME: keys(8) packed(16) {
// CHECK: posenc.keys on_load {
posenc.plan @packed kernel(@k) isa("x86-64") heads(8) kv_heads(2) head_dim(8) value_dim(8) rows([4, 2]) keys(8) packed(16) {
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
