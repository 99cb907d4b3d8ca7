// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base model of "Attention Is All You Need" (arXiv:1706.03762, table 3):
// h 8, d_model 512, sinusoids of section 3.5 added to the embedding times
// sqrt(512), dropout 0.1 on the sum; attention itself has none.
posenc.kernel @transformer_base_encoder heads(8) head_dim(64) dtype(f32)
  encode [#posenc.nope]
posenc.kernel @transformer_base_decoder heads(8) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.nope]
posenc.embed @transformer_base_embedding dim(512) scale(22.627416997969522) dropout(0.1)
  encode [#posenc.sinusoidal<layout = interleaved, exponent = over_dim>]
