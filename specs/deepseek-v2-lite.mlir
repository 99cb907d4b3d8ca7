// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeepSeek-V2 Lite (deepseek-ai/DeepSeek-V2-Lite, config.json):
// num_attention_heads 16, qk_nope_head_dim 128, qk_rope_head_dim 64 (the last
// channels), v_head_dim 128, rope_theta 10000, YaRN with factor 40, original
// length 4096, mscale = mscale_all_dim = 0.707, which multiplies the scale by
// (0.1 * 0.707 * ln 40 + 1)^2; pairs of neighbouring channels. Latent keys are
// expanded to heads first.
posenc.kernel @deepseek_v2_lite heads(16) head_dim(192) value_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved, dims = 64, placement = last, scaling = #posenc.yarn<factor = 40.0, original_length = 4096, mscale = 0.707, mscale_all_dim = 0.707>, factor_site = scale>]
