// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotations, norms and factors (identity 3 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-vectors -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-simplify-vectors --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null

// A norm, a rotation and two factors find their order; the factors become one.
// CHECK-LABEL: posenc.kernel @ordered
// CHECK: %[[N:.*]] = posenc.vector_norm %{{.*}} rms
// CHECK: %[[R:.*]] = posenc.rotate %[[N]] by(%{{.*}})
// CHECK: %[[S:.*]] = posenc.row_scale %[[R]](%{{.*}}, %{{.*}})
// CHECK: arith.mulf
// CHECK-NOT: posenc.row_scale
// CHECK: posenc.dot %[[S]]
posenc.kernel @ordered heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %m = posenc.table law(#posenc.operand<"m">) : !posenc.table<head>
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  // expected-remark@below {{[Passed] VectorOrder | Category:posenc-simplify | Remark="moved a norm before a rotation"}}
  %q2 = posenc.vector_norm %q1 rms over(head) epsilon(1.0e-6) added : !posenc.query
  %q3 = posenc.row_scale %q2(%i) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %y = math.cos %p : f64
    posenc.yield %y : f64
  }
  // expected-remark@below {{[Passed] MergedFactors | Category:posenc-simplify | Remark="merged two factors of vectors into one"}}
  %q4 = posenc.row_scale %q3(%m) : !posenc.query, !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q4, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A factor moves behind a rotation of any kind.
// CHECK-LABEL: posenc.kernel @factor
// CHECK: %[[R:.*]] = posenc.rotate %{{.*}} by
// CHECK: posenc.row_scale %[[R]]
posenc.kernel @factor heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.row_scale %q(%i) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %y = math.cos %p : f64
    posenc.yield %y : f64
  }
  // expected-remark@below {{[Passed] VectorOrder | Category:posenc-simplify | Remark="moved a factor of vectors behind a rotation"}}
  %q2 = posenc.rotate %q1 by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = math.exp %pair : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q2, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A layer norm takes off a mean, which a rotation changes.
// CHECK-LABEL: posenc.kernel @layer_norm
// CHECK: posenc.rotate
// CHECK: posenc.vector_norm
posenc.kernel @layer_norm heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  // expected-remark@below {{[Missed] VectorOrder | Category:posenc-simplify | Remark="kept the order of operations on vectors: a rotation changes the mean of the channels, which the norm takes off"}}
  %q2 = posenc.vector_norm %q1 layer over(head) epsilon(1.0e-6) added : !posenc.query
  %s = posenc.dot %q2, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A modulus changes lengths.
// CHECK-LABEL: posenc.kernel @modulus
// CHECK: posenc.rotate
// CHECK: posenc.vector_norm
posenc.kernel @modulus heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = math.exp %pair : f64
    posenc.yield %m : f64
  }
  // expected-remark@below {{[Missed] VectorOrder | Category:posenc-simplify | Remark="kept the order of operations on vectors: the rotation before a norm changes lengths"}}
  %q2 = posenc.vector_norm %q1 rms over(head) epsilon(1.0e-6) added : !posenc.query
  %s = posenc.dot %q2, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A gain keeps its place: it is no norm.
// CHECK-LABEL: posenc.kernel @gain
// CHECK: posenc.channel_scale
// CHECK: posenc.rotate
posenc.kernel @gain heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<channel>
  %q1 = posenc.channel_scale %q, %g offset(0.0) : !posenc.query, !posenc.table<channel>
  %q2 = posenc.rotate %q1 by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s = posenc.dot %q2, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Vectors that are used without the norm, or without the rotation, are made once.
// CHECK-LABEL: posenc.kernel @shared
// CHECK: posenc.rotate
// CHECK-NOT: posenc.rotate
// CHECK: posenc.vector_norm
posenc.kernel @shared heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  // expected-remark@below {{[Missed] VectorOrder | Category:posenc-simplify | Remark="kept the order of operations on vectors: the vectors before a norm are used without it too"}}
  %q2 = posenc.vector_norm %q1 rms over(head) epsilon(1.0e-6) added : !posenc.query
  %s0 = posenc.dot %q1, %k scale(0.5)
  %s1 = posenc.dot %q2, %k scale(0.5)
  %s = posenc.add %s0, %s1
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The same for factors.
// CHECK-LABEL: posenc.kernel @shared_factor
// CHECK: posenc.row_scale
// CHECK-NOT: posenc.row_scale
// CHECK: posenc.rotate
posenc.kernel @shared_factor heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.row_scale %q(%i) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    %y = math.cos %p : f64
    posenc.yield %y : f64
  }
  // expected-remark@below {{[Missed] VectorOrder | Category:posenc-simplify | Remark="kept the order of operations on vectors: the vectors before a rotation are used without it too"}}
  %q2 = posenc.rotate %q1 by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s0 = posenc.dot %q1, %k scale(0.5)
  %s1 = posenc.dot %q2, %k scale(0.5)
  %s = posenc.add %s0, %s1
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
