// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the planner puts each term of a kernel.
// RUN: posenc-opt %s --posenc-plan --posenc-verify-plan | FileCheck %s
// RUN: posenc-opt %s --posenc-plan=isa=x86-64,x86-64-avx2,x86-64 | FileCheck %s --check-prefix=ISAS
// Remarks are for those who ask.
// RUN: posenc-opt %s --posenc-plan -o %t 2>&1 | count 0

// CHECK: #[[INTERIOR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 + 1, d3)>
// CHECK: #[[EDGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2, d3)>
// CHECK: #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>

// The chosen instruction sets, each once, best first, after their kernel; each
// with the plan for few queries.
// ISAS: posenc.kernel @rotations
// ISAS-NOT: posenc.plan
// ISAS: posenc.plan @rotations_x86_64_avx2 {{.*}} rows([24]) keys(256)
// ISAS-NOT: posenc.plan
// ISAS: posenc.plan @rotations_x86_64_avx2_packed
// ISAS-NOT: posenc.plan
// ISAS: posenc.plan @rotations_x86_64 {{.*}} rows([8]) keys(256)
// ISAS-NOT: posenc.plan
// ISAS: posenc.plan @rotations_x86_64_packed
// ISAS-NOT: posenc.plan
// ISAS: posenc.kernel @attributes

