// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rotary, remapping and norm encodings and masks of level 1 refuse.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// linear_scaling_c1
// expected-error@below {{expected 'factor' of #posenc.linear_scaling to be positive and finite, but got 0.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.linear_scaling<factor = 0.0>>]

// -----

// dynamic_linear_c1
// expected-error@below {{expected 'original_length' of #posenc.dynamic_linear to be from 1 to 2^30, but got 0}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.dynamic_linear<original_length = 0>>]

// -----

// ntk_c1
// expected-error@below {{expected 'alpha' of #posenc.ntk to be positive and finite, but got -1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.ntk<alpha = -1.0>>]

// -----

// ntk_c2
// expected-error@below {{expects more than 2 rotated channels with #posenc.ntk: its exponent is n / (n - 2), and one pair can only keep its frequency}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 2, scaling = #posenc.ntk<alpha = 2.0>>]

// -----

// dynamic_ntk_c1
// expected-error@below {{expected 'factor' of #posenc.dynamic_ntk to be at least 1 and finite, but got 5.000000e-01}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 0.5>>]

// -----

// dynamic_ntk_c2
// expected-error@below {{expects more than 2 rotated channels with #posenc.dynamic_ntk: its exponent is n / (n - 2), and one pair can only keep its frequency}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 2, scaling = #posenc.dynamic_ntk<factor = 2.0>>]

// -----

// yarn_c1
// expected-error@below {{expected 'beta_fast' of #posenc.yarn to be greater than 'beta_slow', since the ramp lies between them, but got 1.000000e+00 and 1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.yarn<beta_fast = 1.0>>]

// -----

// yarn_c2
// expected-error@below {{expects a base above 1 with #posenc.yarn, whose ramp divides by its logarithm, but got 1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 1.0, scaling = #posenc.yarn<factor = 2.0>>]

// -----

// yarn_c3
// expected-error@below {{expected both 'mscale' and 'mscale_all_dim' of #posenc.yarn, or neither: only their ratio counts}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.yarn<mscale = 1.0>>]

// -----

// yarn_c4: unknown
// expected-error@below {{expects 'preset' of #posenc.yarn to be one of 'gpt-oss', 'deepseek-v3', but got 'gpt'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.yarn<preset = "gpt">>]

// -----

// yarn_c4: not alone
// expected-error@below {{expects no parameters of #posenc.yarn beside 'preset', which states them}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.yarn<factor = 2.0, preset = "gpt-oss">>]

// -----

// longrope_c1
// expected-error@below {{expected 'original_length' of #posenc.longrope to be from 2 to 2^30, but got 1}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<original_length = 1>>]

// -----

// longrope_c2: number
// expected-error@below {{expects 'short_factor' of #posenc.longrope to have a divisor for each of the 4 rotated pairs, but got 2}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<short_factor = [1, 2]>>]

// -----

// longrope_c2: missing
// expected-error@below {{expects 'long_factor' of #posenc.longrope to have a divisor for each of the 4 rotated pairs, but got 0}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<short_factor = [1, 2, 3, 4]>>]

// -----

// longrope_c2: sign
// expected-error@below {{expects the divisors in 'long_factor' of #posenc.longrope to be positive, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<long_factor = [1, 2, 0, 4], select = long>>]

// -----

// longrope_c3
// expected-error@below {{expected 'keep_first' of #posenc.longrope to be from 0 to 2^30, but got -1}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.longrope<keep_first = -1>>]

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

// dynamic_yarn_c1: factor
// expected-error@below {{expected 'factor' of #posenc.dynamic_yarn to be at least 1 and finite, but got 5.000000e-01}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<attention_factor = 1.0, scaling = #posenc.dynamic_yarn<factor = 0.5>>]

// -----

// dynamic_yarn_c1: ramp
// expected-error@below {{expected 'beta_fast' of #posenc.dynamic_yarn to be greater than 'beta_slow', since the ramp lies between them, but got 1.000000e+00 and 1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<attention_factor = 1.0, scaling = #posenc.dynamic_yarn<beta_fast = 1.0>>]

// -----

// dynamic_yarn_c2
// expected-error@below {{expects a base above 1 with #posenc.dynamic_yarn, whose ramp divides by its logarithm, but got 1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 1.0, attention_factor = 1.0, scaling = #posenc.dynamic_yarn>]

// -----

