// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Qwen2 7B (Qwen/Qwen2-7B, config.json): num_attention_heads 28,
// num_key_value_heads 4, hidden_size 3584, rope_theta 1000000,
// max_position_embeddings 131072. Hugging Face weights pair channel c with c +
// head_dim / 2.
posenc.kernel @qwen2_7b heads(28) kv_heads(4) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(131072)
  encode [#posenc.rope<base = 1000000.0>]
