// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant factors and moduli (identity 5 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-vectors -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-simplify-vectors --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null

// A modulus of both sides, behind which the queries have another factor.
// CHECK-LABEL: posenc.kernel @both_sides
// CHECK-NOT: modulus
// CHECK: posenc.dot %{{.*}}, %{{.*}} scale(1.125000e+00)
posenc.kernel @both_sides heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Passed] ConstantFactor | Category:posenc-simplify | Remark="multiplied scales by the modulus of a rotation"}}
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = arith.constant 1.5 : f64
    posenc.yield %m : f64
  }
  // expected-remark@below {{[Passed] ConstantFactor | Category:posenc-simplify | Remark="multiplied scales by the modulus of a rotation"}}
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = arith.constant 1.5 : f64
    posenc.yield %m : f64
  }
  %q2 = posenc.row_scale %q1(%i) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %y = math.cos %p : f64
    posenc.yield %y : f64
  }
  %s = posenc.dot %q2, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A product of the rotated channels alone.
// CHECK-LABEL: posenc.kernel @rotated_channels
// CHECK-NOT: modulus
// CHECK: scale(7.500000e-01) channels([0, 4, 4])
posenc.kernel @rotated_channels heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5]>)
  // expected-remark@below {{[Passed] ConstantFactor | Category:posenc-simplify | Remark="multiplied scales by the modulus of a rotation"}}
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(4) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = arith.constant 1.5 : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5) channels([0, 4, 4])
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A constant factor of all products of the queries.
// CHECK-LABEL: posenc.kernel @factor
// CHECK-NOT: posenc.row_scale
// CHECK: posenc.dot %{{.*}}, %{{.*}} scale(2.000000e+00)
// CHECK: posenc.table_dot %{{.*}} scale(2.000000e+00)
posenc.kernel @factor heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  // expected-remark@below {{[Passed] ConstantFactor | Category:posenc-simplify | Remark="multiplied scales by a constant factor of vectors"}}
  %q1 = posenc.row_scale %q() : !posenc.query {
    %m = arith.constant 4.0 : f64
    posenc.yield %m : f64
  }
  %t = posenc.table law(#posenc.operand<"t", rows = 3, channels = 8>) : !posenc.table<row, channel>
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %s0 = posenc.dot %q1, %k scale(0.5)
  %s1 = posenc.table_dot %q1, %t at(%r) scale(0.5) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %s = posenc.add %s0, %s1
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// With partial rotary the modulus is not a scale.
// CHECK-LABEL: posenc.kernel @partial
// CHECK: modulus
// CHECK: scale(5.000000e-01)
posenc.kernel @partial heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5]>)
  // expected-remark@below {{[Missed] ConstantFactor | Category:posenc-simplify | Remark="kept the modulus of a rotation apart from the scale: it leaves channels alone that a product reads"}}
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = arith.constant 1.5 : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Nor is one that depends on the pair; there is nothing to say about it.
// CHECK-LABEL: posenc.kernel @of_the_pair
// CHECK: modulus
// CHECK: scale(5.000000e-01)
posenc.kernel @of_the_pair heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = math.exp %pair : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// What is added is not scaled.
// CHECK-LABEL: posenc.kernel @added
// CHECK: modulus
// CHECK: scale(5.000000e-01)
posenc.kernel @added heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Missed] ConstantFactor | Category:posenc-simplify | Remark="kept the modulus of a rotation apart from the scale: a posenc.vadd follows"}}
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = arith.constant 1.5 : f64
    posenc.yield %m : f64
  }
  %u = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %k2 = posenc.vadd %k1, %u : !posenc.key, !posenc.table<head, channel>
  %s = posenc.dot %q, %k2 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Two scales for one query would be applied to every score.
// CHECK-LABEL: posenc.kernel @two_scales
// CHECK: posenc.row_scale
// CHECK-COUNT-2: scale(5.000000e-01)
posenc.kernel @two_scales heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] ConstantFactor | Category:posenc-simplify | Remark="kept a constant factor of vectors apart from the scale: the products of a query would have different scales"}}
  %k1 = posenc.row_scale %k() : !posenc.key {
    %m = arith.constant 4.0 : f64
    posenc.yield %m : f64
  }
  %s0 = posenc.dot %q, %k1 scale(0.5)
  %s1 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %s1
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A factor of 0 is left to the arithmetic of the tile.
// CHECK-LABEL: posenc.kernel @zero
// CHECK: posenc.row_scale
posenc.kernel @zero heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] ConstantFactor | Category:posenc-simplify | Remark="kept a constant factor of vectors apart from the scale: a scale would be out of range"}}
  %k1 = posenc.row_scale %k() : !posenc.key {
    %m = arith.constant 0.0 : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// An operand that the factor does not use stays in the interface.
// CHECK-LABEL: posenc.kernel @operand
// CHECK: posenc.table law(#posenc.operand<"m">)
// CHECK: posenc.row_scale
posenc.kernel @operand heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %m = posenc.table law(#posenc.operand<"m">) : !posenc.table<head>
  %k1 = posenc.row_scale %k(%m) : !posenc.key, !posenc.table<head> {
  ^bb0(%x: f64):
    %c = arith.constant 4.0 : f64
    posenc.yield %c : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
