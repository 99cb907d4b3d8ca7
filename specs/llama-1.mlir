// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLaMA 7B to 65B as released by Meta (facebookresearch/llama, params.json of
// 7B): n_heads 32, dim 4096; theta 10000; the original weights pair neighbouring
// channels (view_as_complex).
posenc.kernel @llama_1_7b heads(32) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved>]
posenc.kernel @llama_1_13b heads(40) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved>]
posenc.kernel @llama_1_33b heads(52) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved>]
posenc.kernel @llama_1_65b heads(64) head_dim(128) dtype(f32) mask(#posenc.causal)
  encode [#posenc.rope<base = 10000.0, pairing = interleaved>]
