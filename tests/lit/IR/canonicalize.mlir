// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --canonicalize and --cse do to level 2.
// RUN: posenc-opt %s --canonicalize | FileCheck %s
// RUN: posenc-opt %s --canonicalize | posenc-opt --canonicalize | FileCheck %s
// RUN: posenc-opt %s --cse --canonicalize | FileCheck %s --check-prefixes=CHECK,CSE

// A bias that is always 0 goes, on either side of the addition; one that is
// not stays.
// CHECK-LABEL: @add_of_zero_bias
// CHECK: %[[S:.*]] = posenc.dot
// CHECK: %[[B:.*]] = posenc.bias() {
// CHECK-NEXT: arith.constant 1.000000e+00
// CHECK: %[[T:.*]] = posenc.add %[[S]], %[[B]]
// CHECK: posenc.normalize softmax %[[T]]
posenc.kernel @add_of_zero_bias heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %zero = posenc.bias() {
    %c = arith.constant 0.0 : f64
    posenc.yield %c : f64
  }
  %one = posenc.bias() {
    %c = arith.constant 1.0 : f64
    posenc.yield %c : f64
  }
  %s1 = posenc.add %s, %zero
  %s2 = posenc.add %zero, %s1
  %s3 = posenc.add %s2, %one
  %w = posenc.normalize softmax %s3
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Constants inside a region fold, and a region that becomes 0 makes its bias go.
// CHECK-LABEL: @region_becomes_zero
// CHECK-NOT: posenc.bias
// CHECK: posenc.yield
posenc.kernel @region_becomes_zero heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %b = posenc.bias() {
    %one = arith.constant 1.0 : f64
    %0 = arith.subf %one, %one : f64
    posenc.yield %0 : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Primitives that nothing uses go.
// CHECK-LABEL: @unused
// CHECK-NOT: posenc.position
// CHECK-NOT: posenc.table
// CHECK-NOT: posenc.bias
// CHECK: posenc.yield
posenc.kernel @unused heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %m = posenc.table law(#posenc.operand<"m">) : !posenc.table<head>
  %b = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// The same bias written twice becomes one value.
// CHECK-LABEL: @same_bias_twice
// CSE: %[[B:.*]] = posenc.bias
// CSE-NOT: posenc.bias
// CSE: %[[T:.*]] = posenc.add %{{.*}}, %[[B]]
// CSE: posenc.add %[[T]], %[[B]]
posenc.kernel @same_bias_twice heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i0 = posenc.position query law(#posenc.iota)
  %j0 = posenc.position key law(#posenc.iota)
  %r0 = posenc.relation %i0, %j0 law(#posenc.difference<query_minus_key>)
  %b0 = posenc.bias(%r0) : !posenc.relation {
  ^bb0(%d: f64):
    %n = arith.negf %d : f64
    posenc.yield %n : f64
  }
  %i1 = posenc.position query law(#posenc.iota)
  %j1 = posenc.position key law(#posenc.iota)
  %r1 = posenc.relation %i1, %j1 law(#posenc.difference<query_minus_key>)
  %b1 = posenc.bias(%r1) : !posenc.relation {
  ^bb0(%d: f64):
    %n = arith.negf %d : f64
    posenc.yield %n : f64
  }
  %t = posenc.add %s, %b0
  %u = posenc.add %t, %b1
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
