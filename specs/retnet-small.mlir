// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RetNet (torchscale, RetNetConfig defaults of a 1024-wide decoder): 4 heads,
// 256 channels of keys and of values each; decay 1 - 2^(-5 - h), angles of
// torchscale/architecture/retnet.py.
posenc.kernel @retnet_small heads(4) head_dim(256) dtype(f32) mask(#posenc.causal)
  encode [#posenc.retention]
