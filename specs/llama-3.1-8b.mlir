// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 3.1 8B (meta-llama/Llama-3.1-8B, config.json): num_attention_heads 32,
// num_key_value_heads 8, rope_theta 500000, rope_scaling llama3: factor 8,
// low_freq_factor 1, high_freq_factor 4, original_max_position_embeddings
// 8192; max_position_embeddings 131072. Hugging Face weights pair channel c
// with c + head_dim / 2.
posenc.kernel @llama_3_1_8b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(131072)
  encode [#posenc.rope<base = 500000.0, scaling = #posenc.llama3<factor = 8.0, low_freq_factor = 1.0, high_freq_factor = 4.0, original_length = 8192>>]
