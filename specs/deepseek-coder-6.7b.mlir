// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeepSeek Coder 6.7B (deepseek-ai/deepseek-coder-6.7b-base, config.json):
// num_attention_heads 32, hidden_size 4096, rope_theta 100000, rope_scaling
// linear with factor 4, max_position_embeddings 16384. Hugging Face weights
// pair channel c with c + head_dim / 2.
posenc.kernel @deepseek_coder_6_7b heads(32) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(16384)
  encode [#posenc.rope<base = 100000.0, scaling = #posenc.linear_scaling<factor = 4.0>>]
