// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-simplify-scores changes the outputs of the reference by rounding at most.
// REQUIRES: posenc-run
// RUN: posenc-opt %s -o %t.before.mlir
// RUN: posenc-opt %s --posenc-simplify-scores -o %t.after.mlir
// The pass did something to each of the kernels.
// RUN: FileCheck %s --input-file=%t.after.mlir
// RUN: %python %S/Inputs/same_output.py posenc-run %t.before.mlir %t.after.mlir %t.arrays 7 9 a=5x2 b=3x2

// CHECK-LABEL: @dropped
// CHECK-NOT: posenc.bias
// CHECK: posenc.yield
posenc.kernel @dropped heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %i = posenc.position query law(#posenc.iota)
  %m = posenc.table law(#posenc.constants<[0.5, -3.0]>) : !posenc.table<head>
  %b = posenc.bias(%i, %m) : !posenc.coord, !posenc.table<head> {
  ^bb0(%p: f64, %x: f64):
    %y = arith.mulf %p, %x : f64
    posenc.yield %y : f64
  }
  %t = posenc.add %b, %s
  %u = posenc.select %t mask(#posenc.causal)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: @folded
// CHECK-NOT: math.exp2
// CHECK: posenc.yield %{{.*}} : !posenc.output
posenc.kernel @folded heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %d = posenc.relation %i, %j law(#posenc.difference<key_minus_query>)
  %m = posenc.table law(#posenc.constants<[-1.0, -2.0]>) : !posenc.table<head>
  %c = posenc.table law(#posenc.constants<[0.5, 1.0, 1.5, 2.0, 2.5, 3.0]>) : !posenc.table<row, head>
  %b = posenc.bias(%r, %c, %d, %m) : !posenc.relation, !posenc.table<row, head>, !posenc.relation, !posenc.table<head> {
  ^bb0(%bucket: f64, %x: f64, %distance: f64, %e: f64):
    %slope = math.exp2 %e : f64
    %square = arith.mulf %x, %x : f64
    %near = math.absf %distance : f64
    %fall = arith.mulf %near, %slope : f64
    %y = arith.subf %square, %fall : f64
    posenc.yield %y : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: @merged
// CHECK-COUNT-1: posenc.bias
// CHECK-NOT: posenc.bias
// CHECK: posenc.yield %{{.*}} : !posenc.output
posenc.kernel @merged heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r0 = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %r1 = posenc.relation %i, %j law(#posenc.threshold_bucket<[2], future_offset = 1>)
  %a = posenc.table law(#posenc.operand<"a", rows = 5>) : !posenc.table<row, head>
  %c = posenc.table law(#posenc.operand<"b", rows = 3>) : !posenc.table<row, head>
  %b0 = posenc.bias(%r0, %a) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%bucket: f64, %x: f64):
    posenc.yield %x : f64
  }
  %s0 = posenc.add %s, %b0
  %b1 = posenc.bias(%r1, %c, %r0, %a) : !posenc.relation, !posenc.table<row, head>, !posenc.relation, !posenc.table<row, head> {
  ^bb0(%bucket: f64, %x: f64, %clipped: f64, %unused: f64):
    %y = arith.mulf %x, %clipped : f64
    posenc.yield %y : f64
  }
  %s1 = posenc.add %b1, %s0
  %b2 = posenc.bias(%r0, %a) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%bucket: f64, %x: f64):
    %y = arith.mulf %x, %x : f64
    posenc.yield %y : f64
  }
  %s2 = posenc.add %s1, %b2
  %w = posenc.normalize softmax %s2
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
