// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler says about encodings that do not tell the tokens of a
// context apart: one token too many, and just enough.
// RUN: posenc-opt %s --posenc-expand-encodings -split-input-file -verify-diagnostics -o /dev/null

// expected-warning@below {{#posenc.t5_bias does not tell keys at a distance of 113 or more apart, but the context has 115 tokens (arXiv 1910.10683, section 2.1)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(115) encode [#posenc.t5_bias]

posenc.kernel @enough heads(2) head_dim(8) context_length(114) encode [#posenc.t5_bias]

// -----

// expected-warning@below {{#posenc.t5_bias does not tell keys at a distance of 91 or more apart, but the context has 93 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(93) encode [#posenc.t5_bias<direction = bidirectional>]

posenc.kernel @enough heads(2) head_dim(8) context_length(92) encode [#posenc.t5_bias<direction = bidirectional>]

// -----

// expected-warning@below {{#posenc.mtf_contextual does not tell keys at a distance of 113 or more apart, but the context has 115 tokens (mesh_tensorflow/transformer/transformer_layers.py)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(115) encode [#posenc.mtf_contextual]

posenc.kernel @enough heads(2) head_dim(8) context_length(114) encode [#posenc.mtf_contextual]

// -----

// expected-warning@below {{#posenc.toeplitz_bias does not tell keys at a distance of 127 or more apart, but the context has 129 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(129) encode [#posenc.toeplitz_bias]

posenc.kernel @enough heads(2) head_dim(8) context_length(128) encode [#posenc.toeplitz_bias]

// -----

// expected-warning@below {{#posenc.shaw does not tell keys at a distance of 16 or more apart, but the context has 18 tokens (arXiv 1803.02155, section 3.2)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(18) encode [#posenc.shaw]

posenc.kernel @enough heads(2) head_dim(8) context_length(17) encode [#posenc.shaw]

// -----

// expected-warning@below {{#posenc.nezha does not tell keys at a distance of 64 or more apart, but the context has 66 tokens (arXiv 1909.00204, section 2.1)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(66) encode [#posenc.nezha]

posenc.kernel @enough heads(2) head_dim(8) context_length(65) encode [#posenc.nezha]

// -----

// expected-warning@below {{#posenc.transformer_xl does not tell keys at a distance of 1000 or more apart, but the context has 1002 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) mask(#posenc.causal) context_length(1002) encode [#posenc.transformer_xl<clamp_len = 1000>]

posenc.kernel @enough heads(2) head_dim(8) mask(#posenc.causal) context_length(1001) encode [#posenc.transformer_xl<clamp_len = 1000>]

// -----

// expected-warning@below {{#posenc.xlnet does not tell keys at a distance of 1000 or more apart, but the context has 1002 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(1002) encode [#posenc.xlnet<clamp_len = 1000>]

posenc.kernel @enough heads(2) head_dim(8) context_length(1001) encode [#posenc.xlnet<clamp_len = 1000>]

// -----

// expected-warning@below {{#posenc.deberta does not tell keys at a distance of 511 or more apart, but the context has 513 tokens (arXiv 2006.03654, equation 3)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(513) encode [#posenc.deberta]

posenc.kernel @enough heads(2) head_dim(8) context_length(512) encode [#posenc.deberta]

// -----

// expected-warning@below {{#posenc.deberta does not tell keys at a distance of 506 or more apart, but the context has 508 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(508) encode [#posenc.deberta<preset = "microsoft-v2">]

posenc.kernel @enough heads(2) head_dim(8) context_length(507) encode [#posenc.deberta<preset = "microsoft-v2">]

// -----

// expected-warning@below {{#posenc.deberta does not tell keys at a distance of 506 or more apart, but the context has 508 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(508) encode [#posenc.deberta<preset = "hf-v2">]

posenc.kernel @enough heads(2) head_dim(8) context_length(507) encode [#posenc.deberta<preset = "hf-v2">]

// -----

// expected-warning@below {{#posenc.swin_bias has 49 positions, but the context has 50 tokens: those behind it are not told apart (arXiv 2103.14030, section 3.2)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(50) encode [#posenc.swin_bias]

posenc.kernel @enough heads(2) head_dim(8) context_length(49) encode [#posenc.swin_bias]

// -----

// expected-warning@below {{#posenc.swin_v2_bias has 64 positions, but the context has 65 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(65) encode [#posenc.swin_v2_bias]

posenc.kernel @enough heads(2) head_dim(8) context_length(64) encode [#posenc.swin_v2_bias]

// -----

// expected-warning@below {{#posenc.beit_bias has 197 positions, but the context has 198 tokens}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(198) encode [#posenc.beit_bias]

posenc.kernel @enough heads(2) head_dim(8) context_length(197) encode [#posenc.beit_bias]

// -----

// expected-warning@below {{#posenc.tupe has 512 positions, but the context has 513 tokens: those behind it are not told apart (arXiv 2006.15595, section 3.1)}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(513) encode [#posenc.tupe]

posenc.kernel @enough heads(2) head_dim(8) context_length(512) encode [#posenc.tupe]

// -----

// expected-warning@below {{#posenc.grid_bias does not tell rows at a distance of 13 or more apart, but the context has 15 of them}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(141) encode [#posenc.grid_bias<width = 10>]

posenc.kernel @enough heads(2) head_dim(8) context_length(140) encode [#posenc.grid_bias<width = 10>]

// -----

// expected-warning@below {{#posenc.grid_bias does not tell columns at a distance of 3 or more apart, but the context has 5 of them}}
posenc.kernel @one_more heads(2) head_dim(8) context_length(5) encode [#posenc.grid_bias<width = 9, max_column = 3>]

posenc.kernel @enough heads(2) head_dim(8) context_length(4) encode [#posenc.grid_bias<width = 9, max_column = 3>]

// -----

// expected-warning@below {{#posenc.alibi rounds positions to bf16, in which 257 is 256: of the 258 positions of the context 257 differ (Hugging Face transformers, models/falcon/modeling_falcon.py, build_alibi_tensor)}}
posenc.kernel @one_more heads(2) head_dim(8) mask(#posenc.causal) context_length(258) encode [#posenc.alibi<preset = "hf-falcon">]

posenc.kernel @enough heads(2) head_dim(8) mask(#posenc.causal) context_length(257) encode [#posenc.alibi<preset = "hf-falcon">]

// -----

// Of 2048 positions 256 and 128 for each of three doublings, and 2048 itself.
// expected-warning@below {{of the 2049 positions of the context 641 differ}}
posenc.kernel @collapse heads(2) head_dim(8) mask(#posenc.causal) context_length(2049)
  encode [#posenc.alibi<form = key, rounding = bf16>]

// -----

// Positions that start elsewhere are rounded earlier.
// expected-warning@below {{in which 257 is 256: of the 8 positions of the context 5 differ}}
posenc.kernel @offset heads(2) head_dim(8) mask(#posenc.causal) positions(#posenc.iota<offset = 254>) context_length(8)
  encode [#posenc.alibi<form = key, rounding = bf16>]

// -----

// A context of any length is counted at once: 257 numbers up to 256, 128 for
// each of 22 doublings up to 2^30, to which the last ones are rounded.
// expected-warning@below {{of the 1073741823 positions of the context 3073 differ}}
posenc.kernel @long heads(2) head_dim(8) mask(#posenc.causal) context_length(1073741823)
  encode [#posenc.alibi<form = key, rounding = bf16>]

// -----

// Exact slopes, distances without an end, coordinates that the caller passes.
posenc.kernel @silent heads(2) head_dim(8) mask(#posenc.causal) context_length(100000)
  encode [#posenc.alibi, #posenc.transformer_xl, #posenc.grid_bias<coordinates = tensor>, #posenc.kerple]
