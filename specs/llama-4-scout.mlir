// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 4 Scout (meta-llama/Llama-4-Scout-17B-16E, config.json, text_config):
// num_attention_heads 40, num_key_value_heads 8, head_dim 128, rope_theta
// 500000, rope_scaling llama3 with factor 16 and both frequency factors 1,
// attention_chunk_size 8192, use_qk_norm true: rms norms without weights after
// the rotation. Every fourth layer is as that of Maverick.
posenc.kernel @llama_4_scout_local heads(40) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.chunk<size = 8192>)
  encode [#posenc.rope<base = 500000.0, pairing = interleaved,
                       scaling = #posenc.llama3<factor = 16.0, low_freq_factor = 1.0, high_freq_factor = 1.0,
                                                original_length = 8192, step = true>>,
          #posenc.qk_norm<preset = "llama4">]
posenc.kernel @llama_4_scout_global heads(40) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.query_temperature<attn_scale = 0.1, floor_scale = 8192.0>]
