// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 3.2 1B (meta-llama/Llama-3.2-1B, config.json): num_attention_heads 32,
// num_key_value_heads 8, head_dim 64, rope_theta 500000, rope_scaling llama3
// with factor 32. Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @llama_3_2_1b heads(32) kv_heads(8) head_dim(64) dtype(f32) mask(#posenc.causal) context_length(131072)
  encode [#posenc.rope<base = 500000.0, scaling = #posenc.llama3<factor = 32.0, low_freq_factor = 1.0, high_freq_factor = 4.0, original_length = 8192>>]
