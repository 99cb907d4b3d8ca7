// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mixtral 8x7B (mistralai/Mixtral-8x7B-v0.1, config.json): num_attention_heads
// 32, num_key_value_heads 8, rope_theta 1000000, no sliding window,
// max_position_embeddings 32768. Hugging Face weights pair channel c with c +
// head_dim / 2.
posenc.kernel @mixtral_8x7b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(32768)
  encode [#posenc.rope<base = 1000000.0>]
