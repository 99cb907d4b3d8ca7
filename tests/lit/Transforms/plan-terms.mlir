// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the planner puts terms that have no lowering of their own.
// RUN: posenc-opt %s --posenc-plan=isa=x86-64 --posenc-verify-plan | FileCheck %s

// CHECK-DAG: #[[INTERIOR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 + 1, d3)>
// CHECK-DAG: #[[EDGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2, d3)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 - 6)>
// CHECK-DAG: #[[ENTRY:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2 - 7)>

// Products with rows of a table share the queries' scale; a value table is
// yielded with what looks it up.
// CHECK-LABEL: posenc.plan @relative_keys_and_values_x86_64
// CHECK: posenc.tile.scale %{{.*}} by(0.43280851226668898) base2
// CHECK: posenc.step @edge until(#[[EDGE]])
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key):
// CHECK-NEXT:   %[[S:.*]] = posenc.dot %[[Q]], %[[K]] scale(1.000000e+00)
// CHECK:        %[[R:.*]] = posenc.relation
// CHECK:        %[[T:.*]] = posenc.table_dot %[[Q]], %{{.*}} at(%[[R]]) scale(1.000000e+00)
// CHECK-NEXT:   %[[A:.*]] = posenc.add %[[S]], %[[T]]
// CHECK-NEXT:   %[[U:.*]] = posenc.select %[[A]] mask(#posenc.causal)
// CHECK-NEXT:   %[[V:.*]] = posenc.table law(#posenc.operand<"shaw.values"
// CHECK-NEXT:   posenc.yield %[[U]], %[[V]], %[[R]] : !posenc.score, !posenc.table<row, head, channel>, !posenc.relation
posenc.kernel @relative_keys_and_values heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%c = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 4>)
%ak = posenc.table law(#posenc.operand<"shaw.keys", rows = 9, channels = 12>) : !posenc.table<row, channel>
%av = posenc.table law(#posenc.operand<"shaw.values", rows = 9, channels = 10>) : !posenc.table<row, head, channel>
%a = posenc.dot %q, %k scale(0.3)
%b = posenc.table_dot %q, %ak at(%c) scale(0.3) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
%s = posenc.add %a, %b
%u = posenc.select %s mask(#posenc.causal)
%p = posenc.normalize softmax %u
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.value_table %p, %av at(%c) : !posenc.table<row, head, channel>
%o = posenc.add %o1, %o2 : !posenc.output
posenc.yield %o : !posenc.output
}

// A running sum is a prepared table; it is read at the query's place in the
// step.
// CHECK-LABEL: posenc.plan @forgetting_gate_x86_64
// CHECK-NEXT: posenc.prepare @rows0 rows {
// CHECK-NEXT:   %[[G:.*]] = posenc.table
// CHECK-NEXT:   %[[C:.*]] = posenc.prefix_sum %[[G]]
// CHECK:        posenc.yield %[[C]] : !posenc.table<batch, head, key>
// CHECK: posenc.step @interior until(#[[INTERIOR]]) whole_blocks
// CHECK:        %[[L:.*]] = posenc.tile.load_table @rows0 : !posenc.table<batch, head, key>
// CHECK-NEXT:   %[[AT:.*]] = posenc.at_query %[[L]] bottom_right
// CHECK-NEXT:   posenc.bias(%[[AT]], %[[L]])
posenc.kernel @forgetting_gate heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%g = posenc.table law(#posenc.operand<"gate">) : !posenc.table<batch, head, key>
%c = posenc.prefix_sum %g : !posenc.table<batch, head, key> {
^bb0(%x: f64):
  %y = math.absf %x : f64
  %z = arith.negf %y : f64
  posenc.yield %z : f64
}
%ci = posenc.at_query %c bottom_right : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>
%b = posenc.bias(%ci, %c) : !posenc.table<batch, head, query>, !posenc.table<batch, head, key> {
^bb0(%x: f64, %y: f64):
  %z = arith.subf %x, %y : f64
  posenc.yield %z : f64
}
%a = posenc.dot %q, %k scale(0.3)
%s = posenc.add %a, %b
%u = posenc.select %s mask(#posenc.causal)
%p = posenc.normalize softmax %u
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}

// Rows without bounds are prepared with the relation that counts them; each
// distinct query vector is made once.
// CHECK-LABEL: posenc.plan @projected_sinusoids_x86_64
// CHECK-NEXT: posenc.prepare @rows0 rows {
// CHECK:        %[[P:.*]] = posenc.project
// CHECK:        %[[R:.*]] = posenc.relation
// CHECK-NEXT:   posenc.yield %[[P]], %[[R]] : !posenc.table<row, head, channel>, !posenc.relation
// CHECK: posenc.prologue
// CHECK:        %[[QU:.*]] = posenc.vadd
// CHECK-NEXT:   %[[QU2:.*]] = posenc.tile.scale %[[QU]] by(0.28853900817779271) base2
// CHECK:        %[[QV:.*]] = posenc.vadd
// CHECK-NEXT:   %[[QV2:.*]] = posenc.tile.scale %[[QV]] by(0.28853900817779271) base2
// CHECK-NEXT:   posenc.yield %[[QU2]], %[[QV2]] : !posenc.query, !posenc.query
posenc.kernel @projected_sinusoids heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%t = posenc.table_map channels(6) {
^bb0(%row: f64, %channel: f64):
  %one = arith.constant 1.0 : f64
  %c1 = arith.addf %channel, %one : f64
  %x = arith.divf %row, %c1 : f64
  %y = math.sin %x : f64
  posenc.yield %y : f64
}
%w = posenc.table law(#posenc.operand<"w", rows = 6, channels = 12>) : !posenc.table<row, head, channel>
%pt = posenc.project %t, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
%uu = posenc.table law(#posenc.operand<"u", rows = 0, channels = 12>) : !posenc.table<head, channel>
%vv = posenc.table law(#posenc.operand<"vv", rows = 0, channels = 12>) : !posenc.table<head, channel>
%qu = posenc.vadd %q, %uu : !posenc.query, !posenc.table<head, channel>
%qv = posenc.vadd %q, %vv : !posenc.query, !posenc.table<head, channel>
%a = posenc.dot %qu, %k scale(0.2)
%b = posenc.table_dot %qv, %pt at(%r) scale(0.2) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
%s = posenc.add %a, %b
%u = posenc.select %s mask(#posenc.causal)
%p = posenc.normalize softmax %u
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}

// A scan takes all keys in one step, natural; what the weights leave over is
// added at the end.
// CHECK-LABEL: posenc.plan @stick_breaking_x86_64
// CHECK-SAME: descending {
// CHECK: posenc.tile.scale %{{.*}} by(3.000000e-01){{$}}
// CHECK-NOT: posenc.step @interior
// CHECK: posenc.step @edge until(#[[EDGE]])
// CHECK:        %[[U:.*]] = posenc.select %{{.*}} mask(#posenc.causal)
// CHECK-NEXT:   %[[N:.*]] = posenc.rowscan %[[U]] exclusive
// CHECK:        %[[M:.*]] = posenc.map %[[U]], %[[N]]()
// CHECK:        posenc.tile.to_base2 %[[M]]
// CHECK: posenc.epilogue
// CHECK:        %[[O:.*]] = posenc.tile.normalize exp
// CHECK-NEXT:   posenc.tile.remainder %[[O]]
posenc.kernel @stick_breaking heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%a = posenc.dot %q, %k scale(0.3)
%m = posenc.select %a mask(#posenc.causal)
%n = posenc.rowscan %m exclusive {
^bb0(%x: f64):
  %e = math.exp %x : f64
  %l = math.log1p %e : f64
  posenc.yield %l : f64
}
%z = posenc.map %m, %n() {
^bb0(%x: f64, %y: f64):
  %neg = arith.negf %x : f64
  %e = math.exp %neg : f64
  %l = math.log1p %e : f64
  %t = arith.addf %l, %y : f64
  %w = arith.negf %t : f64
  posenc.yield %w : f64
}
%p = posenc.normalize exp %z
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.remainder %p, %v
%o = posenc.add %o1, %o2 : !posenc.output
posenc.yield %o : !posenc.output
}

// Kinds without exponentials stay natural and yield the denominator's terms.
// CHECK-LABEL: posenc.plan @linear_x86_64
// CHECK: posenc.keys
// CHECK:        posenc.yield %{{.*}}, %{{.*}} : !posenc.key, !posenc.key
// CHECK: posenc.prologue
// CHECK-NOT: posenc.tile.scale
// CHECK: posenc.step @interior until(#[[INTERIOR]]) whole_blocks
// CHECK-NOT: posenc.tile.to_base2
// CHECK:        posenc.yield %{{.*}}, %{{.*}} : !posenc.score, !posenc.score
// CHECK: posenc.tile.normalize linear
posenc.kernel @linear heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)

%q0 = posenc.vector_map %q : !posenc.query {
^bb0(%x: f64):
  %e = math.exp %x : f64
  posenc.yield %e : f64
}
%k0 = posenc.vector_map %k : !posenc.key {
^bb0(%x: f64):
  %e = math.exp %x : f64
  posenc.yield %e : f64
}
%q1 = posenc.rotate %q0 by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k0 by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%a = posenc.dot %q1, %k1 scale(1.0)
%b = posenc.dot %q0, %k0 scale(1.0)
%am = posenc.select %a mask(#posenc.causal)
%bm = posenc.select %b mask(#posenc.causal)
%p = posenc.normalize linear %am by(%bm)
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}

// A mask between two scores hides no keys from the row, but far keys have one
// score. One over the other branch ends the range.
// CHECK-LABEL: posenc.plan @near_and_far_x86_64
// CHECK: posenc.step @run0 until
// CHECK-NOT: posenc.select
// CHECK: posenc.step @edge until(#[[EDGE]]) {
// CHECK:        posenc.select %{{.*}} else(%{{.*}}) mask(#posenc.window<left = 12>) at(%{{.*}}, %{{.*}})
// CHECK-NEXT:   posenc.select %{{.*}} mask(#posenc.causal)
// CHECK-NEXT:   posenc.yield
posenc.kernel @near_and_far heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 12>)
%i1 = posenc.remap %i {
^bb0(%x: f64):
  %c = arith.constant 13.0 : f64
  posenc.yield %c : f64
}
%q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%q2 = posenc.rotate %q by(%i1) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%near = posenc.dot %q1, %k1 scale(0.3)
%far = posenc.dot %q2, %k scale(0.3)
%s = posenc.select %near else(%far) mask(#posenc.window<left = 12>) at(%i, %j)
%u = posenc.select %s mask(#posenc.causal)
%p = posenc.normalize softmax %u
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}

// Keys begin where a window begins; rows see keys from different ones on.
// CHECK-LABEL: posenc.plan @sink_x86_64
// CHECK-SAME: from(#[[FROM]])
// CHECK: posenc.step @entry until(#[[ENTRY]]) maximum {
// CHECK: posenc.select %{{.*}} mask(#posenc.window<left = 6>)
// CHECK: posenc.step @interior until(#[[INTERIOR]]) whole_blocks {
// CHECK-NOT: posenc.select
// CHECK: posenc.step @edge until(#[[EDGE]]) {
// CHECK: posenc.select
// CHECK: posenc.epilogue
// CHECK:        %[[T:.*]] = posenc.table law(#posenc.operand<"sinks">) : !posenc.table<head>
// CHECK-NEXT:   posenc.tile.normalize softmax %{{.*}} sink(%[[T]] : !posenc.table<head>)
posenc.kernel @sink heads(2) kv_heads(1) head_dim(12) value_dim(10) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)

%k0 = posenc.table law(#posenc.operand<"sinks">) : !posenc.table<head>
%a = posenc.dot %q, %k scale(0.3)
%u = posenc.select %a mask(#posenc.window<left = 6>)
%p = posenc.normalize softmax %u sink(%k0 : !posenc.table<head>)
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}

// A network over heads takes natural scores, in one step that applies every
// mask; its tables are the step's.
// CHECK-LABEL: posenc.plan @network_over_heads_x86_64
// CHECK: posenc.tile.scale %{{.*}} by(3.000000e-01){{$}}
// CHECK-NOT: posenc.step @interior
// CHECK: posenc.step @edge until(#[[EDGE]])
// CHECK:        %[[S:.*]] = posenc.dot
// CHECK:        %[[W:.*]] = posenc.table law(#posenc.operand<"w1", rows = 6, channels = 5>)
// CHECK:        %[[N:.*]] = posenc.head_mlp(%[[S]]) weights(%[[W]], %{{.*}}, %{{.*}}, %{{.*}}) taps(3) {
// CHECK:        %[[B:.*]] = posenc.tile.to_base2 %[[N]]
// CHECK-NEXT:   %[[A:.*]] = posenc.add %{{.*}}, %[[B]]
// CHECK-NEXT:   posenc.select %[[A]] mask(#posenc.causal)
posenc.kernel @network_over_heads heads(2) kv_heads(1) head_dim(12) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%w1 = posenc.table law(#posenc.operand<"w1", rows = 6, channels = 5>) : !posenc.table<row, channel>
%b1 = posenc.table law(#posenc.operand<"b1", channels = 5>) : !posenc.table<channel>
%w2 = posenc.table law(#posenc.operand<"w2", rows = 15>) : !posenc.table<row, head>
%b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
%s = posenc.dot %q, %k scale(0.3)
%n = posenc.head_mlp(%s) weights(%w1, %b1, %w2, %b2) taps(3) {
^bb0(%x: f64):
  %y = math.tanh %x : f64
  posenc.yield %y : f64
}
%t = posenc.add %s, %n
%u = posenc.select %t mask(#posenc.causal)
%p = posenc.normalize softmax %u
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}

// Rows of a projected table that are not known before the call are not
// prepared: the step projects.
// CHECK-LABEL: posenc.plan @projected_positions_x86_64
// CHECK-NOT: posenc.prepare
// CHECK: posenc.step @edge
// CHECK:        %[[F:.*]] = posenc.table_map
// CHECK:        %[[P:.*]] = posenc.project %[[F]], %{{.*}}
// CHECK:        posenc.table_dot %{{.*}}, %[[P]] at(%{{.*}})
posenc.kernel @projected_positions heads(2) head_dim(12) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.position_tensor)
%j = posenc.position key law(#posenc.position_tensor)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
%t = posenc.table_map channels(6) {
^bb0(%row: f64, %channel: f64):
  %x = arith.mulf %row, %channel : f64
  %y = math.sin %x : f64
  posenc.yield %y : f64
}
%w = posenc.table law(#posenc.operand<"w", rows = 6, channels = 12>) : !posenc.table<row, head, channel>
%pt = posenc.project %t, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
%s = posenc.table_dot %q, %pt at(%r) scale(0.2) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
%p = posenc.normalize softmax %s
%o = posenc.weighted_sum %p, %v
posenc.yield %o : !posenc.output
}
