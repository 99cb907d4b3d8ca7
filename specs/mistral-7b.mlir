// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mistral 7B v0.1 (mistralai/Mistral-7B-v0.1, config.json):
// num_attention_heads 32, num_key_value_heads 8, rope_theta 10000,
// sliding_window 4096 (the query and 4095 keys before it). Hugging Face
// weights pair channel c with c + head_dim / 2.
posenc.kernel @mistral_7b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.window<left = 4095>)
  encode [#posenc.rope<base = 10000.0>]
