// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that the planner refuses.
// RUN: posenc-opt %s --posenc-plan -split-input-file -verify-diagnostics
// RUN: not posenc-opt %s --posenc-plan=isa=x86-64,avx9 -o %t 2>&1 | FileCheck %s
// CHECK: error: expected 'isa' to be one of x86-64-avx512, x86-64-avx2, x86-64, but got 'avx9'

// expected-error@below {{'posenc.kernel' op has no body to plan; run posenc-expand-encodings first}}
posenc.kernel @no_body heads(2) head_dim(8)

// -----

posenc.kernel @name_is_taken heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
// expected-error@below {{'posenc.kernel' op has the name 'name_is_taken_x86_64_avx512', which the plan of a kernel needs}}
posenc.kernel @name_is_taken_x86_64_avx512 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @no_dot heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.bias' op cannot be placed in a plan; expected the score to contain a posenc.dot}}
  %s = posenc.bias() {
    %x = arith.constant 1.0 : f64
    posenc.yield %x : f64
  }
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @two_dots heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{another one is here}}
  %s = posenc.dot %q, %k scale(0.5)
  // expected-error@below {{'posenc.dot' op cannot be placed in a plan; expected one posenc.dot in a score}}
  %t = posenc.dot %q, %k scale(0.25)
  %u = posenc.add %s, %t
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @map_after_mask heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  // expected-note@below {{the mask is here}}
  %u = posenc.select %s mask(#posenc.causal)
  // expected-error@below {{'posenc.map' op cannot be placed in a plan; expected no posenc.map after a posenc.select, since a map need not keep -inf}}
  %m = posenc.map %u() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %p = posenc.normalize softmax %m
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @alignments_differ heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{the other term is here}}
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s = posenc.dot %q1, %k scale(0.5)
  // expected-error@below {{'posenc.select' op cannot be placed in a plan; expected the alignment bottom_right that another term has, but got top_left}}
  %u = posenc.select %s mask(#posenc.causal<top_left>)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
