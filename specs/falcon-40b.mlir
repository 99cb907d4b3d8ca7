// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Falcon 40B (tiiuae/falcon-40b, config.json): num_attention_heads 128,
// num_kv_heads 8, hidden_size 8192, rotary positions with base 10000. Hugging
// Face weights pair channel c with c + head_dim / 2.
posenc.kernel @falcon_40b heads(128) kv_heads(8) head_dim(64) dtype(f32) mask(#posenc.causal) context_length(2048)
  encode [#posenc.rope<base = 10000.0>]
