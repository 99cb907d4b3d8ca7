// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-J 6B (EleutherAI/gpt-j-6b, config.json): n_head 16, n_embd 4096,
// rotary_dim 64; neighbouring channels are paired (rotate_every_two).
posenc.kernel @gpt_j_6b heads(16) head_dim(256) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved, dims = 64, placement = first>]
