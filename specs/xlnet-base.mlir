// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XLNet base (xlnet/xlnet-base-cased, config.json): n_head 12, d_head 64,
// d_model 768, attn_type bi, clamp_len -1, with segments.
posenc.kernel @xlnet_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.xlnet<model_dim = 768, segments = on>]
