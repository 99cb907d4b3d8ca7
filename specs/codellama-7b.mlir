// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code Llama 7B (codellama/CodeLlama-7b-hf, config.json): num_attention_heads
// 32, hidden_size 4096, rope_theta 1000000, max_position_embeddings 16384.
// Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @codellama_7b heads(32) head_dim(128) dtype(f32) mask(#posenc.causal) context_length(16384)
  encode [#posenc.rope<base = 1000000.0>]
