// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Swin v2 tiny (microsoft/swinv2-tiny-patch4-window8-256, config.json):
// window_size 8, num_heads 3, 6, 12 and 24 with 32 channels each; the third
// stage. Cosine attention with a learned temperature of at most 100, and the
// bias of a network of 512 units over logarithmic offsets.
posenc.kernel @swinv2_tiny_stage3 heads(12) head_dim(32) dtype(f32)
  encode [#posenc.cosine_attention, #posenc.swin_v2_bias<height = 8, width = 8>]
