// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 3 8B (meta-llama/Meta-Llama-3-8B, config.json): num_attention_heads
// 32, num_key_value_heads 8, rope_theta 500000, max_position_embeddings 8192.
// Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @llama_3_8b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(8192)
  encode [#posenc.rope<base = 500000.0>]
