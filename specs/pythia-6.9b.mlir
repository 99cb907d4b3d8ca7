// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pythia 6.9B (EleutherAI/pythia-6.9b, config.json): num_attention_heads 32,
// hidden_size 4096, rotary_pct 0.25 (32 of 128 channels, the first ones),
// rotary_emb_base 10000.
posenc.kernel @pythia_6_9b heads(32) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, dims = 32, placement = first>]
