// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Swin tiny (microsoft/swin-tiny-patch4-window7-224, config.json): window_size
// 7, num_heads 3, 6, 12 and 24 with 32 channels each; the third stage.
// Attention runs inside windows of 49 tokens.
posenc.kernel @swin_tiny_stage3 heads(12) head_dim(32) dtype(f32)
  encode [#posenc.swin_bias<height = 7, width = 7>]