// Rotations keep their order. Equal angles are one table, whatever channels they
// turn.
// CHECK-LABEL: posenc.kernel @rotations
// CHECK: posenc.plan @rotations_x86_64_avx512 kernel(@rotations) isa("x86-64-avx512")
// CHECK-SAME: heads(4) kv_heads(4) head_dim(16) value_dim(16) rows([32]) keys(256) {
// CHECK-NEXT: posenc.prepare @angles0 angles {
// CHECK-NEXT: ^bb0(%[[K0:.*]]: !posenc.key):
// CHECK-NEXT:   %[[P0:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT:   %[[F0:.*]] = posenc.freqs law(#posenc.geometric<base = 1.000000e+04, dims = 8>)
// CHECK-NEXT:   %[[R0:.*]] = posenc.rotate %[[K0]] by(%[[P0]]) freqs(%[[F0]]) pairing(half) first_dim(0) : !posenc.key
// CHECK-NEXT:   posenc.yield %[[R0]] : !posenc.key
// CHECK-NEXT: }
// CHECK-NEXT: posenc.prepare @angles1 angles {
// CHECK-NEXT: ^bb0(%[[K1:.*]]: !posenc.key):
// CHECK-NEXT:   %[[P1:.*]] = posenc.position key law(#posenc.iota<offset = 3>)
// CHECK-NEXT:   %[[F1:.*]] = posenc.freqs law(#posenc.geometric<base = 1.000000e+04, dims = 8>)
// CHECK-NEXT:   %[[R1:.*]] = posenc.rotate %[[K1]] by(%[[P1]]) freqs(%[[F1]]) pairing(half) first_dim(0) : !posenc.key
// CHECK-NEXT:   posenc.yield %[[R1]] : !posenc.key
// CHECK-NEXT: }
// CHECK-NEXT: posenc.keys {
// CHECK-NEXT: ^bb0(%[[K:.*]]: !posenc.key):
// CHECK-NEXT:   %[[K1:.*]] = posenc.tile.rotate %[[K]] by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.key
// CHECK-NEXT:   %[[K2:.*]] = posenc.tile.rotate %[[K1]] by @angles1 pairing(interleaved) first_dim(8) dims(8) : !posenc.key
// CHECK-NEXT:   posenc.yield %[[K2]] : !posenc.key
// CHECK-NEXT: }
// CHECK-NEXT: posenc.prologue {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query):
// CHECK-NEXT:   %[[Q1:.*]] = posenc.tile.rotate %[[Q]] by @angles0 pairing(half) first_dim(0) dims(8) : !posenc.query
// CHECK-NEXT:   %[[Q2:.*]] = posenc.tile.scale %[[Q1]] by(0.36067376022224085) base2
// CHECK-NEXT:   posenc.yield %[[Q2]] : !posenc.query
// CHECK-NEXT: }
// CHECK-NEXT: posenc.step @interior until(#[[INTERIOR]]) whole_blocks {
// CHECK-NEXT: ^bb0(%[[SQ:.*]]: !posenc.query, %[[SK:.*]]: !posenc.key):
// CHECK-NEXT:   %[[S:.*]] = posenc.dot %[[SQ]], %[[SK]] scale(1.000000e+00)
// CHECK-NEXT:   posenc.yield %[[S]] : !posenc.score
// CHECK-NEXT: }
// CHECK-NEXT: posenc.step @edge until(#[[EDGE]]) {
// CHECK-NEXT: ^bb0(%[[SQ:.*]]: !posenc.query, %[[SK:.*]]: !posenc.key):
// CHECK-NEXT:   %[[S:.*]] = posenc.dot %[[SQ]], %[[SK]] scale(1.000000e+00)
// CHECK-NEXT:   %[[U:.*]] = posenc.select %[[S]] mask(#posenc.causal)
// CHECK-NEXT:   posenc.yield %[[U]] : !posenc.score
// CHECK-NEXT: }
// CHECK-NEXT: posenc.epilogue {
// CHECK-NEXT: ^bb0(%[[STATE:.*]]: !posenc.state):
// CHECK-NEXT:   %[[O:.*]] = posenc.tile.normalize softmax %[[STATE]]
// CHECK-NEXT:   posenc.yield %[[O]] : !posenc.output
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: posenc.plan @rotations_x86_64_avx512_packed
// CHECK: posenc.plan @rotations_x86_64_avx2 kernel(@rotations) isa("x86-64-avx2")
// CHECK-SAME: rows([24]) keys(256) {
// CHECK: posenc.keys {
// CHECK: posenc.plan @rotations_x86_64 kernel(@rotations) isa("x86-64")
// CHECK-SAME: rows([8]) keys(256) {
// CHECK: posenc.keys {
posenc.kernel @rotations heads(4) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %j3 = posenc.position key law(#posenc.iota<offset = 3>)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %k2 = posenc.rotate %k1 by(%j3) freqs(%f) pairing(interleaved) first_dim(8) : !posenc.key
  %s = posenc.dot %q1, %k2 scale(0.25)
  %u = posenc.select %s mask(#posenc.causal)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// The kernel's clauses are copied. Keys that are used as they are have no part.
// A mask that hides nothing leaves @edge the remainder of the blocks.
// CHECK-LABEL: posenc.plan @attributes_x86_64_avx512
// CHECK-SAME: heads(4) kv_heads(2) head_dim(16) value_dim(6) rows([48, 32]) keys(128) {
// CHECK-NEXT: posenc.prologue
// CHECK: posenc.step @interior until(#[[ALL]]) whole_blocks
// CHECK: posenc.step @edge until(#[[ALL]]) {
// CHECK-NOT: posenc.select
// CHECK: posenc.epilogue
posenc.kernel @attributes heads(4) kv_heads(2) head_dim(16) value_dim(6) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.25)
  %u = posenc.select %s mask(#posenc.full)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// A bias of the distance is a strip in base 2; equal ones share it. Inputs that
// do not reach the result are left behind.
// CHECK-LABEL: posenc.plan @strips_x86_64_avx512
// CHECK-NEXT: posenc.prepare @strip0 strip {
// CHECK-NEXT:   %[[I:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT:   %[[J:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT:   %[[R:.*]] = posenc.relation %[[I]], %[[J]] law(#posenc.clipped_distance<query_minus_key, max = 1>)
// CHECK-NEXT:   %[[T:.*]] = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row, head>
// CHECK-NEXT:   %[[B:.*]] = posenc.bias(%[[R]], %[[T]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT:   ^bb0(%{{.*}}: f64, %[[X:.*]]: f64):
// CHECK-NEXT:     posenc.yield %[[X]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[B2:.*]] = posenc.tile.to_base2 %[[B]]
// CHECK-NEXT:   posenc.yield %[[B2]] : !posenc.score
// CHECK-NEXT: }
// CHECK-NEXT: posenc.prologue
// CHECK: posenc.step @interior
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   %[[S:.*]] = posenc.dot
// CHECK-NEXT:   %[[B0:.*]] = posenc.tile.load_strip @strip0
// CHECK-NEXT:   %[[T0:.*]] = posenc.add %[[S]], %[[B0]]
// CHECK-NEXT:   %[[B1:.*]] = posenc.tile.load_strip @strip0
// CHECK-NEXT:   %[[T1:.*]] = posenc.add %[[T0]], %[[B1]]
// CHECK-NEXT:   posenc.yield %[[T1]] : !posenc.score
posenc.kernel @strips heads(4) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row, head>
  %a = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %b = posenc.bias(%j, %r, %t) : !posenc.coord, !posenc.relation, !posenc.table<row, head> {
  ^bb0(%p: f64, %d: f64, %x: f64):
    %unused = arith.addf %p, %x : f64
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %k scale(0.25)
  %s1 = posenc.add %s, %a
  %s2 = posenc.add %s1, %b
  %p = posenc.normalize softmax %s2
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// What a map reads is natural, strips too; its result is changed, and so is each
// term that is added later.
// CHECK-LABEL: posenc.plan @map_x86_64_avx512
// CHECK: posenc.prepare @strip0 strip
// CHECK-NOT: posenc.tile.to_base2
// CHECK: posenc.prepare @strip1 strip
// CHECK: posenc.tile.to_base2
// CHECK: posenc.prologue
// CHECK: posenc.tile.scale %{{.*}} by(2.500000e-01){{$}}
// CHECK: posenc.step @edge
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   %[[S:.*]] = posenc.dot %{{.*}}, %{{.*}} scale(1.000000e+00)
// CHECK-NEXT:   %[[B0:.*]] = posenc.tile.load_strip @strip0
// CHECK-NEXT:   %[[S1:.*]] = posenc.add %[[S]], %[[B0]]
// CHECK-NEXT:   %[[J:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT:   %[[M0:.*]] = posenc.map %[[S1]](%[[J]]) : !posenc.coord {
// CHECK-NEXT:   ^bb0
// CHECK-NEXT:     math.tanh
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     posenc.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[M1:.*]] = posenc.map %[[M0]]() {
// CHECK-NEXT:   ^bb0
// CHECK-NEXT:     math.tanh
// CHECK-NEXT:     posenc.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[M2:.*]] = posenc.tile.to_base2 %[[M1]]
// CHECK-NEXT:   %[[B1:.*]] = posenc.tile.load_strip @strip1
// CHECK-NEXT:   %[[S2:.*]] = posenc.add %[[M2]], %[[B1]]
// CHECK-NEXT:   %[[S3:.*]] = posenc.tile.to_base2 %[[S]]
// CHECK-NEXT:   %[[S4:.*]] = posenc.add %[[S2]], %[[S3]]
// CHECK-NEXT:   %[[U:.*]] = posenc.select %[[S4]] mask(#posenc.causal)
// CHECK-NEXT:   posenc.yield %[[U]] : !posenc.score
posenc.kernel @map heads(4) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %s = posenc.dot %q, %k scale(0.25)
  %s1 = posenc.add %s, %b
  %m0 = posenc.map %s1(%j) : !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %z = math.tanh %x : f64
    %w = arith.addf %z, %y : f64
    posenc.yield %w : f64
  }
  %m1 = posenc.map %m0() {
  ^bb0(%x: f64):
    %z = math.tanh %x : f64
    posenc.yield %z : f64
  }
  %s2 = posenc.add %m1, %b
  %s3 = posenc.add %s2, %s
  %u = posenc.select %s3 mask(#posenc.causal)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Natural queries of scale 1 are not scaled at all.
// CHECK-LABEL: posenc.plan @map_of_scale_1_x86_64_avx512
// CHECK: posenc.prologue {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query):
// CHECK-NEXT:   posenc.yield %[[Q]] : !posenc.query
posenc.kernel @map_of_scale_1 heads(4) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.map %s() {
  ^bb0(%x: f64):
    %z = math.tanh %x : f64
    posenc.yield %z : f64
  }
  %p = posenc.normalize softmax %m
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// A map beside the dot product leaves it in base 2.
// CHECK-LABEL: posenc.plan @map_of_a_bias_x86_64_avx512
// CHECK: posenc.tile.scale %{{.*}} by(0.36067376022224085) base2
// CHECK: posenc.step @interior
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   %[[B:.*]] = posenc.tile.load_strip @strip0
// CHECK-NEXT:   %[[M:.*]] = posenc.map %[[B]]() {
// CHECK:        %[[M2:.*]] = posenc.tile.to_base2 %[[M]]
// CHECK-NEXT:   %[[S:.*]] = posenc.dot
// CHECK-NEXT:   posenc.add %[[M2]], %[[S]]
posenc.kernel @map_of_a_bias heads(4) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %m = posenc.map %b() {
  ^bb0(%x: f64):
    %z = math.tanh %x : f64
    posenc.yield %z : f64
  }
  %s = posenc.dot %q, %k scale(0.25)
  %t = posenc.add %m, %s
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Biases that are no function of the distance stay in the step, with what they
// read, each copied once.
// CHECK-LABEL: posenc.plan @per_score_x86_64_avx512
// CHECK-NEXT: posenc.prologue
// CHECK: posenc.step @interior
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   %[[S:.*]] = posenc.dot
// CHECK-NEXT:   %[[I:.*]] = posenc.position query law(#posenc.position_tensor)
// CHECK-NEXT:   %[[J:.*]] = posenc.position key law(#posenc.position_tensor)
// CHECK-NEXT:   %[[R:.*]] = posenc.relation %[[I]], %[[J]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT:   %[[B0:.*]] = posenc.bias(%[[R]]) : !posenc.relation {
// CHECK:        %[[C0:.*]] = posenc.tile.to_base2 %[[B0]]
// CHECK-NEXT:   %[[T0:.*]] = posenc.add %[[S]], %[[C0]]
// CHECK-NEXT:   %[[D:.*]] = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
// CHECK-NEXT:   %[[B1:.*]] = posenc.bias(%[[D]], %[[J]]) : !posenc.table<head, query, key>, !posenc.coord {
// CHECK:        %[[C1:.*]] = posenc.tile.to_base2 %[[B1]]
// CHECK-NEXT:   posenc.add %[[T0]], %[[C1]]
// CHECK: posenc.step @edge
posenc.kernel @per_score heads(4) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b0 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
  %b1 = posenc.bias(%t, %j) : !posenc.table<head, query, key>, !posenc.coord {
  ^bb0(%x: f64, %p: f64):
    %y = arith.addf %x, %p : f64
    posenc.yield %y : f64
  }
  %s = posenc.dot %q, %k scale(0.25)
  %s1 = posenc.add %s, %b0
  %s2 = posenc.add %s1, %b1
  %p = posenc.normalize softmax %s2
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Numbers of the kernel's heads and of the call's heads do not share a strip.
// CHECK-LABEL: posenc.plan @heads_of_two_kinds_x86_64_avx512
// CHECK-NOT: posenc.prepare
// CHECK: posenc.step @interior
// CHECK: posenc.table law(#posenc.constants
// CHECK: posenc.table law(#posenc.operand
// CHECK: posenc.bias
posenc.kernel @heads_of_two_kinds heads(2) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %c = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row, head>
  %b = posenc.bias(%c, %r, %t) : !posenc.table<head>, !posenc.relation, !posenc.table<row, head> {
  ^bb0(%m: f64, %d: f64, %x: f64):
    %y = arith.mulf %m, %x : f64
    posenc.yield %y : f64
  }
  %s = posenc.dot %q, %k scale(0.25)
  %s1 = posenc.add %s, %b
  %p = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// A mask may stand before sums, which keep -inf. What nothing uses is not
// planned.
// CHECK-LABEL: posenc.plan @mask_before_sum_x86_64_avx512
// CHECK-NOT: posenc.table
// CHECK: posenc.step @interior until(#[[INTERIOR]]) whole_blocks
// CHECK-NOT: posenc.select
// CHECK: posenc.step @edge until(#[[EDGE]]) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   %[[S:.*]] = posenc.dot
// CHECK-NEXT:   %[[U:.*]] = posenc.select %[[S]] mask(#posenc.causal)
// CHECK-NEXT:   %[[B:.*]] = posenc.tile.load_strip @strip0
// CHECK-NEXT:   %[[T:.*]] = posenc.add %[[U]], %[[B]]
// CHECK-NEXT:   %[[W:.*]] = posenc.select %[[T]] mask(#posenc.causal)
// CHECK-NEXT:   posenc.yield %[[W]] : !posenc.score
posenc.kernel @mask_before_sum heads(2) head_dim(16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %unused = posenc.table law(#posenc.operand<"unused">) : !posenc.table<head>
  %s = posenc.dot %q, %k scale(0.25)
  %u = posenc.select %s mask(#posenc.causal)
  %t = posenc.add %u, %b
  %w = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize softmax %w
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Blocks that the caller lists are whole blocks of a tile, unless they are tiny.
// CHECK-LABEL: posenc.kernel @listed
// CHECK: posenc.plan @listed_x86_64_avx512 {{.*}} keys(128) blocks(
posenc.kernel @listed heads(2) head_dim(16) blocks(#posenc.block_list<queries = 128, keys = 128>) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.25)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: posenc.kernel @listed_tiny
// CHECK: posenc.plan @listed_tiny_x86_64_avx512 {{.*}} keys(72) blocks(
posenc.kernel @listed_tiny heads(2) head_dim(16) blocks(#posenc.block_list<queries = 128, keys = 24>) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.25)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Those that must be copied and do not fit are cut, still to keys that tiles
// have together.
// CHECK-LABEL: posenc.kernel @listed_large
// CHECK: posenc.plan @listed_large_x86_64_avx512 {{.*}} keys(32) {{.*}}blocks(
posenc.kernel @listed_large heads(2) head_dim(256) dtype(bf16) blocks(#posenc.block_list<queries = 64, keys = 60>) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.25)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
