// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of ring.c: a layer with a sliding window over a ring of keys, and
// the same layer over all keys.
posenc.kernel @sliding heads(8) kv_heads(2) head_dim(64) dtype(f32) keys(ring)
  key_cache(encoded) mask(#posenc.window<left = 31>) encode [#posenc.rope]

posenc.kernel @sliding_whole heads(8) kv_heads(2) head_dim(64) dtype(f32)
  mask(#posenc.window<left = 31>) encode [#posenc.rope]
