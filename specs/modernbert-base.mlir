// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ModernBERT base (answerdotai/ModernBERT-base, config.json):
// num_attention_heads 12, hidden_size 768; every third layer is global
// (global_rope_theta 160000), the others see local_attention 128, that is 64
// tokens to each side, with local_rope_theta 10000. Hugging Face weights pair
// channel c with c + head_dim / 2.
posenc.kernel @modernbert_base_local heads(12) head_dim(64) dtype(f32) mask(#posenc.window<left = 64, right = 64>)
  encode [#posenc.rope<base = 10000.0>]
posenc.kernel @modernbert_base_global heads(12) head_dim(64) dtype(f32)
  encode [#posenc.rope<base = 160000.0>]
