// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// umT5 small (google/umt5-small, config.json): num_heads 6, d_kv 64,
// relative_attention_num_buckets 32, relative_attention_max_distance 128; no
// 1/sqrt(d_kv), one table per layer.
posenc.kernel @umt5_small_encoder heads(6) head_dim(64) dtype(f32) scale(1.0)
  encode [#posenc.t5_bias<buckets = 32, max_distance = 128, direction = bidirectional>]
posenc.kernel @umt5_small_decoder heads(6) head_dim(64) dtype(f32) mask(#posenc.causal) scale(1.0)
  encode [#posenc.t5_bias<buckets = 32, max_distance = 128, direction = causal>]
