// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What norms of queries and keys and masks of level 1 expand to.
// RUN: posenc-opt %s --posenc-expand-encodings | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --verify-roundtrip -o /dev/null

// CHECK-LABEL: @qk_norm
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key,
// CHECK: %[[QN:.*]] = posenc.vector_norm %[[Q]] rms over(head) epsilon(9.9{{.*}}) added : !posenc.query
// CHECK: %[[KN:.*]] = posenc.vector_norm %[[K]] rms over(head) epsilon(9.9{{.*}}) added : !posenc.key
// CHECK: posenc.dot %[[QN]], %[[KN]] scale(5.000000e-01)
posenc.kernel @qk_norm heads(1) head_dim(4) encode [#posenc.qk_norm]

// CHECK-LABEL: @qk_norm_gain
// CHECK: %[[G:.*]] = posenc.table law(#posenc.operand<"qk_norm.query_gain", channels = 4>) : !posenc.table<channel>
// CHECK: posenc.channel_scale %{{.*}}, %[[G]] offset(1.000000e+00) : !posenc.query, !posenc.table<channel>
// CHECK: posenc.rotate
posenc.kernel @qk_norm_gain heads(1) head_dim(4) encode [#posenc.qk_norm<preset = "gemma3">, #posenc.rope]

// CHECK-LABEL: @qk_norm_all_heads
// CHECK: posenc.vector_norm {{.*}} rms over(all_heads)
// CHECK: posenc.channel_scale {{.*}} offset(0.000000e+00) : !posenc.query, !posenc.table<head, channel>
posenc.kernel @qk_norm_all_heads heads(2) head_dim(4) encode [#posenc.qk_norm<preset = "olmo2">]

// CHECK-LABEL: @qk_norm_layer_bias
// CHECK: posenc.vector_norm {{.*}} layer over(head)
// CHECK: posenc.channel_scale
// CHECK: posenc.vadd {{.*}} : !posenc.query, !posenc.table<channel>
posenc.kernel @qk_norm_layer_bias heads(2) head_dim(4) encode [#posenc.qk_norm<preset = "persimmon">]

// A learned scale is the only one.
// CHECK-LABEL: @qk_norm_learned
// CHECK: posenc.vector_norm {{.*}} l2 over(head) epsilon({{.*}}) floor
// CHECK: posenc.table law(#posenc.operand<"n.scale">) : !posenc.table<head>
// CHECK: posenc.row_scale
// CHECK: posenc.dot {{.*}} scale(1.000000e+00)
posenc.kernel @qk_norm_learned heads(2) head_dim(4)
  encode [#posenc.qk_norm<kind = l2, epsilon_site = floor, score_scale = learned, name = "n">]

// CHECK-LABEL: @key_norm
// CHECK-NOT: posenc.vector_norm {{.*}} : !posenc.query
// CHECK: posenc.vector_norm {{.*}} l2 over(head) epsilon(0.000000e+00) added : !posenc.key
// CHECK: posenc.dot {{.*}} scale(1.000000e+00)
posenc.kernel @key_norm heads(2) head_dim(4) encode [#posenc.key_norm]

// CHECK-LABEL: @cosine_attention
// CHECK: posenc.row_scale
// CHECK:   arith.constant 4.605170185988
// CHECK:   arith.minimumf
// CHECK:   math.exp
// CHECK: posenc.dot {{.*}} scale(1.000000e+00)
posenc.kernel @cosine_attention heads(2) head_dim(4) encode [#posenc.cosine_attention]

// CHECK-LABEL: @prefix
// CHECK: %[[I:.*]] = posenc.position query law(#posenc.iota)
// CHECK: %[[J:.*]] = posenc.position key law(#posenc.iota)
// CHECK: %[[N:.*]] = posenc.table law(#posenc.operand<"prefix">) : !posenc.table<batch>
// CHECK: posenc.select %{{.*}} where(%[[I]], %[[J]], %[[N]]) : !posenc.coord, !posenc.coord, !posenc.table<batch> {
// CHECK:   arith.cmpf ole
// CHECK:   arith.cmpf olt
// CHECK:   arith.ori
posenc.kernel @prefix heads(2) head_dim(4) mask(#posenc.prefix)

// CHECK-LABEL: @segments
// CHECK: posenc.position query law(#posenc.position_tensor<name = "segment_ids">)
// CHECK: arith.cmpf oeq
posenc.kernel @segments heads(2) head_dim(4) mask(#posenc.segments)

// CHECK-LABEL: @permutation
// CHECK: arith.cmpf ole
posenc.kernel @permutation heads(2) head_dim(4) mask(#posenc.permutation)
// CHECK-LABEL: @permutation_masked
// CHECK: arith.cmpf olt
posenc.kernel @permutation_masked heads(2) head_dim(4) mask(#posenc.permutation<self = masked>)

// CHECK-LABEL: @group
// CHECK: posenc.table law(#posenc.constants<[0.000000e+00, 0.000000e+00, 4.000000e+00, 4.000000e+00]>) : !posenc.table<head>
// CHECK: posenc.select {{.*}} where
posenc.kernel @group heads(4) head_dim(4) mask(#posenc.group<size = 8>)

// Places after the shift, modulo the length.
// CHECK-LABEL: @group_wrap
// CHECK: ^bb0(%[[A:.*]]: f64, %[[B:.*]]: f64, %[[S:.*]]: f64):
// CHECK-NEXT:   %[[I:.*]] = arith.addf %[[A]], %[[S]] : f64
// CHECK-NEXT:   arith.constant 3.200000e+01 : f64
// CHECK-NEXT:   arith.constant 3.200000e+01 : f64
// CHECK-NEXT:   %[[T:.*]] = arith.divf %[[I]], %{{.*}} : f64
// CHECK-NEXT:   %[[F:.*]] = math.floor %[[T]] : f64
// CHECK-NEXT:   %[[M:.*]] = arith.mulf %{{.*}}, %[[F]] : f64
// CHECK-NEXT:   arith.subf %[[I]], %[[M]] : f64
// CHECK: arith.andi
posenc.kernel @group_wrap heads(4) head_dim(4) mask(#posenc.group<size = 8, wrap = 32>)

// CHECK-LABEL: @dense_mask
// CHECK: posenc.table law(#posenc.operand<"mask">) : !posenc.table<head, query, key>
// CHECK: arith.cmpf une
posenc.kernel @dense_mask heads(4) head_dim(4) mask(#posenc.dense_mask)

// Masks that all hold are applied one after the other.
// CHECK-LABEL: @all
// CHECK: %[[A:.*]] = posenc.select %{{.*}} mask(#posenc.window<left = 7>)
// CHECK: %[[B:.*]] = posenc.select %[[A]] where
// CHECK: posenc.normalize softmax %[[B]]
posenc.kernel @all heads(4) head_dim(4) mask(#posenc.all<[#posenc.window<left = 7>, #posenc.segments]>)

// Of masks one of which holds there is one region.
// CHECK-LABEL: @any
// CHECK: posenc.select
// CHECK-NOT: posenc.select
// CHECK:   arith.andi
// CHECK:   arith.ori
posenc.kernel @any heads(4) head_dim(4)
  mask(#posenc.any<[#posenc.segments, #posenc.all<[#posenc.causal, #posenc.dense_mask]>]>)
