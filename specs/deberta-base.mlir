// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeBERTa base (microsoft/deberta-base, config.json): num_attention_heads 12,
// hidden_size 768, max_relative_positions -1 (max_position_embeddings 512),
// pos_att_type c2p and p2c; one scale 1/sqrt(3 * 64) for the three terms.
posenc.kernel @deberta_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.deberta<max_distance = 512>]
