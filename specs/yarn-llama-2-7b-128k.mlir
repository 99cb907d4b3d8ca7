// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// YaRN Llama 2 7B 128K (NousResearch/Yarn-Llama-2-7b-128k, config.json):
// num_attention_heads 32, hidden_size 4096, rope_theta 10000, rope_scaling
// yarn with factor 32 and original_max_position_embeddings 4096. Hugging Face
// weights pair channel c with c + head_dim / 2.
posenc.kernel @yarn_llama_2_7b_128k heads(32) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, scaling = #posenc.yarn<factor = 32.0, original_length = 4096>>]
