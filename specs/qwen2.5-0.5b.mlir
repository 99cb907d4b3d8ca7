// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Qwen2.5 0.5B (Qwen/Qwen2.5-0.5B, config.json): num_attention_heads 14,
// num_key_value_heads 2, hidden_size 896, rope_theta 1000000,
// max_position_embeddings 32768. Hugging Face weights pair channel c with c +
// head_dim / 2.
posenc.kernel @qwen2_5_0_5b heads(14) kv_heads(2) head_dim(64) dtype(f32) mask(#posenc.causal) context_length(32768)
  encode [#posenc.rope<base = 1000000.0>]
