// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rotary, remapping and norm encodings and masks of level 1 refuse;
// combinations without a meaning are in meaningless.mlir.
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

// dynamic_ntk_c1
// expected-error@below {{expected 'factor' of #posenc.dynamic_ntk to be at least 1 and finite, but got 5.000000e-01}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 0.5>>]

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

// llama3_c1
// expected-error@below {{expected 'low_freq_factor' of #posenc.llama3 to be positive and finite, but got 0.000000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.llama3<low_freq_factor = 0.0>>]

// -----

// proportional_c1
// expected-error@below {{expected 'fraction' of #posenc.proportional to be from 0 to 1, but got 1.500000e+00}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'scaling'}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<scaling = #posenc.proportional<fraction = 1.5>>]

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

// xpos_c1
// expected-error@below {{expected 'scale_base' of #posenc.xpos to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.xpos<scale_base = 0.0>]

// -----

// mrope_c1: number
// expected-error@below {{expected 'sections' of #posenc.mrope to be three numbers from 0 to 65536, but got array<i64: 2, 2>}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [2, 2]>]

// -----

// mrope_c1: numbers whose sum does not fit
// expected-error@below {{expected 'sections' of #posenc.mrope to be three numbers from 0 to 65536, but got array<i64: 9223372036854775807, 9223372036854775807, 6>}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.mrope<sections = [9223372036854775807, 9223372036854775807, 6]>]

// -----

// axial_rope_c1
// expected-error@below {{expected 'base' of #posenc.axial_rope to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<base = 0.0, grid_width = 4>]

// -----

// axial_rope_c2
// expected-error@below {{expected 'dims' of #posenc.axial_rope to be a multiple of 4 and positive, or 0 for the whole head, but got 6}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<dims = 6, grid_width = 4>]

// -----

// axial_rope_c3: rows
// expected-error@below {{expected 'grid_height' of #posenc.axial_rope to be from 0 to 2^24, but got -1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.axial_rope<grid_width = 4, grid_height = -1>]

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

// fope_c3
// expected-error@below {{expects 'outputs' of #posenc.fope to be from 1 to 'head_dim' / 2 (4), or 0 for half of that, but got 5}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.fope<outputs = 5>]

// -----

// rerope_c1
// expected-error@below {{expected 'window' of #posenc.rerope to be from 1 to 2^30, but got 0}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.rerope<window = 0>]

// -----

// leaky_rerope_c1
// expected-error@below {{expected 'window' of #posenc.leaky_rerope to be from 1 to 2^30, but got 0}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.leaky_rerope<window = 0>]

// -----

// leaky_rerope_c2
// expected-error@below {{expected 'leak' of #posenc.leaky_rerope to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.leaky_rerope<leak = 0.0>]

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

// operand_window_c1
// expected-error@below {{expected 'right' of #posenc.operand_window to be from -1 to 2^30, but got -2}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.operand_window<right = -2>)

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

// kernel_c4: a mask's operand
// expected-error@below {{expects the names of operands to differ, but 'bias' names two tensors}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.segments<name = "bias">) encode [#posenc.dense_bias]
