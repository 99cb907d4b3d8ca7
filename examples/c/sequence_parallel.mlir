// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of sequence_parallel.c. Scores depend on no position, so those of a
// shard are the same as with all keys.
posenc.kernel @shard heads(8) kv_heads(2) head_dim(64) dtype(f32)
