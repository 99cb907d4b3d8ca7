// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel and the input embedding of the consumer test.

posenc.kernel @consumer_causal heads(4) kv_heads(2) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = half>]
posenc.embed @consumer_embedding dim(64) scale(2.0) encode [#posenc.learned_absolute<rows = 128>]
