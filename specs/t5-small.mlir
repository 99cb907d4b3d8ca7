// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// T5 small (google-t5/t5-small, config.json): num_heads 8, d_kv 64,
// relative_attention_num_buckets 32, relative_attention_max_distance 128 (the
// class default); no 1/sqrt(d_kv). One table per stack, shared by its layers.
posenc.kernel @t5_small_encoder heads(8) head_dim(64) dtype(f32) scale(1.0)
  encode [#posenc.t5_bias<buckets = 32, max_distance = 128, direction = bidirectional>]
posenc.kernel @t5_small_decoder heads(8) head_dim(64) dtype(f32) mask(#posenc.causal) scale(1.0)
  encode [#posenc.t5_bias<buckets = 32, max_distance = 128, direction = causal>]
