// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combinations that have no meaning, each refused with its reason. What is wrong
// with one number or word alone is in invalid-*.mlir.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Keys of the future, for which a law has no value, or one that grows without bound.
//===----------------------------------------------------------------------===//

// alibi_c2: no mask
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = causal' would reward future keys, which this mask shows: state 'form = symmetric' or mask(#posenc.causal)}}
posenc.kernel @alibi_c2 heads(8) head_dim(8) encode [#posenc.alibi]

// -----

// alibi_c2: a mask that shows the future
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = causal' would reward future keys, which this mask shows: state 'form = symmetric' or mask(#posenc.causal)}}
posenc.kernel @alibi_c2_full heads(8) head_dim(8) mask(#posenc.full) encode [#posenc.alibi]

// -----

// alibi_c2
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' would reward future keys, which this mask shows: state 'form = symmetric' or mask(#posenc.causal)}}
posenc.kernel @alibi_c2_key heads(2) head_dim(4) encode [#posenc.alibi<form = key>]

// -----

// alibi_c2: what a preset stands for
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' would reward future keys}}
posenc.kernel @alibi_c2_preset heads(2) head_dim(4) encode [#posenc.alibi<preset = "hf-falcon">]

// -----

// xpos_c2
// expected-error@below {{expects a mask that hides future keys with #posenc.xpos, whose factor grows with their distance: state mask(#posenc.causal)}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.xpos]

// -----

// rerope_c2
// expected-error@below {{expects a mask that hides future keys with #posenc.rerope, which has no distance for them: state mask(#posenc.causal)}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rerope]

// -----

// self_extend_c1
// expected-error@below {{expects a mask that hides future keys with #posenc.self_extend, which has no distance for them}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.self_extend]

// -----

// transformer_xl_c3
// expected-error@below {{'posenc.kernel' op #posenc.transformer_xl needs a mask that hides future keys, such as mask(#posenc.causal): its distances are not defined for others; #posenc.xlnet's are}}
posenc.kernel @transformer_xl_c3 heads(2) head_dim(4) encode [#posenc.transformer_xl]

// -----

// complex_attention_c2
// expected-error@below {{'posenc.kernel' op #posenc.complex_attention needs a mask that hides future keys, such as mask(#posenc.causal): the code's distances are not defined for others}}
posenc.kernel @complex_attention_c2 heads(2) head_dim(4) encode [#posenc.complex_attention<positions = on>]

// -----

// cope_c2
// expected-error@below {{'posenc.kernel' op #posenc.cope needs a mask that hides future keys, such as mask(#posenc.causal): gates of future keys would count as distance}}
posenc.kernel @cope_c2 heads(2) head_dim(4) encode [#posenc.cope]

// -----

// fox_c1
// expected-error@below {{'posenc.kernel' op #posenc.fox needs a mask that hides future keys, such as mask(#posenc.causal): its bias would reward others}}
posenc.kernel @fox_c1 heads(2) head_dim(4) encode [#posenc.fox]

// -----

// retention_decay_c2
// expected-error@below {{'posenc.kernel' op #posenc.retention_decay needs a mask that hides future keys, such as mask(#posenc.causal): scores of others would grow}}
posenc.kernel @retention_decay_c2 heads(2) head_dim(4) encode [#posenc.retention_decay]

// -----

// stick_breaking_c1
// expected-error@below {{'posenc.kernel' op #posenc.stick_breaking needs a mask that hides future keys, such as mask(#posenc.causal): the nearest key before the query takes its piece first}}
posenc.kernel @stick_breaking_c1 heads(2) head_dim(4) encode [#posenc.stick_breaking]

// -----

// retention_c2
// expected-error@below {{'posenc.kernel' op #posenc.retention needs mask(#posenc.causal) and positions(#posenc.iota): its decay is divided by sums over all keys before the query}}
posenc.kernel @retention_c2 heads(2) head_dim(4) mask(#posenc.window<left = 3>) encode [#posenc.retention]

// -----

// group_c3: tokens that wrap around see their future
// expected-error@below {{expects a mask that hides future keys with #posenc.xpos}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.group<size = 8, wrap = 16>) encode [#posenc.xpos]

// -----

//===----------------------------------------------------------------------===//
// Constants of a row, which a softmax alone does not see.
//===----------------------------------------------------------------------===//

// alibi_c5: a sink sees the constant of a row
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.attention_sink sees: state 'form = causal'}}
posenc.kernel @alibi_c5 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.attention_sink]

// -----

// alibi_c5: so does a cap of biased scores, whatever comes first
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.softcap<site = after_bias> sees}}
posenc.kernel @alibi_c5_cap heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.softcap<site = after_bias>, #posenc.alibi<preset = "hf-falcon">]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.softmax_off_by_one sees: state 'form = causal'}}
posenc.kernel @alibi_c5_softmax_off_by_one heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.softmax_off_by_one]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.cope sees: state 'form = causal'}}
posenc.kernel @alibi_c5_cope heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.cope]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.dape sees: state 'form = causal'}}
posenc.kernel @alibi_c5_dape heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.dape]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.stick_breaking sees: state 'form = causal'}}
posenc.kernel @alibi_c5_stick_breaking heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.stick_breaking]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.retention sees: state 'form = causal'}}
posenc.kernel @alibi_c5_retention heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.retention]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.retention_decay sees: state 'form = causal'}}
posenc.kernel @alibi_c5_retention_decay heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.retention_decay]

