// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Falcon 7B (tiiuae/falcon-7b, config.json): num_attention_heads 71,
// multi_query true, hidden_size 4544, rotary positions with base 10000.
// Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @falcon_7b heads(71) kv_heads(1) head_dim(64) dtype(f32) mask(#posenc.causal) context_length(2048)
  encode [#posenc.rope<base = 10000.0>]
