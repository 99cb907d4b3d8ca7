// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2 (openai-community/gpt2, config.json): n_head 12, n_embd 768,
// n_positions 1024, learned positions added to the embedding; attention itself
// has none.
posenc.kernel @gpt_2 heads(12) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.nope]
posenc.embed @gpt_2_embedding dim(768) encode [#posenc.learned_absolute<rows = 1024>]
