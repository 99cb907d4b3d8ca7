// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of encoder.c: bidirectional attention with RoPE over a batch of
// sentences, once padded to the longest, once one after another.
posenc.kernel @padded heads(12) head_dim(64) dtype(f32) keys(lengths)
  positions(#posenc.iota<align = top_left>) encode [#posenc.rope]

posenc.kernel @packed heads(12) head_dim(64) dtype(f32) queries(packed) keys(packed)
  encode [#posenc.rope]
