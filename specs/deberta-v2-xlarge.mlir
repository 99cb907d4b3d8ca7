// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeBERTa v2 xlarge (microsoft/deberta-v2-xlarge, config.json):
// num_attention_heads 24, hidden_size 1536, position_buckets 256,
// max_position_embeddings 512, pos_att_type p2c and c2p, share_att_key true:
// the tables are the normalised relative embeddings through the content
// projections.
posenc.kernel @deberta_v2_xlarge heads(24) head_dim(64) dtype(f32)
  encode [#posenc.deberta<max_distance = 512, buckets = 256>]
