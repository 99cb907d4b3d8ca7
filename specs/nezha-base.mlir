// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NEZHA base (sijunhe/nezha-cn-base, config.json): num_attention_heads 12,
// hidden_size 768, max_relative_position 64.
posenc.kernel @nezha_base heads(12) head_dim(64) dtype(f32)
  encode [#posenc.nezha<max_distance = 64>]