// -----

// alibi_c5
// expected-error@below {{#posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.linear_attention sees: state 'form = causal'}}
posenc.kernel @alibi_c5_linear_attention heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.linear_attention]

// -----

//===----------------------------------------------------------------------===//
// Rotations that undo each other, and factors of a part of the channels.
//===----------------------------------------------------------------------===//

// rope_c7: two pairings of the same channels, with a gain between them
// expected-error@below {{expects rotations of the same channels to have the same pairs, but those of #posenc.rope and #posenc.rope<pairing = interleaved, name = "again"> differ: one would turn pairs that the other has mixed}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope, #posenc.qk_norm<gain = channel>, #posenc.rope<pairing = interleaved, name = "again">]

// -----

// rope_c7: inside another encoding, in a part of the head
// expected-error@below {{expects rotations of the same channels to have the same pairs, but those of #posenc.rope<dims = 4> and #posenc.rope<pairing = interleaved, dims = 6, placement = last> differ}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.rope<dims = 4>, #posenc.xpos<rope = <dims = 6, pairing = interleaved, placement = last>>]

// -----

// rope_c7: halves of other ranges
// expected-error@below {{expects rotations of the same channels to have the same pairs}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 4>, #posenc.rope<name = "all">]

// -----

// rope_c8: a factor of the rotated channels is no scale of all
// expected-error@below {{expects a factor of all channels with 'factor_site = scale' of #posenc.rope, which turns a part of the head: the factor of #posenc.yarn<factor = 4.000000e+00> is one of rotated channels; state 'attention_factor' or 'factor_site = rotation'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 4, factor_site = scale, scaling = #posenc.yarn<factor = 4.0>>]

// -----

// rope_c8: LongRoPE
// expected-error@below {{expects a factor of all channels with 'factor_site = scale' of #posenc.rope}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 4, factor_site = scale, scaling = #posenc.longrope<factor = 4.0, select = long, long_factor = [1, 2]>>]

// -----

// xpos: positions in two parts
// expected-error@below {{expects #posenc.xpos to scale every position, but its 'scaling' keeps the first ones}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.xpos<rope = <scaling = #posenc.longrope<long_factor = [1, 1, 1, 1], select = long, keep_first = 4>>>]

// -----

// proportional_c2
// expected-error@below {{expects a rotation of the whole head with #posenc.proportional, whose pairs are those of the head, but got 4 of 8 channels}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 4, scaling = #posenc.proportional<fraction = 0.5>>]

// -----

// rerope_c3
// expected-error@below {{expects one encoding that splits the dot product by distance, but #posenc.rerope is not the only one}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.rerope, #posenc.self_extend<rope = <name = "r">>]

// -----

//===----------------------------------------------------------------------===//
// Axes that positions do not have, and pairs without an axis.
//===----------------------------------------------------------------------===//

// mrope_c1: sum
// expected-error@below {{expects the 'sections' of #posenc.mrope to add up to the 4 rotated pairs, but got 6}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [2, 2, 2]>]

// -----

