// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flan-T5 XXL (google/flan-t5-xxl, config.json): num_heads 64, d_kv 64,
// relative_attention_num_buckets 32, relative_attention_max_distance 128.
posenc.kernel @flan_t5_xxl_encoder heads(64) head_dim(64) dtype(f32) scale(1.0)
  encode [#posenc.t5_bias<buckets = 32, max_distance = 128, direction = bidirectional>]
