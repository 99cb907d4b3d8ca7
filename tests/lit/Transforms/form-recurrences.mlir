// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose earlier keys are in a state.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --posenc-form-recurrences -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --posenc-form-recurrences -split-input-file | posenc-opt --posenc-form-recurrences -split-input-file | FileCheck %s

// What depends on the query alone scales it, the rest is a power of the distance.
// CHECK-LABEL: posenc.kernel @retention
// CHECK: %[[I:.*]] = posenc.position query law(#posenc.appended)
// CHECK: %[[Q:.*]] = posenc.rotate %{{.*}} by(%[[I]])
// CHECK: %[[J:.*]] = posenc.position key law(#posenc.appended)
// CHECK: %[[K:.*]] = posenc.rotate %{{.*}} by(%[[J]])
// CHECK: %[[RATES:.*]] = posenc.table
// CHECK: %[[SCALED:.*]] = posenc.row_scale %[[Q]](%[[RATES]], %[[I]], %{{.*}})
// CHECK: math.sqrt
// CHECK: %[[O:.*]] = posenc.recurrence(%[[SCALED]]), (%[[K]]), %{{.*}} scales([0.35355339059327373]) decay(%[[RATES]]) : !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[RATE:.*]]: f64):
// CHECK-NEXT: %[[GAMMA:.*]] = math.exp %[[RATE]] : f64
// CHECK-NEXT: posenc.yield %[[GAMMA]] : f64
// CHECK: posenc.yield %[[O]] : !posenc.output
posenc.kernel @retention heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.retention<score_norm = off>]

// -----

// What divides has vectors of its own, and epsilon once.
// CHECK-LABEL: posenc.kernel @linear
// CHECK: %[[Q:.*]] = posenc.vector_map %{{.*}} : !posenc.query
// CHECK: %[[K:.*]] = posenc.vector_map %{{.*}} : !posenc.key
// CHECK: %[[TURNED_Q:.*]] = posenc.rotate %[[Q]]
// CHECK: %[[TURNED_K:.*]] = posenc.rotate %[[K]]
// CHECK-NOT: decay
// CHECK: posenc.recurrence(%[[TURNED_Q]]), (%[[TURNED_K]]), %{{.*}} scales([1.000000e+00]) by(%[[Q]]), (%[[K]]) epsilon(5.000000e-01)
// CHECK-NOT: decay
posenc.kernel @linear heads(2) head_dim(8) queries(packed) keys(state) mask(#posenc.causal)
  encode [#posenc.linear_attention<epsilon = 0.5>, #posenc.rope]

// -----

// Both sums decay; constants and signs are in the scale of a product.
// CHECK-LABEL: posenc.kernel @body
// CHECK: %[[G:.*]] = posenc.table law(#posenc.operand<"gamma">)
// CHECK: %[[F:.*]] = posenc.table law(#posenc.operand<"factors">)
// CHECK: %[[K:.*]] = posenc.row_scale %{{.*}}(%[[F]]) : !posenc.key, !posenc.table<batch, head, key>
// CHECK: %[[BY:.*]] = posenc.row_scale %{{.*}}() : !posenc.query
// CHECK-NEXT: arith.constant 3.000000e+00
// CHECK: posenc.recurrence(%{{.*}}, %{{.*}}), (%{{.*}}, %[[K]]), %{{.*}} scales([5.000000e-01, -2.500000e-01])
// CHECK-SAME: by(%[[BY]]), (%{{.*}}) decayed_by decay(%[[G]]) : !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[GAMMA:.*]]: f64):
// CHECK-NEXT: posenc.yield %[[GAMMA]] : f64
posenc.kernel @body heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %g = posenc.table law(#posenc.operand<"gamma">) : !posenc.table<head>
  %f = posenc.table law(#posenc.operand<"factors">) : !posenc.table<batch, head, key>
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %a = posenc.dot %q, %k scale(0.5)
  %b = posenc.dot %q, %k scale(0.25)
  %c = posenc.map %b(%f) : !posenc.table<batch, head, key> {
  ^bb0(%x: f64, %factor: f64):
    %n = arith.negf %x : f64
    %y = arith.mulf %n, %factor : f64
    posenc.yield %y : f64
  }
  %s = posenc.add %a, %c
  %t = posenc.map %s(%r, %g) : !posenc.relation, !posenc.table<head> {
  ^bb0(%x: f64, %d: f64, %gamma: f64):
    %w = math.powf %gamma, %d : f64
    %y = arith.mulf %x, %w : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %t mask(#posenc.causal)
  %e = posenc.dot %q, %k scale(3.0)
  %e2 = posenc.map %e(%r, %g) : !posenc.relation, !posenc.table<head> {
  ^bb0(%x: f64, %d: f64, %gamma: f64):
    %w = math.powf %gamma, %d : f64
    %y = arith.mulf %w, %x : f64
    posenc.yield %y : f64
  }
  %z = posenc.select %e2 mask(#posenc.causal)
  %p = posenc.normalize linear %u by(%z)
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
