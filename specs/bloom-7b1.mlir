// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BLOOM 7B1 (bigscience/bloom-7b1, config.json): n_head 32, hidden_size 4096;
// ALiBi with the published slopes.
posenc.kernel @bloom_7b1 heads(32) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.alibi]
