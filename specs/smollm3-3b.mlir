// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SmolLM3 3B (HuggingFaceTB/SmolLM3-3B, config.json): num_attention_heads 16,
// num_key_value_heads 4, hidden_size 2048, rope_theta 5000000; every fourth
// layer has no rotation. Hugging Face weights pair channel c with c + head_dim
// / 2.
posenc.kernel @smollm3_3b_rope heads(16) kv_heads(4) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 5000000.0>]
posenc.kernel @smollm3_3b_nope heads(16) kv_heads(4) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.nope]
