// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Qwen3 8B (Qwen/Qwen3-8B, config.json): num_attention_heads 32,
// num_key_value_heads 8, head_dim 128, rope_theta 1000000, rms_norm_eps 1e-6;
// queries and keys pass an RMS norm over the head with a weight before the
// rotation (modeling_qwen3.py). Hugging Face weights pair channel c with c +
// head_dim / 2.
posenc.kernel @qwen3_8b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(40960)
  encode [#posenc.qk_norm<kind = rms, gain = channel, epsilon = 1.0e-6>, #posenc.rope<base = 1000000.0>]
