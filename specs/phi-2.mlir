// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phi-2 (microsoft/phi-2, config.json): num_attention_heads 32, hidden_size
// 2560, partial_rotary_factor 0.4 (32 of 80 channels, the first ones),
// rope_theta 10000.
posenc.kernel @phi_2 heads(32) head_dim(80) dtype(f32) mask(#posenc.causal) context_length(2048)
  encode [#posenc.rope<base = 10000.0, dims = 32, placement = first>]
