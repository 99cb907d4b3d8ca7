// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Qwen3-VL 8B, language model (Qwen/Qwen3-VL-8B-Instruct, config.json,
// text_config): num_attention_heads 32, num_key_value_heads 8, head_dim 128,
// rope_theta 5000000, mrope_section [24, 20, 20], mrope_interleaved true, RMS
// norm of queries and keys before the rotation with rms_norm_eps 1e-6. Hugging
// Face weights pair channel c with c + head_dim / 2.
posenc.kernel @qwen3_vl_8b heads(32) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal) positions(#posenc.position_tensor<axes = 3>)
  encode [#posenc.qk_norm<kind = rms, gain = channel, epsilon = 1.0e-6>,
          #posenc.mrope<sections = [24, 20, 20], layout = interleaved, rope = <base = 5000000.0>>]
