// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command R (CohereForAI/c4ai-command-r-v01, config.json): num_attention_heads
// 64, hidden_size 8192, rope_theta 8000000; pairs of neighbouring channels
// (modeling_cohere.py).
posenc.kernel @command_r heads(64) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 8000000.0, pairing = interleaved>]
