// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of rectifiers (identity 15 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-scores='networks=true' -split-input-file | FileCheck %s
// It is an option.
// RUN: posenc-opt %s --posenc-simplify-scores -split-input-file | FileCheck %s --check-prefix=DEFAULT
// DEFAULT-NOT: posenc.relation_map
// RUN: posenc-opt %s --posenc-simplify-scores='networks=true' --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null

// 2 max(2 d, 0) - max(1 - d, 0): knots at 0 and 1.
// CHECK-LABEL: posenc.kernel @network
// CHECK: %[[K:.*]] = posenc.table law(#posenc.constants<[{{-?}}0.000000e+00, {{-?}}0.000000e+00, 1.000000e+00, 1.000000e+00]>) : !posenc.table<row, head>
// CHECK: %[[P:.*]] = posenc.relation_map(%[[R:.*]], %{{.*}}, %[[K]]) : !posenc.relation, !posenc.relation, !posenc.table<row, head> rows(3) {
// CHECK: arith.cmpf oge
// CHECK: %[[A:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 1.000000e+00, 5.000000e+00, 5.000000e+00, 4.000000e+00, 4.000000e+00]>)
// CHECK: %[[B:.*]] = posenc.table law(#posenc.constants<[-1.000000e+00, -1.000000e+00, -1.000000e+00, -1.000000e+00, 0.000000e+00, 0.000000e+00]>)
// CHECK: posenc.bias(%[[R]], %[[P]], %[[A]], %[[B]])
// CHECK-NEXT: ^bb0(%[[D:.*]]: f64, %{{.*}}: f64, %[[X:.*]]: f64, %[[Y:.*]]: f64):
// CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[X]], %[[D]] : f64
// CHECK-NEXT: arith.addf %[[Z]], %[[Y]] : f64
posenc.kernel @network heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %u = posenc.sum_index extent(2)
  %t = posenc.table law(#posenc.constants<[2.0, -1.0]>) : !posenc.table<row>
  // expected-remark@below {{[Passed] PiecewiseLinear | Category:posenc-simplify | Remark="made 2 rectified hidden units a piecewise linear function"}}
  %b = posenc.bias(%r, %u, %t) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %unit: f64, %x: f64):
    %zero = arith.constant 0.0 : f64
    %a = arith.mulf %d, %x : f64
    %h = arith.addf %a, %unit : f64
    %m = arith.maximumf %h, %zero : f64
    %y = arith.mulf %m, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// 2 max(d, 0): a maximum of numbers is a number.
// CHECK-LABEL: posenc.kernel @maximum_of_weights
// CHECK: posenc.constants<[{{-?}}0.000000e+00, {{-?}}0.000000e+00, {{-?}}0.000000e+00, {{-?}}0.000000e+00]>
// CHECK: posenc.constants<[{{-?}}0.000000e+00, {{-?}}0.000000e+00, {{-?}}0.000000e+00, {{-?}}0.000000e+00, 2.000000e+00, 2.000000e+00]>
posenc.kernel @maximum_of_weights heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %u = posenc.sum_index extent(2)
  %t = posenc.table law(#posenc.constants<[2.0, -1.0]>) : !posenc.table<row>
  // expected-remark@below {{[Passed] PiecewiseLinear | Category:posenc-simplify | Remark="made 2 rectified hidden units a piecewise linear function"}}
  %b = posenc.bias(%r, %u, %t) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %unit: f64, %x: f64):
    %zero = arith.constant 0.0 : f64
    %h = arith.addf %d, %unit : f64
    %m = arith.maximumf %h, %zero : f64
    %w = arith.maximumf %x, %zero : f64
    %y = arith.mulf %m, %w : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Weights of the call have no knots when compiled.
// CHECK-LABEL: posenc.kernel @operands
// CHECK: posenc.sum_index
// CHECK-NOT: posenc.relation_map
posenc.kernel @operands heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %u = posenc.sum_index extent(2)
  %t = posenc.table law(#posenc.operand<"w", rows = 2>) : !posenc.table<row>
  // expected-remark@below {{[Missed] PiecewiseLinear | Category:posenc-simplify | Remark="kept a sum over rectified hidden units: its weights are not constants, so that its knots are not known when compiled"}}
  %b = posenc.bias(%r, %u, %t) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %unit: f64, %x: f64):
    %zero = arith.constant 0.0 : f64
    %a = arith.mulf %d, %x : f64
    %h = arith.addf %a, %unit : f64
    %m = arith.maximumf %h, %zero : f64
    %y = arith.mulf %m, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Units that are no rectifiers of an affine function.
// CHECK-LABEL: posenc.kernel @smooth
// CHECK-NOT: posenc.relation_map
posenc.kernel @smooth heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %u = posenc.sum_index extent(2)
  %t = posenc.table law(#posenc.constants<[2.0, -1.0]>) : !posenc.table<row>
  // expected-remark@below {{[Missed] PiecewiseLinear | Category:posenc-simplify | Remark="kept a sum over rectified hidden units: its hidden units are no rectifiers of affine functions of one number"}}
  %b = posenc.bias(%r, %u, %t) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %unit: f64, %x: f64):
    %zero = arith.constant 0.0 : f64
    %p = arith.mulf %d, %x : f64
    %a = math.sin %p : f64
    %h = arith.addf %a, %unit : f64
    %m = arith.maximumf %h, %zero : f64
    %y = arith.mulf %m, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A sum without rectifiers is not meant.
// CHECK-LABEL: posenc.kernel @sinusoids
// CHECK-NOT: posenc.relation_map
posenc.kernel @sinusoids heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %u = posenc.sum_index extent(2)
  %t = posenc.table law(#posenc.constants<[2.0, -1.0]>) : !posenc.table<row>
  %b = posenc.bias(%r, %u, %t) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %unit: f64, %x: f64):
    %a = arith.mulf %d, %x : f64
    %y = math.cos %a : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
