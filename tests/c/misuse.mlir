// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the C tests.
posenc.kernel @misuse_rope heads(4) kv_heads(2) head_dim(16) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope, #posenc.alibi]
posenc.kernel @misuse_bias heads(2) head_dim(8) value_dim(12) dtype(f32)
  positions(#posenc.position_tensor) encode [#posenc.t5_bias, #posenc.dense_bias]
posenc.kernel @misuse_serving heads(2) kv_heads(1) head_dim(8) dtype(bf16) kv_dtype(f16) mask(#posenc.causal)
  queries(packed) keys(paged) encode [#posenc.rope]
posenc.kernel @misuse_codes heads(2) kv_heads(1) head_dim(8) dtype(f32) kv_dtype(f8E4M3FN) kv_scales(token)
  table_dtype(bf16) keys(lengths) key_cache(encoded) mask(#posenc.causal) encode [#posenc.rope, #posenc.t5_bias]
posenc.kernel @misuse_listed heads(2) kv_heads(1) head_dim(8) dtype(f32) mask(#posenc.window<left = 3>)
  keys(ring) key_cache(encoded) blocks(#posenc.block_list<queries = 2, keys = 4>) encode [#posenc.rope]
posenc.embed @misuse_embed dim(8) encode [#posenc.learned_absolute<rows = 16>]
