// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each named encoding means, exactly.
// RUN: posenc-opt %s --posenc-expand-encodings | FileCheck %s
// Kernels that have a body are left alone.
// RUN: posenc-opt %s --posenc-expand-encodings -o %t.once
// RUN: posenc-opt %t.once --posenc-expand-encodings -o %t.twice
// RUN: diff %t.once %t.twice

// The scale is 1 / sqrt(head_dim), the mask shows everything.
// CHECK-LABEL: posenc.kernel @no_clauses heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key, %[[V:.*]]: !posenc.value):
// CHECK-NEXT:   %[[S:.*]] = posenc.dot %[[Q]], %[[K]] scale(5.000000e-01)
// CHECK-NEXT:   %[[U:.*]] = posenc.select %[[S]] mask(#posenc.full)
// CHECK-NEXT:   %[[W:.*]] = posenc.normalize softmax %[[U]]
// CHECK-NEXT:   %[[O:.*]] = posenc.weighted_sum %[[W]], %[[V]]
// CHECK-NEXT:   posenc.yield %[[O]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @no_clauses heads(2) head_dim(4)

// Clauses that say what is computed go into the body, the others stay.
// CHECK-LABEL: posenc.kernel @clauses heads(4) kv_heads(2) head_dim(4) value_dim(6) dtype(f32) no_lse attributes {model = "m"} {
// CHECK:   posenc.dot %{{.*}}, %{{.*}} scale(3.000000e+00)
// CHECK-NEXT:   posenc.select %{{.*}} mask(#posenc.causal<top_left>)
posenc.kernel @clauses heads(4) kv_heads(2) head_dim(4) value_dim(6) dtype(f32) no_lse scale(3.0)
  mask(#posenc.causal<top_left>) encode [] attributes {model = "m"}

// CHECK-LABEL: posenc.kernel @nope heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   posenc.dot
posenc.kernel @nope heads(2) head_dim(4) encode [#posenc.nope]

// CHECK-LABEL: posenc.kernel @rope heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key, %{{.*}}: !posenc.value):
// CHECK-NEXT:   %[[F:.*]] = posenc.freqs law(#posenc.geometric<base = 1.000000e+04, dims = 4>)
// CHECK-NEXT:   %[[I:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT:   %[[Q1:.*]] = posenc.rotate %[[Q]] by(%[[I]]) freqs(%[[F]]) pairing(half) first_dim(0) : !posenc.query
// CHECK-NEXT:   %[[J:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT:   %[[K1:.*]] = posenc.rotate %[[K]] by(%[[J]]) freqs(%[[F]]) pairing(half) first_dim(0) : !posenc.key
// CHECK-NEXT:   posenc.dot %[[Q1]], %[[K1]] scale(5.000000e-01)
posenc.kernel @rope heads(2) head_dim(4) encode [#posenc.rope]

// A partial rotation of the last channels: the denominator is dims.
// CHECK-LABEL: posenc.kernel @partial_rope heads(2) head_dim(10) {
// CHECK:   posenc.freqs law(#posenc.geometric<base = 5.000000e+05, dims = 4>)
// CHECK:   posenc.rotate %{{.*}} pairing(interleaved) first_dim(6) : !posenc.query
// CHECK:   posenc.rotate %{{.*}} pairing(interleaved) first_dim(6) : !posenc.key
posenc.kernel @partial_rope heads(2) head_dim(10)
  encode [#posenc.rope<base = 5.0e5, dims = 4, placement = last, pairing = interleaved>]

// Positions are those of the kernel; without a clause they follow the mask.
// CHECK-LABEL: posenc.kernel @positions_follow_mask
// CHECK:   posenc.position query law(#posenc.iota<align = top_left>)
// CHECK:   posenc.position key law(#posenc.iota<align = top_left>)
posenc.kernel @positions_follow_mask heads(2) head_dim(4) mask(#posenc.causal<top_left>) encode [#posenc.rope]
// CHECK-LABEL: posenc.kernel @positions_of_an_operand
// CHECK:   posenc.position query law(#posenc.position_tensor<name = "p">)
// CHECK:   posenc.position key law(#posenc.position_tensor<name = "p">)
posenc.kernel @positions_of_an_operand heads(2) head_dim(4) positions(#posenc.position_tensor<name = "p">)
  encode [#posenc.rope]

// Two rotations: the second turns what the first has left.
// CHECK-LABEL: posenc.kernel @two_ropes
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key, %{{.*}}: !posenc.value):
// CHECK:   %[[Q1:.*]] = posenc.rotate %[[Q]] by({{.*}} first_dim(0) : !posenc.query
// CHECK:   %[[K1:.*]] = posenc.rotate %[[K]] by({{.*}} first_dim(0) : !posenc.key
// CHECK:   %[[Q2:.*]] = posenc.rotate %[[Q1]] by({{.*}} first_dim(4) : !posenc.query
// CHECK:   %[[K2:.*]] = posenc.rotate %[[K1]] by({{.*}} first_dim(4) : !posenc.key
// CHECK:   posenc.dot %[[Q2]], %[[K2]]
posenc.kernel @two_ropes heads(2) head_dim(8)
  encode [#posenc.rope<dims = 4>, #posenc.rope<dims = 4, placement = last, base = 100, name = "second">]

// Slopes of a power of two heads.
// CHECK-LABEL: posenc.kernel @alibi heads(8) head_dim(4) {
// CHECK-NEXT: ^bb0
// CHECK-NEXT:   %[[M:.*]] = posenc.table law(#posenc.constants<[5.000000e-01, 2.500000e-01, 1.250000e-01, 6.250000e-02, 3.125000e-02, 1.562500e-02, 7.812500e-03, 3.906250e-03]>) : !posenc.table<head>
// CHECK-NEXT:   %[[I:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT:   %[[J:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT:   %[[R:.*]] = posenc.relation %[[I]], %[[J]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT:   %[[B:.*]] = posenc.bias(%[[R]], %[[M]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT:   ^bb0(%[[D:.*]]: f64, %[[X:.*]]: f64):
// CHECK-NEXT:     %[[Y:.*]] = arith.mulf %[[D]], %[[X]] : f64
// CHECK-NEXT:     %[[N:.*]] = arith.negf %[[Y]] : f64
// CHECK-NEXT:     posenc.yield %[[N]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[S:.*]] = posenc.dot
// CHECK-NEXT:   posenc.add %[[S]], %[[B]]
// CHECK-NEXT:   posenc.select %{{.*}} mask(#posenc.causal)
posenc.kernel @alibi heads(8) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi]

// Three heads: those of two, then every other one of four.
// CHECK-LABEL: posenc.kernel @alibi_symmetric
// CHECK:   posenc.table law(#posenc.constants<[6.250000e-02, 3.906250e-03, 2.500000e-01]>) : !posenc.table<head>
// CHECK:   %[[A:.*]] = math.absf %{{.*}} : f64
// CHECK-NEXT:   arith.mulf %[[A]], %{{.*}} : f64
posenc.kernel @alibi_symmetric heads(3) head_dim(4) encode [#posenc.alibi<form = symmetric>]

// CHECK-LABEL: posenc.kernel @alibi_max_exponent
// CHECK:   posenc.table law(#posenc.constants<[2.500000e-01, 6.250000e-02]>) : !posenc.table<head>
posenc.kernel @alibi_max_exponent heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<max_exponent = 4>]

// The thresholds of T5's decoder: 16 distances of their own, then a logarithm.
// CHECK-LABEL: posenc.kernel @t5_decoder
// CHECK:   %[[R:.*]] = posenc.relation %{{.*}}, %{{.*}} law(#posenc.threshold_bucket<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113], future_offset = -1>)
// CHECK-NEXT:   %[[T:.*]] = posenc.table law(#posenc.operand<"t5_bias.table", rows = 32>) : !posenc.table<row, head>
// CHECK-NEXT:   posenc.bias(%[[R]], %[[T]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT:   ^bb0(%{{.*}}: f64, %[[X:.*]]: f64):
// CHECK-NEXT:     posenc.yield %[[X]] : f64
posenc.kernel @t5_decoder heads(8) head_dim(64) scale(1.0) mask(#posenc.causal) encode [#posenc.t5_bias]

// Those of its encoder: half of the buckets for each side.
// CHECK-LABEL: posenc.kernel @t5_encoder
// CHECK:   law(#posenc.threshold_bucket<[1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91], future_offset = 16>)
// CHECK:   law(#posenc.operand<"e.table", rows = 32>)
posenc.kernel @t5_encoder heads(8) head_dim(64) scale(1.0)
  encode [#posenc.t5_bias<direction = bidirectional, name = "e">]

// The fewest buckets.
// CHECK-LABEL: posenc.kernel @t5_small
// CHECK:   law(#posenc.threshold_bucket<[1], future_offset = -1>)
posenc.kernel @t5_small heads(8) head_dim(64) encode [#posenc.t5_bias<buckets = 2, max_distance = 2>]
// CHECK-LABEL: posenc.kernel @t5_odd
// CHECK:   law(#posenc.threshold_bucket<[1, 8], future_offset = -1>)
posenc.kernel @t5_odd heads(8) head_dim(64) encode [#posenc.t5_bias<buckets = 3, max_distance = 64>]

// CHECK-LABEL: posenc.kernel @toeplitz_bias
// CHECK:   %[[R:.*]] = posenc.relation %{{.*}}, %{{.*}} law(#posenc.clipped_distance<key_minus_query, max = 5>)
// CHECK-NEXT:   %[[T:.*]] = posenc.table law(#posenc.operand<"toeplitz_bias.table", rows = 11>) : !posenc.table<row, head>
// CHECK-NEXT:   posenc.bias(%[[R]], %[[T]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT:   ^bb0(%{{.*}}: f64, %[[X:.*]]: f64):
// CHECK-NEXT:     posenc.yield %[[X]] : f64
posenc.kernel @toeplitz_bias heads(2) head_dim(4) encode [#posenc.toeplitz_bias<max_distance = 5>]
// CHECK-LABEL: posenc.kernel @toeplitz_bias_query_minus_key
// CHECK:   law(#posenc.clipped_distance<query_minus_key, max = 0>)
posenc.kernel @toeplitz_bias_query_minus_key heads(2) head_dim(4)
  encode [#posenc.toeplitz_bias<max_distance = 0, orientation = query_minus_key>]

// CHECK-LABEL: posenc.kernel @dense_bias
// CHECK:   %[[T:.*]] = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
// CHECK-NEXT:   posenc.bias(%[[T]]) : !posenc.table<head, query, key> {
// CHECK-NEXT:   ^bb0(%[[X:.*]]: f64):
// CHECK-NEXT:     posenc.yield %[[X]] : f64
posenc.kernel @dense_bias heads(2) head_dim(4) encode [#posenc.dense_bias]

// Terms are added to the dot product in the order of the list, before the
// mask; positions are made once.
// CHECK-LABEL: posenc.kernel @composed
// CHECK-COUNT-2: posenc.position
// CHECK-NOT: posenc.position
// CHECK: %[[T5:.*]] = posenc.bias(%{{.*}}, %{{.*}}) : !posenc.relation, !posenc.table<row, head> {
// CHECK: %[[DENSE:.*]] = posenc.bias(%{{.*}}) : !posenc.table<head, query, key> {
// CHECK: %[[S:.*]] = posenc.dot
// CHECK-NEXT: %[[S1:.*]] = posenc.add %[[S]], %[[T5]]
// CHECK-NEXT: %[[S2:.*]] = posenc.add %[[S1]], %[[DENSE]]
// CHECK-NEXT: posenc.select %[[S2]] mask(#posenc.causal)
posenc.kernel @composed heads(2) head_dim(4) mask(#posenc.causal)
  encode [#posenc.rope, #posenc.t5_bias, #posenc.dense_bias]