// dynamic_yarn_c3, rope_c9
// expected-error@below {{expected 'attention_factor' of #posenc.rope beside #posenc.dynamic_yarn, whose own factor grows with the length of the call: state that of the longest call, or 1.0 for none}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.dynamic_yarn>]

// -----

// llama3_c1
// expected-error@below {{expected 'low_freq_factor' of #posenc.llama3 to be positive and finite, but got 0.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.llama3<low_freq_factor = 0.0>>]

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

// proportional_c1
// expected-error@below {{expected 'fraction' of #posenc.proportional to be from 0 to 1, but got 1.500000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.proportional<fraction = 1.5>>]

// -----

// proportional_c2
// expected-error@below {{expects a rotation of the whole head with #posenc.proportional, whose pairs are those of the head, but got 4 of 8 channels}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 4, scaling = #posenc.proportional<fraction = 0.5>>]

// -----

// ntk_mixed_c1
// expected-error@below {{expected 'exponent' of #posenc.ntk_mixed to be positive and finite, but got 0.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.ntk_mixed<exponent = 0.0>>]

// -----

// power_scaling_c1
// expected-error@below {{expected 'kappa' of #posenc.power_scaling to be finite and not negative, but got -1.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.power_scaling<kappa = -1.0>>]

// -----

// truncated_scaling_c1
// expected-error@below {{expected 'low', 'high' and 'rho' of #posenc.truncated_scaling to be finite with 0 <= low <= high, but got 1.000000e+00, 5.000000e-01 and 0.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.truncated_scaling<low = 1.0, high = 0.5>>]

// -----

// rope_c4
// expected-error@below {{expected 'attention_factor' of #posenc.rope to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<attention_factor = -1.0>]

// -----

// rope_c5
// expected-error@below {{expected no 'base', 'exponent' or 'scaling' of #posenc.rope beside frequencies that the caller passes in: they say everything}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<frequencies = operand, scaling = #posenc.ntk>]

// -----

// rope_c6
// expected-error@below {{expects more than one rotated pair with 'exponent = linspace' of #posenc.rope, which divides by n - 1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 2, exponent = linspace>]

// -----

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

