// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CodeGen 350M (Salesforce/codegen-350M-mono, config.json): n_head 16, n_embd
// 1024, rotary_dim 32 (the first channels of 64), pairs of neighbouring
// channels.
posenc.kernel @codegen_350m heads(16) head_dim(64) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved, dims = 32, placement = first>]
