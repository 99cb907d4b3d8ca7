// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RoFormer base (junnyu/roformer_chinese_base, config.json):
// num_attention_heads 12, hidden_size 768, rotation of neighbouring channels
// with base 10000, queries and keys only (rotary_value false).
posenc.kernel @roformer_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved>]
