// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama 4 Maverick (meta-llama/Llama-4-Maverick-17B-128E, config.json,
// text_config): num_attention_heads 40, num_key_value_heads 8, head_dim 128,
// rope_theta 500000, attention_chunk_size 8192, use_qk_norm false; every
// fourth layer has no rotation, sees every earlier key and scales queries
// (attn_scale 0.1, floor_scale 8192). Rotation of neighbouring channels, as in
// Meta's code.
posenc.kernel @llama_4_maverick_local heads(40) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.chunk<size = 8192>)
  encode [#posenc.rope<base = 500000.0, pairing = interleaved>]
posenc.kernel @llama_4_maverick_global heads(40) kv_heads(8) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.query_temperature<attn_scale = 0.1, floor_scale = 8192.0>]
