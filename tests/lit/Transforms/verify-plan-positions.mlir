// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: posenc-opt %s -posenc-plan=isa=x86-64 -posenc-verify-plan -split-input-file -verify-diagnostics

// Distances are 32-bit integers: offsets may differ by 2^30, and no more.

posenc.kernel @fits heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota<offset = 1073741824>)
  %j = posenc.position key law(#posenc.iota<offset = 0>)
  %d = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 4>)
  %b = posenc.bias(%d) : !posenc.relation {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %k scale(0.5)
  %t = posenc.add %s, %b
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @relation heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota<offset = 1073741824>)
  %j = posenc.position key law(#posenc.iota<offset = -1>)
  // expected-error @below {{'posenc.relation' op expects the offsets of its positions to differ by at most 2^30, since distances are 32-bit integers, but got 1073741824 and -1}}
  %d = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%d) : !posenc.relation {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %k scale(0.5)
  %t = posenc.add %s, %b
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @mask heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota<offset = -1073741824>)
  %j = posenc.position key law(#posenc.iota<offset = 1073741824>)
  %s = posenc.dot %q, %k scale(0.5)
  // expected-error @below {{'posenc.select' op expects the offsets of its positions to differ by at most 2^30}}
  %t = posenc.select %s mask(#posenc.causal) at(%i, %j)
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