// kernel_c8: two owners of the scale
// expected-error@below {{expects one owner of the scale, but the 'scale' clause fixes it to 1.000000e+00 and encoding 'rope' to}}
posenc.kernel @k heads(8) head_dim(8) scale(1.0) encode [#posenc.rope<factor_site = scale, attention_factor = 1.5>]

// -----

// xpos_c1
// expected-error@below {{expected 'scale_base' of #posenc.xpos to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.xpos<scale_base = 0.0>]

// -----

// xpos_c2
// expected-error@below {{expects a mask that hides future keys with #posenc.xpos, whose factor grows with their distance: state mask(#posenc.causal)}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.xpos]

// -----

// xpos: positions in two parts
// expected-error@below {{expects #posenc.xpos to scale every position, but its 'scaling' keeps the first ones}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.xpos<rope = <scaling = #posenc.longrope<long_factor = [1, 1, 1, 1], select = long, keep_first = 4>>>]

// -----

// mrope_c1: number
// expected-error@below {{expected 'sections' of #posenc.mrope to be three numbers from 0 to 65536, but got array<i64: 2, 2>}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [2, 2]>]

// -----

// mrope_c1: numbers whose sum does not fit
// expected-error@below {{expected 'sections' of #posenc.mrope to be three numbers from 0 to 65536, but got array<i64: 9223372036854775807, 9223372036854775807, 6>}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [9223372036854775807, 9223372036854775807, 6]>]

// -----

// mrope_c1: sum
// expected-error@below {{expects the 'sections' of #posenc.mrope to add up to the 4 rotated pairs, but got 6}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [2, 2, 2]>]

// -----

// mrope_c2
// expected-error@below {{expects positions of three axes (t, h, w) or of one (text) with #posenc.mrope, but got 2}}
posenc.kernel @k heads(8) head_dim(8) positions(#posenc.position_tensor<axes = 2>) encode [#posenc.mrope<sections = [2, 1, 1]>]

// -----

// mrope_c3
// expected-error@below {{expected the 'rope' of #posenc.mrope to have one list of frequencies for all heads}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [2, 1, 1], rope = <frequencies = per_head>>]

// -----

// axial_rope_c1
// expected-error@below {{expected 'base' of #posenc.axial_rope to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<base = 0.0, grid_width = 4>]

// -----

// axial_rope_c2
// expected-error@below {{expected 'dims' of #posenc.axial_rope to be a multiple of 4 and positive, or 0 for the whole head, but got 6}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<dims = 6, grid_width = 4>]

// -----

// axial_rope_c3
// expected-error@below {{expected no 'class_tokens' or 'grid_height' of #posenc.axial_rope without 'grid_width': the positions of tokens that are not of the grid are 0}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<class_tokens = 1>]

// -----

// axial_rope_c3: rows
// expected-error@below {{expected 'grid_height' of #posenc.axial_rope to be from 0 to 2^24, but got -1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<grid_width = 4, grid_height = -1>]

// -----

// mixed_rope_c2: rows without columns
// expected-error@below {{expected no 'class_tokens' or 'grid_height' of #posenc.mixed_rope without 'grid_width'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mixed_rope<grid_height = 4>]

// -----

// axial_rope_c4: no grid
// expected-error@below {{expects positions of two axes (row, column) without 'grid_width' of #posenc.axial_rope, but got 1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope]

// -----

// axial_rope_c4: two
// expected-error@below {{expects positions of one axis with 'grid_width' of #posenc.axial_rope, but got 2}}
posenc.kernel @k heads(8) head_dim(8) positions(#posenc.position_tensor<axes = 2>) encode [#posenc.axial_rope<grid_width = 4>]

// -----

// axial_rope_c5: unknown
// expected-error@below {{expects 'preset' of #posenc.axial_rope to be one of 'rope-vit', 'qwen2-vl-vision', 'pixtral', 'llama4-vision', but got 'vit'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<grid_width = 4, preset = "vit">]

// -----

// axial_rope_c5: not alone
// expected-error@below {{expects no parameters of #posenc.axial_rope beside 'preset', which states them}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<base = 10.0, grid_width = 4, preset = "pixtral">]

// -----

// axial_rope_c5: where the class token is
// expected-error@below {{expects 'grid_height' of #posenc.axial_rope beside 'preset = "llama4-vision"', whose class token stands behind the grid}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<grid_width = 4, preset = "llama4-vision">]

// -----

// mixed_rope_c1
// expected-error@below {{expected 'dims' of #posenc.mixed_rope (10) to be at most the kernel's 'head_dim' (8)}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mixed_rope<dims = 10, grid_width = 4>]

// -----

// fope_c1
// expected-error@below {{expected 'base' of #posenc.fope to be positive and finite, but got -1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.fope<base = -1.0>]

// -----

// fope_c2
// expected-error@below {{expected 'length' of #posenc.fope to be 0 or at least 7, since no frequency makes a whole turn within less, but got 6}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.fope<length = 6>]

// -----

// fope_c3
// expected-error@below {{expects 'outputs' of #posenc.fope to be from 1 to 'head_dim' / 2 (4), or 0 for half of that, but got 5}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.fope<outputs = 5>]

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

// rerope_c1
// expected-error@below {{expected 'window' of #posenc.rerope to be from 1 to 2^30, but got 0}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.rerope<window = 0>]

// -----

// rerope_c2
// expected-error@below {{expects a mask that hides future keys with #posenc.rerope, which has no distance for them: state mask(#posenc.causal)}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rerope]

// -----

// rerope_c3
// expected-error@below {{expects one encoding that splits the dot product by distance, but #posenc.rerope is not the only one}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.rerope, #posenc.self_extend<rope = <name = "r">>]

// -----

// leaky_rerope_c1
// expected-error@below {{expected 'window' of #posenc.leaky_rerope to be from 1 to 2^30, but got 0}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.leaky_rerope<window = 0>]

// -----

// leaky_rerope_c2
// expected-error@below {{expected 'leak' of #posenc.leaky_rerope to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.leaky_rerope<leak = 0.0>]

// -----

// self_extend_c1
// expected-error@below {{expects a mask that hides future keys with #posenc.self_extend, which has no distance for them}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.self_extend]

// -----

// self_extend_c2
// expected-error@below {{expected 'group' of #posenc.self_extend to be from 1 to 2^30, but got 0}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.self_extend<group = 0>]

// -----

// the inner rotation
// expected-error@below {{expected 'dims' of #posenc.rope (10) to be at most the kernel's 'head_dim' (8)}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.self_extend<rope = <dims = 10>>]

// -----

// log_n_c1
// expected-error@below {{expected 'length' of #posenc.log_n to be from 2 to 2^30, but got 1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.log_n<length = 1>]

// -----

// query_temperature_c1
// expected-error@below {{expected 'attn_scale' of #posenc.query_temperature to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.query_temperature<attn_scale = -1.0>]

// -----

// qk_norm_c1
// expected-error@below {{expected 'epsilon' of #posenc.qk_norm to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.qk_norm<epsilon = -1.0>]

// -----

// qk_norm_c2
// expected-error@below {{expected a 'gain' of #posenc.qk_norm beside 'unit_offset' and 'bias'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.qk_norm<unit_offset = true>]

// -----

// qk_norm_c3
// expected-error@below {{expected 'gain = head_channel' of #posenc.qk_norm with 'over = all_heads', whose weights are of all heads}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.qk_norm<over = all_heads, gain = channel>]

// -----

// qk_norm_c4: unknown
// expected-error@below {{expects 'preset' of #posenc.qk_norm to be one of 'qwen3', 'gemma3', 'olmo2', 'llama4', 'persimmon', 'cohere', but got 'qwen'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.qk_norm<preset = "qwen">]

// -----

// qk_norm_c4: not alone
// expected-error@below {{expects no parameters of #posenc.qk_norm beside 'preset', which states them}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.qk_norm<gain = channel, preset = "qwen3">]

// -----

// kernel_c8: a learned scale is the only one
// expected-error@below {{expects one owner of the scale, but the 'scale' clause fixes it to 2.000000e+00 and encoding 'qk_norm' to 1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) scale(2.0) encode [#posenc.qk_norm<score_scale = learned>]

// -----

// key_norm_c1
// expected-error@below {{expected 'epsilon' of #posenc.key_norm to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.key_norm<epsilon = -1.0>]

// -----

// cosine_attention_c1
// expected-error@below {{expected 'epsilon' of #posenc.cosine_attention to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.cosine_attention<epsilon = -1.0>]

// -----

// cosine_attention_c2
// expected-error@below {{expected 'limit' of #posenc.cosine_attention to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.cosine_attention<limit = 0.0>]

// -----

// all_c1: empty
// expected-error@below {{expected #posenc.all to hold at least one mask}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.all<[]>)

// -----

// any_c1
// expected-error@below {{expected #posenc.any to hold at least one mask}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.any<[]>)

// -----

// all_c1: masks
// expected-error@below {{expected #posenc.any to hold masks, but got 3 : i64}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.any<[#posenc.causal, 3]>)

// -----

// all_c2
// expected-error@below {{expected the masks of #posenc.all to have one alignment, but got bottom_right and top_left}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.all<[#posenc.causal, #posenc.segments<align = top_left>]>)

// -----

// group_c1: size
// expected-error@below {{expected 'size' of #posenc.group to be from 1 to 2^30, but got 0}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.group<size = 0>)

// -----

// group_c1: odd
// expected-error@below {{expected 'size' of #posenc.group to be even, since 'shift' is half of it, but got 7}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.group<size = 7>)

// -----

// group_c1: shift
// expected-error@below {{expected 'shift' of #posenc.group to be from 0 to 'size' - 1, or -1 for half of it, but got 8}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.group<size = 8, shift = 8>)

// -----

// group_c3: wrap
// expected-error@below {{expected 'wrap' of #posenc.group to be 0 or a multiple of 'size' (8) up to 2^30, but got 20}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.group<size = 8, wrap = 20>)

// -----

// group_c2, inside others
// expected-error@below {{expects an even number of heads with #posenc.group, which shifts the groups of half of them, but got 3}}
posenc.kernel @k heads(3) head_dim(8) mask(#posenc.any<[#posenc.all<[#posenc.group<size = 8>]>, #posenc.causal]>)

// -----

// group_c3: tokens that wrap around see their future
// expected-error@below {{expects a mask that hides future keys with #posenc.xpos}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.group<size = 8, wrap = 16>) encode [#posenc.xpos]

// -----

// kernel_c4: a mask's operand
// expected-error@below {{expects the names of operands to differ, but 'bias' names two tensors}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.segments<name = "bias">) encode [#posenc.dense_bias]

// -----

// kernel_c6: a mask's alignment
// expected-error@below {{expects 'positions' and 'mask' to have the same alignment, but they have bottom_right and top_left}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.prefix<align = top_left>) positions(#posenc.iota)
