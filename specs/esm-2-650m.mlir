// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ESM-2 650M (facebook/esm2_t33_650M_UR50D, config.json): num_attention_heads
// 20, hidden_size 1280, position_embedding_type rotary. Hugging Face weights
// pair channel c with c + head_dim / 2.
posenc.kernel @esm_2_650m heads(20) head_dim(64) dtype(f32)
  encode [#posenc.rope<base = 10000.0>]
