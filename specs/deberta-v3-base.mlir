// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeBERTa v3 base (microsoft/deberta-v3-base, config.json):
// num_attention_heads 12, hidden_size 768, position_buckets 256,
// max_position_embeddings 512, pos_att_type p2c and c2p, share_att_key true.
posenc.kernel @deberta_v3_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.deberta<max_distance = 512, buckets = 256>]
