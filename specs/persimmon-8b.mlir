// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Persimmon 8B (adept/persimmon-8b-base, config.json): num_attention_heads 64,
// hidden_size 4096, partial_rotary_factor 0.5 (32 of 64 channels, the first
// ones), rope_theta 25000, a layer norm with weight and bias on queries and
// keys of each head before the rotation (qk_layernorm, layer_norm_eps 1e-5).
posenc.kernel @persimmon_8b heads(64) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.qk_norm<kind = layer, gain = channel, bias = true, epsilon = 1.0e-5>,
          #posenc.rope<base = 25000.0, dims = 32, placement = first>]
