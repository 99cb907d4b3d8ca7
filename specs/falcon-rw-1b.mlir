// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Falcon RW 1B (tiiuae/falcon-rw-1b, config.json): num_attention_heads 32,
// hidden_size 2048, alibi true; the bias is rounded to bf16 and multiplied by
// 1/sqrt(head_dim) with the dot product (modeling_falcon.py).
posenc.kernel @falcon_rw_1b heads(32) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.alibi<preset = "hf-falcon">]
