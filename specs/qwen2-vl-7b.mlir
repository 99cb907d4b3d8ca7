// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Qwen2-VL 7B, language model (Qwen/Qwen2-VL-7B-Instruct, config.json):
// num_attention_heads 28, num_key_value_heads 4, rope_theta 1000000,
// mrope_section [16, 24, 24] for time, row and column. Hugging Face weights
// pair channel c with c + head_dim / 2.
posenc.kernel @qwen2_vl_7b heads(28) kv_heads(4) head_dim(128) dtype(f32) mask(#posenc.causal) positions(#posenc.position_tensor<axes = 3>)
  encode [#posenc.mrope<sections = [16, 24, 24], layout = contiguous, rope = <base = 1000000.0>>]
