// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StableLM 3B 4E1T (stabilityai/stablelm-3b-4e1t, config.json):
// num_attention_heads 32, hidden_size 2560, partial_rotary_factor 0.25 (20 of
// 80 channels, the first ones), rope_theta 10000.
posenc.kernel @stablelm_3b heads(32) head_dim(80) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, dims = 20, placement = first>]
