// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gemma 3 4B, language model (google/gemma-3-4b-pt, config.json, text_config):
// num_attention_heads 8, num_key_value_heads 4, head_dim 256,
// query_pre_attn_scalar 256; five local layers (sliding_window 1024,
// rope_local_base_freq 10000) to one global one (rope_theta 1000000,
// rope_scaling linear with factor 8); RMS norm of queries and keys with gain 1
// + weight and rms_norm_eps 1e-6 before the rotation. Hugging Face weights
// pair channel c with c + head_dim / 2.
posenc.kernel @gemma_3_4b_local heads(8) kv_heads(4) head_dim(256) dtype(f32) mask(#posenc.window<left = 1023>)
  encode [#posenc.qk_norm<kind = rms, gain = channel, epsilon = 1.0e-6, unit_offset = true>, #posenc.rope<base = 10000.0>]
posenc.kernel @gemma_3_4b_global heads(8) kv_heads(4) head_dim(256) dtype(f32) mask(#posenc.causal)
  encode [#posenc.qk_norm<kind = rms, gain = channel, epsilon = 1.0e-6, unit_offset = true>,
          #posenc.rope<base = 1000000.0, scaling = #posenc.linear_scaling<factor = 8.0>>]