// mrope_c2
// expected-error@below {{expects positions of three axes (t, h, w) or of one (text) with #posenc.mrope, but got 2}}
posenc.kernel @k heads(8) head_dim(8) positions(#posenc.position_tensor<axes = 2>) encode [#posenc.mrope<sections = [2, 1, 1]>]

// -----

// axial_rope_c4: no grid
// expected-error@below {{expects positions of two axes (row, column) without 'grid_width' of #posenc.axial_rope, but got 1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope]

// -----

// axial_rope_c4: two
// expected-error@below {{expects positions of one axis with 'grid_width' of #posenc.axial_rope, but got 2}}
posenc.kernel @k heads(8) head_dim(8) positions(#posenc.position_tensor<axes = 2>) encode [#posenc.axial_rope<grid_width = 4>]

// -----

// axial_rope_c3
// expected-error@below {{expected no 'class_tokens' or 'grid_height' of #posenc.axial_rope without 'grid_width': the positions of tokens that are not of the grid are 0}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<class_tokens = 1>]

// -----

// mixed_rope_c2: rows without columns
// expected-error@below {{expected no 'class_tokens' or 'grid_height' of #posenc.mixed_rope without 'grid_width'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mixed_rope<grid_height = 4>]

// -----

//===----------------------------------------------------------------------===//
// Formulas that divide by zero or take its logarithm.
//===----------------------------------------------------------------------===//

// ntk_c2
// expected-error@below {{expects more than 2 rotated channels with #posenc.ntk: its exponent is n / (n - 2), and one pair can only keep its frequency}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 2, scaling = #posenc.ntk<alpha = 2.0>>]

// -----

// dynamic_ntk_c2
// expected-error@below {{expects more than 2 rotated channels with #posenc.dynamic_ntk: its exponent is n / (n - 2), and one pair can only keep its frequency}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 2, scaling = #posenc.dynamic_ntk<factor = 2.0>>]

// -----

// yarn_c2
// expected-error@below {{expects a base above 1 with #posenc.yarn, whose ramp divides by its logarithm, but got 1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 1.0, scaling = #posenc.yarn<factor = 2.0>>]

// -----

// dynamic_yarn_c2
// expected-error@below {{expects a base above 1 with #posenc.dynamic_yarn, whose ramp divides by its logarithm, but got 1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 1.0, attention_factor = 1.0, scaling = #posenc.dynamic_yarn>]

// -----

// llama3_c2
// expected-error@below {{expected 'high_freq_factor' of #posenc.llama3 to be greater than 'low_freq_factor', since the blend divides by their difference: equal ones need 'step = true', but got 1.000000e+00 and 1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.llama3<high_freq_factor = 1.0>>]

// -----

// llama3_c2: a step between two factors
// expected-error@below {{expected 'high_freq_factor' of #posenc.llama3 to be 'low_freq_factor' with 'step = true', which has no blend between them, but got 4.000000e+00 and 1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.llama3<step = true>>]

// -----

// longrope_c4: which divisors
// expected-error@below {{expected 'select = long' and a 'factor' above 1 of #posenc.longrope beside 'interpolate = true', which grows from 1 to the long divisors}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<factor = 2.0, interpolate = true>>]

// -----

// longrope_c4: 1 / (factor - 1)
// expected-error@below {{expected 'select = long' and a 'factor' above 1 of #posenc.longrope beside 'interpolate = true'}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<select = long, interpolate = true>>]

// -----

// rope_c6
// expected-error@below {{expects more than one rotated pair with 'exponent = linspace' of #posenc.rope, which divides by n - 1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 2, exponent = linspace>]

// -----

// fope_c2
// expected-error@below {{expected 'length' of #posenc.fope to be 0 or at least 7, since no frequency makes a whole turn within less, but got 6}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.fope<length = 6>]

// -----

// swin_v2_bias_c2: a window of one row
// expected-error@below {{expected the sides of the window that the network of #posenc.swin_v2_bias was trained for to exceed 1, since offsets are divided by side - 1: state 'pretrained_height', or 'form = folded'}}
posenc.kernel @swin_v2_bias_c2_one heads(2) head_dim(4) encode [#posenc.swin_v2_bias<height = 1>]

// -----

// swin_v2_bias_c2: a window of one column in pretraining
// expected-error@below {{since offsets are divided by side - 1: state 'pretrained_width'}}
posenc.kernel @swin_v2_bias_c2_pretrained heads(2) head_dim(4) encode [#posenc.swin_v2_bias<pretrained_width = 1>]

// -----

// tener_c2
// expected-error@below {{'posenc.kernel' op expected the kernel's 'head_dim' to be at least 4 for #posenc.tener with 'exponent = half_minus_one', which divides by head_dim / 2 - 1, but got 2}}
posenc.kernel @tener_c2 heads(2) head_dim(2) encode [#posenc.tener]

// -----

// yarn_c1
// expected-error@below {{expected 'beta_fast' of #posenc.yarn to be greater than 'beta_slow', since the ramp lies between them, but got 1.000000e+00 and 1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.yarn<beta_fast = 1.0>>]

// -----

//===----------------------------------------------------------------------===//
// Numbers that depend on the call where a constant must stand, and those that say the same twice.
//===----------------------------------------------------------------------===//

// dynamic_yarn_c3, rope_c9
// expected-error@below {{expected 'attention_factor' of #posenc.rope beside #posenc.dynamic_yarn, whose own factor grows with the length of the call: state that of the longest call, or 1.0 for none}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.dynamic_yarn>]

// -----

// rope_bias_c1: rope
// expected-error@below {{expected no 'rope' of #posenc.rope_bias with 'form = vectors': the rotation is an encoding of its own}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope_bias<rope = #posenc.rope>]

// -----

// rope_bias_c1: operand
// expected-error@below {{expected the 'rope' of #posenc.rope_bias to have frequencies that are known when compiled}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope_bias<form = inside, rope = <frequencies = operand>>]

// -----

// rope_bias_c1: length
// expected-error@below {{expects the 'rope' of #posenc.rope_bias to have frequencies that are known when compiled, but its 'scaling' is #posenc.dynamic_linear}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope_bias<form = inside, rope = <scaling = #posenc.dynamic_linear>>]

// -----

// rope_c5
// expected-error@below {{expected no 'base', 'exponent' or 'scaling' of #posenc.rope beside frequencies that the caller passes in: they say everything}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<frequencies = operand, scaling = #posenc.ntk>]

// -----

// mrope_c3
// expected-error@below {{expected the 'rope' of #posenc.mrope to have one list of frequencies for all heads}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [2, 1, 1], rope = <frequencies = per_head>>]

// -----

// alibi_c3
// expected-error@below {{expected #posenc.alibi with 'rounding = bf16' to state 'form = key': positions are rounded, not distances}}
posenc.kernel @alibi_c3 heads(2) head_dim(4) encode [#posenc.alibi<form = symmetric, rounding = bf16>]

// -----

// alibi_c6
// expected-error@below {{expected #posenc.alibi with 'slopes = operands' not to state 'max_exponent', 'slope_scale', 'rounding' or 'preset', which make slopes}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.alibi<form = symmetric, slopes = operands, max_exponent = 4.0>]

// -----

// kerple_c2
// expected-error@below {{expected 'kind = power' of #posenc.kerple beside 'weight = on', since no published code multiplies by another kernel}}
posenc.kernel @kerple_c2 heads(2) head_dim(4) encode [#posenc.kerple<weight = on>]

// -----

// kerple_c3
// expected-error@below {{expected 'bias' or 'weight' of #posenc.kerple to be on: without both it does nothing}}
posenc.kernel @kerple_c3 heads(2) head_dim(4) encode [#posenc.kerple<bias = off>]

// -----

// fire_c3
// expected-error@below {{expected #posenc.fire not to state 'c' and 'length' beside 'scalars = operands'}}
posenc.kernel @fire_c3 heads(2) head_dim(4) encode [#posenc.fire<c = 0.5, scalars = operands>]

// -----

// deberta_c3
// expected-error@below {{expected #posenc.deberta to state 'clamp' beside 'buckets' only}}
posenc.kernel @deberta_c3 heads(2) head_dim(4) encode [#posenc.deberta<clamp = hf>]

// -----

// grid_bias_c2
// expected-error@below {{expected 'width' of #posenc.grid_bias to be from 1 to 1048576, but got 0}}
posenc.kernel @grid_bias_c2 heads(2) head_dim(4) encode [#posenc.grid_bias]

// -----

// grid_bias_c2
// expected-error@below {{expected #posenc.grid_bias not to state 'width' beside 'coordinates = tensor'}}
posenc.kernel @grid_bias_c2_tensor heads(2) head_dim(4) encode [#posenc.grid_bias<width = 4, coordinates = tensor>]

// -----

// complex_attention_c1: nothing to project
// expected-error@below {{expected 'model_dim' of #posenc.complex_attention beside 'positions = on' only}}
posenc.kernel @complex_attention_c1_alone heads(2) head_dim(4) encode [#posenc.complex_attention<model_dim = 4>]

// -----

//===----------------------------------------------------------------------===//
// Two owners of the scale.
//===----------------------------------------------------------------------===//

// kernel_c8: two owners of the scale
// expected-error@below {{expects one owner of the scale, but the 'scale' clause fixes it to 1.000000e+00 and encoding 'rope' to}}
posenc.kernel @k heads(8) head_dim(8) scale(1.0) encode [#posenc.rope<factor_site = scale, attention_factor = 1.5>]

// -----

// kernel_c8: a learned scale is the only one
// expected-error@below {{expects one owner of the scale, but the 'scale' clause fixes it to 2.000000e+00 and encoding 'qk_norm' to 1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) scale(2.0) encode [#posenc.qk_norm<score_scale = learned>]

// -----

// kernel_c8: TUPE fixes the scale
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but the 'scale' clause fixes it to 1.000000e+00 and encoding 'tupe' to}}
posenc.kernel @tupe_scale heads(2) head_dim(4) scale(1.0) encode [#posenc.tupe]

// -----

// kernel_c8: two encodings fix the scale
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but encoding 'tener' fixes it to 1.000000e+00 and encoding 'deberta' to}}
posenc.kernel @two_scales heads(2) head_dim(4) encode [#posenc.tener, #posenc.deberta]

// -----

// kernel_c8: complex products have a scale of their own
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but the 'scale' clause fixes it to 5.000000e-01 and encoding 'complex_attention' to}}
posenc.kernel @complex_attention_scale heads(2) head_dim(4) scale(0.5) encode [#posenc.complex_attention]

// -----

// kernel_c8: linear attention has no scale
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but the 'scale' clause fixes it to 5.000000e-01 and encoding 'linear_attention' to 1.000000e+00}}
posenc.kernel @linear_attention_scale heads(2) head_dim(4) scale(0.5) encode [#posenc.linear_attention]

// -----

//===----------------------------------------------------------------------===//
// Two that make the weights, and weights without the keys that they need.
//===----------------------------------------------------------------------===//

// attention_sink_c2
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.stick_breaking and #posenc.attention_sink}}
posenc.kernel @attention_sink_c2 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.stick_breaking, #posenc.attention_sink]

// -----

// softmax_off_by_one_c1
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.attention_sink and #posenc.softmax_off_by_one}}
posenc.kernel @softmax_off_by_one_c1 heads(2) head_dim(4) encode [#posenc.attention_sink, #posenc.softmax_off_by_one]

// -----

// stick_breaking_c2
// expected-error@below {{'posenc.kernel' op #posenc.stick_breaking with 'remainder = value' needs bottom_right alignment, which says which value is the query's own}}
posenc.kernel @stick_breaking_c2 heads(2) head_dim(4) mask(#posenc.causal<top_left>) encode [#posenc.stick_breaking<remainder = value>]

// -----

// stick_breaking_c3
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.retention and #posenc.stick_breaking}}
posenc.kernel @stick_breaking_c3 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention, #posenc.stick_breaking]

// -----

// retention_c3
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.attention_sink and #posenc.retention}}
posenc.kernel @retention_c3 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.attention_sink, #posenc.retention]

// -----

// linear_attention_c1
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.softmax_off_by_one and #posenc.linear_attention}}
posenc.kernel @linear_attention_c1 heads(2) head_dim(4) encode [#posenc.softmax_off_by_one, #posenc.linear_attention]

// -----

// linear_attention_c3: not every row sees the first key
// expected-error@below {{'posenc.kernel' op expects mask(#posenc.full) or mask(#posenc.causal) with 'epsilon' of #posenc.linear_attention, which is added once for each row, at the first key}}
posenc.kernel @linear_attention_c3 heads(2) head_dim(4) mask(#posenc.window<left = 3>) encode [#posenc.linear_attention<epsilon = 1.0e-6>]

// -----

//===----------------------------------------------------------------------===//
// Shapes and alignments that do not meet.
//===----------------------------------------------------------------------===//

// nezha_c2
// expected-error@below {{'posenc.kernel' op expected the kernel's 'value_dim' (8) to be its 'head_dim' (4), since #posenc.nezha adds one table to keys and values: state 'values = off'}}
posenc.kernel @nezha_c2 heads(2) head_dim(4) value_dim(8) encode [#posenc.nezha]

// -----

// kernel_c6
// expected-error@below {{'posenc.kernel' op expects 'positions' and 'mask' to have the same alignment, but they have bottom_right and top_left}}
posenc.kernel @kernel_c6 heads(8) head_dim(8) mask(#posenc.causal<top_left>) positions(#posenc.iota)

// -----

// kernel_c6: a mask's alignment
// expected-error@below {{expects 'positions' and 'mask' to have the same alignment, but they have bottom_right and top_left}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.prefix<align = top_left>) positions(#posenc.iota)

// -----

// all_c2
// expected-error@below {{expected the masks of #posenc.all to have one alignment, but got bottom_right and top_left}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.all<[#posenc.causal, #posenc.segments<align = top_left>]>)

// -----

// group_c2, inside others
// expected-error@below {{expects an even number of heads with #posenc.group, which shifts the groups of half of them, but got 3}}
posenc.kernel @k heads(3) head_dim(8) mask(#posenc.any<[#posenc.all<[#posenc.group<size = 8>]>, #posenc.causal]>)
