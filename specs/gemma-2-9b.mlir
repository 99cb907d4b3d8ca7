// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gemma 2 9B (google/gemma-2-9b, config.json): num_attention_heads 16,
// num_key_value_heads 8, head_dim 256, query_pre_attn_scalar 256,
// attn_logit_softcapping 50, rope_theta 10000; sliding_window 4096 on layers
// 0, 2, ... Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @gemma_2_9b_local heads(16) kv_heads(8) head_dim(256) dtype(f32) mask(#posenc.window<left = 4095>)
  encode [#posenc.rope<base = 10000.0>, #posenc.softcap<cap = 50.0>]
posenc.kernel @gemma_2_9b_global heads(16) kv_heads(8) head_dim(256) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0>, #posenc.softcap<cap = 50.0>]
