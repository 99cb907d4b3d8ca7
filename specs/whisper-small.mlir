// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whisper small (openai/whisper-small, config.json): encoder_attention_heads
// 12, d_model 768; positions are added to the embedding (sinusoids in the
// encoder, learned in the decoder), attention itself has none.
posenc.kernel @whisper_small_encoder heads(12) head_dim(64) dtype(f32)
  encode [#posenc.nope]
posenc.kernel @whisper_small_decoder heads(12) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.nope]
// max_source_positions 1500, max_target_positions 448; sinusoids(1500, 768) of
// openai/whisper, whisper/model.py: [sines, cosines], exponents k / (d / 2 - 1).
posenc.embed @whisper_small_encoder_embedding dim(768)
  encode [#posenc.sinusoidal<layout = concatenated, exponent = over_last>]
posenc.embed @whisper_small_decoder_embedding dim(768) encode [#posenc.learned_absolute<rows = 448>]
