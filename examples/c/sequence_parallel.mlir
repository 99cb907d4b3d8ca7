// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of sequence_parallel.c. Queries and keys say where they stand in the
// whole sequence, and the mask compares these positions.
posenc.kernel @shard heads(8) kv_heads(2) head_dim(64) dtype(f32)
  mask(#posenc.window<right = 0, by = position>)
  positions(#posenc.position_tensor<queries = "query_positions">)
  encode [#posenc.rope, #posenc.alibi]
