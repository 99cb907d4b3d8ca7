// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BEiT base (microsoft/beit-base-patch16-224, config.json):
// num_attention_heads 12, hidden_size 768, 14 x 14 patches and a class token,
// use_relative_position_bias true.
posenc.kernel @beit_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.beit_bias<height = 14, width = 14>]
