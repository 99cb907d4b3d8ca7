// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StarCoder2 7B (bigcode/starcoder2-7b, config.json): num_attention_heads 36,
// num_key_value_heads 4, hidden_size 4608, rope_theta 1000000, sliding_window
// 4096. Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @starcoder2_7b heads(36) kv_heads(4) head_dim(128) dtype(f32) mask(#posenc.window<left = 4095>)
  encode [#posenc.rope<base = 1000000.0>]
