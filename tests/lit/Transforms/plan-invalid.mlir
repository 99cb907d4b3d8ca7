// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that the planner refuses.
// RUN: posenc-opt %s --posenc-plan -split-input-file -verify-diagnostics
// RUN: not posenc-opt %s --posenc-plan=isa=x86-64,avx9 -o %t 2>&1 | FileCheck %s
// CHECK: error: expected 'isa' to be one of x86-64-avx512-bf16, x86-64-avx512, x86-64-avx2, x86-64, aarch64, but got 'avx9'

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

posenc.kernel @scale_beyond_f32 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.dot' op cannot be placed in a plan; expected its 'scale' to be 0 or from 2^-126 to 2^126 in magnitude, since compiled kernels compute with f32 numbers, but got 1.000000e+39}}
  %s = posenc.dot %q, %k scale(1.0e39)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @constant_below_f32 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  // expected-error@below {{'posenc.map' op cannot be placed in a plan; expected the constants of its function to be 0 or from 2^-126 to 2^126 in magnitude, since compiled kernels compute with f32 numbers, but got 1.000000e-40}}
  %t = posenc.map %s() {
  ^bb0(%x: f64):
    %cap = arith.constant 1.0e-40 : f64
    %y = arith.mulf %x, %cap : f64
    posenc.yield %y : f64
  }
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @table_beyond_f32 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op cannot be placed in a plan; expected its constants to be at most 2^126 in magnitude, since compiled kernels compute with f32 numbers, but got -1.000000e+39}}
  %c = posenc.table law(#posenc.constants<[0.0, -1.0e39]>) : !posenc.table<head>
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r, %c) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %y = arith.mulf %d, %x : f64
    posenc.yield %y : f64
  }
  %s = posenc.dot %q, %k scale(0.5)
  %t = posenc.add %s, %b
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @scores_of_all_keys_and_heads heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %a = posenc.dot %q, %k scale(0.5)
  %w1 = posenc.table law(#posenc.operand<"w1", rows = 2, channels = 3>) : !posenc.table<row, channel>
  %b1 = posenc.table law(#posenc.operand<"b1", channels = 3>) : !posenc.table<channel>
  %w2 = posenc.table law(#posenc.operand<"w2", rows = 3>) : !posenc.table<row, head>
  %b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
  // expected-error@below {{'posenc.head_mlp' op cannot be placed in a plan; expected no posenc.rowscan in the same kernel: the scores of all heads would be kept for all keys of a row}}
  %t = posenc.head_mlp(%a) weights(%w1, %b1, %w2, %b2) taps(1) {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  // expected-note@below {{the scan is here}}
  %s = posenc.rowscan %t exclusive {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @norm_of_changed_heads heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<channel>
  // expected-note@below {{they are changed here}}
  %q1 = posenc.channel_scale %q, %g offset(0.0) : !posenc.query, !posenc.table<channel>
  // expected-error@below {{'posenc.vector_norm' op cannot be placed in a plan; expected a norm over all heads to be the first operation on the kernel's vectors: a tile has those of other heads as the caller passes them}}
  %q2 = posenc.vector_norm %q1 rms over(all_heads) epsilon(1.0e-6) added : !posenc.query
  %s = posenc.dot %q2, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @projection_of_given_positions heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %t = posenc.table_map channels(4) {
  ^bb0(%row: f64, %channel: f64):
    posenc.yield %row : f64
  }
  %w = posenc.table law(#posenc.operand<"w", rows = 4, channels = 8>) : !posenc.table<row, head, channel>
  // expected-note@below {{the table is here}}
  %x = posenc.project %t, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o1 = posenc.weighted_sum %p, %v
  // expected-error@below {{'posenc.value_table' op cannot be placed in a plan; expected the rows of a projected table without bounds to be looked up by a posenc.relation of positions with the law #posenc.iota, which can be counted before the call, or by a posenc.table_dot, which projects its vector instead}}
  %o2 = posenc.value_table %p, %x at(%r) : !posenc.table<row, head, channel>
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @two_sums heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o1 = posenc.weighted_sum %p, %v
  // expected-error@below {{'posenc.weighted_sum' op cannot be placed in a plan; expected one of its kind in the output}}
  %o2 = posenc.weighted_sum %p, %v
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @two_weights heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  // expected-note@below {{other weights are here}}
  %p = posenc.normalize softmax %s
  %p2 = posenc.normalize exp %s
  %o1 = posenc.weighted_sum %p, %v
  // expected-error@below {{'posenc.remainder' op cannot be placed in a plan; expected all terms of the output to have the same weights}}
  %o2 = posenc.remainder %p2, %v
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @no_sum heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.remainder %p, %v
  // expected-error@below {{'posenc.yield' op cannot be placed in a plan; expected a posenc.weighted_sum in the output}}
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @no_state heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.recurrence' op cannot be placed in a plan; expected its kernel to have keys(state)}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0])
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @tiny_scale heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.recurrence' op cannot be placed in a plan; expected its 'scales' to be 0 or from 2^-126 to 2^126 in magnitude, since compiled kernels compute with f32 numbers, but got 1.000000e-50}}
  %o = posenc.recurrence (%q, %q), (%k, %k), %v scales([1.0, 1.0e-50])
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @tiny_epsilon heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.recurrence' op cannot be placed in a plan; expected its 'epsilon' to be 0 or from 2^-126 to 2^126 in magnitude}}
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) by (%q), (%k) epsilon(1.0e-50)
  posenc.yield %o : !posenc.output
}

// -----

// As posenc-form-recurrences makes it of the scale of a product that divides.
posenc.kernel @tiny_divisor heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.row_scale' op cannot be placed in a plan; expected its factor to be 0 or from 2^-126 to 2^126 in magnitude, since compiled kernels compute with f32 numbers, but got 1.000000e-50}}
  %by = posenc.row_scale %q() : !posenc.query {
    %c = arith.constant 1.0e-50 : f64
    posenc.yield %c : f64
  }
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) by (%by), (%k)
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @large_modulus heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  // expected-error@below {{'posenc.rotate' op cannot be placed in a plan; expected its modulus to be 0 or from 2^-126 to 2^126 in magnitude}}
  %t = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %p: f64):
    %c = arith.constant 1.0e39 : f64
    posenc.yield %c : f64
  }
  %s = posenc.dot %t, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
