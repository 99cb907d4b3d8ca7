// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gemma 2B (google/gemma-2b, config.json): num_attention_heads 8,
// num_key_value_heads 1, head_dim 256, rope_theta 10000,
// max_position_embeddings 8192. Hugging Face weights pair channel c with c +
// head_dim / 2.
posenc.kernel @gemma_2b heads(8) kv_heads(1) head_dim(256) dtype(f32) mask(#posenc.causal) context_length(8192)
  encode [#posenc.rope<base = 10000.0>]
