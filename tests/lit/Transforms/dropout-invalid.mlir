// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no plan has: weights that differ, and numbers of f64.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-plan -split-input-file -verify-diagnostics

posenc.kernel @differ heads(2) head_dim(8) value_dim(4) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 1>)
  %t = posenc.table law(#posenc.operand<"t", rows = 3, channels = 4>) : !posenc.table<row, channel>
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %d = posenc.drop_weights %p probability(0.25)
  %o1 = posenc.weighted_sum %d, %v
  // expected-error@below {{'posenc.value_table' op cannot be placed in a plan; expected its weights to be dropped with the probability of the other terms of the output, 2.500000e-01, but got 0}}
  %o2 = posenc.value_table %p, %t at(%r) : !posenc.table<row, channel>
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{'posenc.kernel' op cannot be placed in a plan; expected queries and outputs of f32, bf16 or f16, since compiled kernels compute with f32 numbers, but got f64: run it by posenc-run --backend=reference}}
posenc.kernel @queries heads(2) head_dim(8) dtype(f64)

// -----

// expected-error@below {{'posenc.kernel' op cannot be placed in a plan; expected keys and values of f32, bf16 or f16, since compiled kernels compute with f32 numbers, but got f64: run it by posenc-run --backend=reference}}
posenc.kernel @keys heads(2) head_dim(8) kv_dtype(f64)

// -----

// expected-error@below {{'posenc.table' op cannot be placed in a plan; expected the numbers of 't5_bias.table' of f32, bf16 or f16, since compiled kernels compute with f32 numbers, but got f64: run it by posenc-run --backend=reference}}
posenc.kernel @tables heads(2) head_dim(8) table_dtype(f64) encode [#posenc.t5_bias]
