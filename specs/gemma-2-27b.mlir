// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gemma 2 27B (google/gemma-2-27b, config.json): num_attention_heads 32,
// num_key_value_heads 16, head_dim 128, query_pre_attn_scalar 144, so that the
// scale is 1/12 and not 1/sqrt(head_dim); attn_logit_softcapping 50;
// sliding_window 4096 on layers 0, 2, ... Hugging Face weights pair channel c
// with c + head_dim / 2.
posenc.kernel @gemma_2_27b_local heads(32) kv_heads(16) head_dim(128) dtype(f32) mask(#posenc.window<left = 4095>) scale(0.083333333333333329)
  encode [#posenc.rope<base = 10000.0>, #posenc.softcap<cap = 50.0>]
posenc.kernel @gemma_2_27b_global heads(32) kv_heads(16) head_dim(128) dtype(f32) mask(#posenc.causal) scale(0.083333333333333329)
  encode [#posenc.rope<base = 10000.0>, #posenc.softcap<cap = 50.0>]
