// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 2 7B (meta-llama/Llama-2-7b-hf, config.json): num_attention_heads 32,
// num_key_value_heads 32, hidden_size 4096, rope_theta 10000; Hugging Face
// weights pair channel c with c + 64.
posenc.kernel @llama_2_7b heads(32) kv_heads(32) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = half>]
