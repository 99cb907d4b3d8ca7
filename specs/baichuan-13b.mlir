// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Baichuan 13B (baichuan-inc/Baichuan-13B-Base, config.json):
// num_attention_heads 40, hidden_size 5120, ALiBi.
posenc.kernel @baichuan_13b heads(40) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.alibi]
