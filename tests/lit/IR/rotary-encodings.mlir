// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotary, remapping and norm encodings and masks of level 1: parameters at their
// defaults are not printed, all else survives three round trips.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// CHECK-LABEL: @rope
// CHECK-SAME: encode [#posenc.rope<exponent = head_dim, scaling = #posenc.ntk<alpha = 2.000000e+00>, attention_factor = 1.500000e+00, factor_site = scale>]
posenc.kernel @rope heads(1) head_dim(8)
  encode [#posenc.rope<factor_site = scale, attention_factor = 1.5, exponent = head_dim, frequencies = law,
                       scaling = #posenc.ntk<alpha = 2>>]
// CHECK-LABEL: @inv_freq
// CHECK-SAME: #posenc.rope<frequencies = operand>, #posenc.rope<frequencies = per_head, name = "r">
posenc.kernel @inv_freq heads(1) head_dim(8)
  encode [#posenc.rope<frequencies = operand>, #posenc.rope<frequencies = per_head, name = "r">]

// CHECK-LABEL: @linear_scaling
// CHECK-SAME: scaling = #posenc.linear_scaling<factor = 4.000000e+00>
posenc.kernel @linear_scaling heads(1) head_dim(8) encode [#posenc.rope<scaling = #posenc.linear_scaling<factor = 4>>]
// CHECK-LABEL: @dynamic_linear
// CHECK-SAME: scaling = #posenc.dynamic_linear>
posenc.kernel @dynamic_linear heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.dynamic_linear<original_length = 2048>>]
// CHECK-LABEL: @dynamic_ntk
// CHECK-SAME: scaling = #posenc.dynamic_ntk<factor = 2.000000e+00, original_length = 4096>
posenc.kernel @dynamic_ntk heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2, original_length = 4096>>]
// CHECK-LABEL: @yarn
// CHECK-SAME: scaling = #posenc.yarn<factor = 4.000000e+00, original_length = 64, beta_fast = 1.600000e+01, beta_slow = 2.000000e+00, truncate = false, ramp = paper, mscale = 1.000000e+00, mscale_all_dim = 2.000000e+00>
posenc.kernel @yarn heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.yarn<factor = 4, original_length = 64, beta_fast = 16, beta_slow = 2,
    truncate = false, ramp = paper, mscale = 1, mscale_all_dim = 2>>]
// CHECK-LABEL: @yarn_preset
// CHECK-SAME: scaling = #posenc.yarn<preset = "gpt-oss">
posenc.kernel @yarn_preset heads(1) head_dim(8) encode [#posenc.rope<scaling = #posenc.yarn<preset = "gpt-oss">>]
// CHECK-LABEL: @longrope
// CHECK-SAME: scaling = #posenc.longrope<short_factor = [1.000000e+00, 2.000000e+00], long_factor = [3.000000e+00, 4.000000e+00], factor = 2.000000e+00, original_length = 8, attention = yarn, keep_first = 3>
posenc.kernel @longrope heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<short_factor = [1, 2.0], long_factor = [3, 4], factor = 2,
    original_length = 8, attention = yarn, keep_first = 3>>]
