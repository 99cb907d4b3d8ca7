// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 2 70B (meta-llama/Llama-2-70b-hf, config.json): num_attention_heads
// 64, num_key_value_heads 8, hidden_size 8192, rope_theta 10000,
// max_position_embeddings 4096. Hugging Face weights pair channel c with c +
// head_dim / 2.
posenc.kernel @llama_2_70b heads(64) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(4096)
  encode [#posenc.rope<base = 10000.0>]
