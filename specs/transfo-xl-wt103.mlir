// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transformer-XL on WikiText-103 (transfo-xl/transfo-xl-wt103, config.json):
// n_head 16, d_head 64, d_model 1024, clamp_len 1000, untie_r true.
posenc.kernel @transfo_xl_wt103 heads(16) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.transformer_xl<model_dim = 1024, clamp_len = 1000>]
