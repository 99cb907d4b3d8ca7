// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BERT base (google-bert/bert-base-uncased, config.json): num_attention_heads
// 12, hidden_size 768, max_position_embeddings 512, learned positions added to
// the embedding; attention itself has none.
posenc.kernel @bert_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.nope]
posenc.embed @bert_base_embedding dim(768) encode [#posenc.learned_absolute<rows = 512>]
