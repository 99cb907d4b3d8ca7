// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-OSS 20B (openai/gpt-oss-20b, config.json, and gpt_oss/torch/model.py):
// num_attention_heads 64, num_key_value_heads 8, head_dim 64, rope_theta
// 150000, YaRN with factor 32, original length 4096, beta_fast 32, beta_slow 1
// and no truncation; a learned sink per head; sliding_window 128 on layers 0,
// 2, ... Hugging Face weights pair channel c with c + head_dim / 2.
posenc.kernel @gpt_oss_20b_local heads(64) kv_heads(8) head_dim(64) dtype(f32) mask(#posenc.window<left = 127>)
  encode [#posenc.rope<base = 150000.0, scaling = #posenc.yarn<factor = 32.0, original_length = 4096, truncate = false>>,
          #posenc.attention_sink]
posenc.kernel @gpt_oss_20b_global heads(64) kv_heads(8) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 150000.0, scaling = #posenc.yarn<factor = 32.0, original_length = 4096, truncate = false>>,
          #posenc.attention_sink]
