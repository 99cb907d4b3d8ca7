// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-NeoX 20B (EleutherAI/gpt-neox-20b, config.json): num_attention_heads 64,
// hidden_size 6144, rotary_pct 0.25 (24 of 96 channels, the first ones),
// rotary_emb_base 10000.
posenc.kernel @gpt_neox_20b heads(64) head_dim(96) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = half, dims = 24, placement = first>]
