// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPT 7B (mosaicml/mpt-7b, config.json): n_heads 32, d_model 4096, attn_config
// alibi true, alibi_bias_max 8.
posenc.kernel @mpt_7b heads(32) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.alibi<max_exponent = 8.0>]
