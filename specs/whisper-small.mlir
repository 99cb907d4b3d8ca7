// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whisper small (openai/whisper-small, config.json): encoder_attention_heads
// 12, d_model 768; positions are added to the embedding (sinusoids in the
// encoder, learned in the decoder), attention itself has none.
posenc.kernel @whisper_small_encoder heads(12) head_dim(64) dtype(f32)
  encode [#posenc.nope]
posenc.kernel @whisper_small_decoder heads(12) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.nope]
