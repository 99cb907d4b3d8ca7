// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotations by scaled positions (identity 4 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-positions -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-simplify-positions --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null

// Positions are divided, with a shift before it: the shift stays.
// CHECK-LABEL: posenc.kernel @divided
// CHECK: %[[I:.*]] = posenc.position query law(#posenc.iota)
// CHECK: %[[P:.*]] = posenc.remap %[[I]] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f64):
// CHECK-NEXT: %[[B:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[B]] : f64
// CHECK-NEXT: posenc.yield %[[Y]] : f64
// CHECK: %[[W:.*]] = posenc.freqs law(#posenc.frequencies<[2.500000e-01, 1.250000e-01, 6.250000e-02, 3.125000e-02]>)
// CHECK: posenc.rotate %{{.*}} by(%[[P]]) freqs(%[[W]])
posenc.kernel @divided heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %b = arith.constant 3.0 : f64
    %x1 = arith.addf %p, %b : f64
    %a = arith.constant 4.0 : f64
    %x2 = arith.divf %x1, %a : f64
    posenc.yield %x2 : f64
  }
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Passed] PositionScale | Category:posenc-simplify | Remark="scaled the frequencies of a rotation instead of its positions"}}
  %q1 = posenc.rotate %q by(%i1) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s = posenc.dot %q1, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Positions of the call, and frequencies that depend on it.
// CHECK-LABEL: posenc.kernel @of_the_call
// CHECK-NOT: posenc.remap
// CHECK: %[[J:.*]] = posenc.position key law(#posenc.position_tensor)
// CHECK: %[[W:.*]] = posenc.freqs_map(%{{.*}}) : !posenc.table<row> pairs(4) {
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %{{.*}}: f64, %[[X:.*]]: f64):
// CHECK-NEXT: %[[A:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: arith.mulf %[[X]], %[[A]] : f64
// CHECK: posenc.rotate %{{.*}} by(%[[J]]) freqs(%[[W]])
posenc.kernel @of_the_call heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.position_tensor)
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %c = arith.constant 0.5 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %t = posenc.table law(#posenc.operand<"t", rows = 4>) : !posenc.table<row>
  %f = posenc.freqs_map(%t) : !posenc.table<row> pairs(4) {
  ^bb0(%pair: f64, %length: f64, %x: f64):
    posenc.yield %x : f64
  }
  // expected-remark@below {{[Passed] PositionScale | Category:posenc-simplify | Remark="scaled the frequencies of a rotation instead of its positions"}}
  %k1 = posenc.rotate %k by(%j1) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// One axis of two.
// CHECK-LABEL: posenc.kernel @second_axis
// CHECK: %[[J:.*]] = posenc.position key law(#posenc.iota)
// CHECK: posenc.rotate %{{.*}} by(%[[J]], %[[J]]) freqs(%[[F:.*]], %[[W:.*]]) pairing
posenc.kernel @second_axis heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %c = arith.constant 2.0 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Passed] PositionScale | Category:posenc-simplify | Remark="scaled the frequencies of a rotation instead of its positions"}}
  %k1 = posenc.rotate %k by(%j, %j1) freqs(%f, %f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = math.exp %position : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Groups are no scaled positions.
// CHECK-LABEL: posenc.kernel @groups
// CHECK: posenc.remap
// CHECK: law(#posenc.frequencies<[1.000000e+00,
posenc.kernel @groups heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %a = arith.constant 4.0 : f64
    %x1 = arith.divf %p, %a : f64
    %x2 = math.floor %x1 : f64
    posenc.yield %x2 : f64
  }
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Missed] PositionScale | Category:posenc-simplify | Remark="kept the positions of a rotation as they are mapped: the map is no affine function"}}
  %k1 = posenc.rotate %k by(%j1) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The modulus reads the scaled position.
// CHECK-LABEL: posenc.kernel @modulus
// CHECK: posenc.remap
// CHECK: law(#posenc.frequencies<[1.000000e+00,
posenc.kernel @modulus heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %c = arith.constant 0.5 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Missed] PositionScale | Category:posenc-simplify | Remark="kept the positions of a rotation as they are scaled: its modulus reads them too"}}
  %k1 = posenc.rotate %k by(%j1) freqs(%f) pairing(half) first_dim(0) : !posenc.key modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = math.exp %position : f64
    posenc.yield %m : f64
  }
  %s = posenc.dot %q, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A shift alone and a constant angle stay; there is nothing to say about them.
// CHECK-LABEL: posenc.kernel @no_scale
// CHECK-COUNT-2: posenc.remap
// CHECK-NOT: posenc.freqs law(#posenc.frequencies<[0.
// CHECK: posenc.yield %{{.*}} : !posenc.output
posenc.kernel @no_scale heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %c = arith.constant 0.0 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %b = arith.constant 2.0 : f64
    %x1 = arith.addf %p, %b : f64
    posenc.yield %x1 : f64
  }
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i1) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j1) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