// CHECK-LABEL: @longrope_short
// CHECK-SAME: scaling = #posenc.longrope<short_factor = [1.000000e+00, 2.000000e+00], select = short>
posenc.kernel @longrope_short heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<short_factor = [1, 2], select = short>>]
// CHECK-LABEL: @llama3
// CHECK-SAME: scaling = #posenc.llama3>
posenc.kernel @llama3 heads(1) head_dim(8) encode [#posenc.rope<scaling = #posenc.llama3<factor = 8, low_freq_factor = 1>>]
// CHECK-LABEL: @other_scaling
// CHECK-SAME: #posenc.proportional<fraction = 5.000000e-01>
// CHECK-SAME: #posenc.ntk_mixed<factor = 8.000000e+00, exponent = 5.000000e-01>
// CHECK-SAME: #posenc.power_scaling<kappa = 1.000000e+00>
// CHECK-SAME: #posenc.truncated_scaling<low = 2.500000e-01, high = 5.000000e-01, rho = 1.000000e+00>
posenc.kernel @other_scaling heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.proportional<fraction = 0.5>>,
          #posenc.rope<scaling = #posenc.ntk_mixed<factor = 8, exponent = 0.5>, name = "b">,
          #posenc.rope<scaling = #posenc.power_scaling<kappa = 1>, name = "c">,
          #posenc.rope<scaling = #posenc.truncated_scaling<low = 0.25, high = 0.5, rho = 1>, name = "d">]

// CHECK-LABEL: @xpos
// CHECK-SAME: encode [#posenc.xpos<scale_base = 1.000000e+00, gamma = 5.000000e-01, centre = -1.000000e+00, rope = <dims = 4>, name = "x">]
posenc.kernel @xpos heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.xpos<scale_base = 1, centre = -1, gamma = 0.5, rope = #posenc.rope<dims = 4>, name = "x">]
// CHECK-LABEL: @mrope
// CHECK-SAME: encode [#posenc.mrope<sections = [1, 2, 1], layout = interleaved, rope = <base = 1.000000e+06>>]
posenc.kernel @mrope heads(1) head_dim(8)
  encode [#posenc.mrope<sections = [1, 2, 1], layout = interleaved, rope = <base = 1.0e6>>]
// CHECK-LABEL: @axial_rope
// CHECK-SAME: encode [#posenc.axial_rope<base = 1.000000e+01, pairing = half, dims = 4, placement = last, order = yx, layout = interleaved, exponent = strided, offset = 1, grid_width = 3, class_tokens = 1>]
posenc.kernel @axial_rope heads(1) head_dim(8)
  encode [#posenc.axial_rope<base = 10, pairing = half, dims = 4, placement = last, order = yx, layout = interleaved,
    exponent = strided, offset = 1, grid_width = 3, class_tokens = 1>]
// CHECK-LABEL: @axial_rope_preset
// CHECK-SAME: encode [#posenc.axial_rope<grid_width = 3, preset = "pixtral", name = "a">]
posenc.kernel @axial_rope_preset heads(1) head_dim(8)
  encode [#posenc.axial_rope<grid_width = 3, preset = "pixtral", name = "a">]
// CHECK-LABEL: @mixed_rope
// CHECK-SAME: encode [#posenc.mixed_rope<pairing = half, dims = 4, placement = last, grid_width = 3>]
posenc.kernel @mixed_rope heads(1) head_dim(8)
  encode [#posenc.mixed_rope<pairing = half, dims = 4, placement = last, grid_width = 3>]
// CHECK-LABEL: @fope
// CHECK-SAME: encode [#posenc.fope<base = 1.000000e+02, pairing = interleaved, length = 32, outputs = 3, padding = code>]
posenc.kernel @fope heads(1) head_dim(8)
  encode [#posenc.fope<base = 100, pairing = interleaved, length = 32, outputs = 3, padding = code>]
// CHECK-LABEL: @rope_bias
// CHECK-SAME: encode [#posenc.rope_bias<form = outside, rope = <base = 1.000000e+02>>]
posenc.kernel @rope_bias heads(1) head_dim(8) encode [#posenc.rope_bias<form = outside, rope = <base = 100>>]

// CHECK-LABEL: @remaps
// CHECK-SAME: encode [#posenc.rerope<window = 4>]
posenc.kernel @remaps heads(1) head_dim(8) mask(#posenc.causal) encode [#posenc.rerope<window = 4>]
// CHECK-LABEL: @leaky
// CHECK-SAME: encode [#posenc.leaky_rerope<window = 4, leak = 2.000000e+00>]
posenc.kernel @leaky heads(1) head_dim(8) mask(#posenc.causal) encode [#posenc.leaky_rerope<window = 4, leak = 2>]
// CHECK-LABEL: @self_extend
// CHECK-SAME: encode [#posenc.self_extend<group = 2, window = 4, law = paper>]
posenc.kernel @self_extend heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.self_extend<group = 2, window = 4, law = paper>]
// CHECK-LABEL: @temperatures
// CHECK-SAME: encode [#posenc.log_n<length = 512, law = qwen1>, #posenc.query_temperature<attn_scale = 2.000000e-01, floor_scale = 1.600000e+01>]
posenc.kernel @temperatures heads(1) head_dim(8)
  encode [#posenc.log_n<length = 512, law = qwen1>, #posenc.query_temperature<attn_scale = 0.2, floor_scale = 16>]

// CHECK-LABEL: @norms
// CHECK-SAME: encode [#posenc.qk_norm<kind = layer, epsilon = 5.000000e-01, epsilon_site = floor, gain = head_channel, unit_offset = true, bias = true, score_scale = learned_log>]
posenc.kernel @norms heads(1) head_dim(8)
  encode [#posenc.qk_norm<kind = layer, over = head, epsilon = 0.5, epsilon_site = floor, gain = head_channel,
    unit_offset = true, bias = true, score_scale = learned_log>]
// CHECK-LABEL: @key_norm
// CHECK-SAME: encode [#posenc.key_norm<epsilon = 5.000000e-01, epsilon_site = floor>]
posenc.kernel @key_norm heads(1) head_dim(8) encode [#posenc.key_norm<epsilon = 0.5, epsilon_site = floor>]
// CHECK-LABEL: @cosine_attention
// CHECK-SAME: encode [#posenc.cosine_attention<limit = 5.000000e+01, epsilon_site = added>]
posenc.kernel @cosine_attention heads(1) head_dim(8)
  encode [#posenc.cosine_attention<limit = 50, epsilon_site = added>]

// CHECK-LABEL: @masks
// CHECK-SAME: mask(#posenc.all<[#posenc.prefix<name = "p", by = position>, #posenc.any<[#posenc.segments, #posenc.permutation<self = masked>, #posenc.group<size = 8, shift = 1>, #posenc.dense_mask<name = "m">]>]>)
posenc.kernel @masks heads(2) head_dim(8)
  mask(#posenc.all<[#posenc.prefix<name = "p", by = position>,
    #posenc.any<[#posenc.segments<name = "segment_ids">, #posenc.permutation<self = masked>,
      #posenc.group<size = 8, shift = 1>, #posenc.dense_mask<name = "m">]>]>)

// CHECK-LABEL: @dynamic_yarn
// CHECK-SAME: scaling = #posenc.dynamic_yarn<factor = 2.000000e+00, original_length = 64, beta_fast = 1.600000e+01, beta_slow = 2.000000e+00, truncate = false, ramp = paper>, attention_factor = 1.000000e+00>
posenc.kernel @dynamic_yarn heads(1) head_dim(8)
  encode [#posenc.rope<attention_factor = 1, scaling = #posenc.dynamic_yarn<factor = 2, original_length = 64, beta_fast = 16, beta_slow = 2, truncate = false, ramp = paper>>]
// CHECK-LABEL: @longrope_interpolated
// CHECK-SAME: factor = 2.000000e+00, select = long, interpolate = true>
posenc.kernel @longrope_interpolated heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<long_factor = [1, 2], factor = 2, select = long, interpolate = true>>]
// CHECK-LABEL: @llama3_step
// CHECK-SAME: scaling = #posenc.llama3<factor = 1.600000e+01, high_freq_factor = 1.000000e+00, step = true>
posenc.kernel @llama3_step heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.llama3<factor = 16, high_freq_factor = 1, step = true>>]
// CHECK-LABEL: @grid_height
// CHECK-SAME: #posenc.axial_rope<grid_width = 4, grid_height = 2, preset = "llama4-vision">, #posenc.mixed_rope<grid_width = 4, grid_height = 3, class_tokens = 1>
posenc.kernel @grid_height heads(1) head_dim(8)
  encode [#posenc.axial_rope<preset = "llama4-vision", grid_width = 4, grid_height = 2>,
          #posenc.mixed_rope<class_tokens = 1, grid_height = 3, grid_width = 4>]
// CHECK-LABEL: @wrap
// CHECK-SAME: mask(#posenc.group<size = 8, wrap = 32>)
posenc.kernel @wrap heads(2) head_dim(8) mask(#posenc.group<wrap = 32, size = 8>)
