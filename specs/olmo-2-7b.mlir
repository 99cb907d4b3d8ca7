// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OLMo 2 7B (allenai/OLMo-2-1124-7B, config.json): num_attention_heads 32,
// hidden_size 4096, rope_theta 500000, rms_norm_eps 1e-6; queries and keys
// pass an RMS norm with a weight over all heads together before the rotation
// (modeling_olmo2.py). Hugging Face weights pair channel c with c + head_dim /
// 2.
posenc.kernel @olmo_2_7b heads(32) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(4096)
  encode [#posenc.qk_norm<kind = rms, over = all_heads, gain = head_channel, epsilon = 1.0e-6>, #posenc.rope<base = 500000.0>]
