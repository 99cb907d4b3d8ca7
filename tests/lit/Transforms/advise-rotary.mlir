// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler says about a rotation that does not reach as far as the
// context that a kernel states.
// RUN: posenc-opt %s --posenc-expand-encodings -split-input-file -verify-diagnostics -o /dev/null

// expected-warning@below {{with the base 10000 of #posenc.rope a key that equals the query scores below average at the distance 1707 already, but the context has 8192 tokens: a greater base or a scaling reaches farther (arXiv 2405.14591)}}
posenc.kernel @far heads(1) head_dim(128) mask(#posenc.causal) context_length(8192) encode [#posenc.rope]

// -----

// It is negative at 18438 first.
posenc.kernel @near heads(1) head_dim(128) mask(#posenc.causal) context_length(18438)
  encode [#posenc.rope<base = 5.0e5>]

// -----

// expected-warning@below {{at the distance 18438 already}}
posenc.kernel @one_more heads(1) head_dim(128) mask(#posenc.causal) context_length(18439)
  encode [#posenc.rope<base = 5.0e5>]

// -----

// A scaling reaches farther, and laws of the call's length are not judged.
posenc.kernel @scaled heads(1) head_dim(128) mask(#posenc.causal) context_length(8192)
  encode [#posenc.rope<scaling = #posenc.linear_scaling<factor = 8.0>>,
          #posenc.rope<scaling = #posenc.dynamic_ntk<factor = 8.0>, name = "r">]

// -----

// Beyond its window every distance is one.
// expected-warning@below {{#posenc.rerope does not tell keys at a distance of 512 or more apart, but the context has 514 tokens (kexue.fm/archives/9708)}}
posenc.kernel @rerope heads(1) head_dim(128) mask(#posenc.causal) context_length(514) encode [#posenc.rerope]

posenc.kernel @rerope_enough heads(1) head_dim(128) mask(#posenc.causal) context_length(513) encode [#posenc.rerope]

// -----

// Beyond its window distances are counted in groups.
// expected-warning@below {{#posenc.self_extend tells keys at a distance of 64 or more apart by groups of 4 only, but the context has 66 tokens (arXiv 2401.01325)}}
posenc.kernel @self_extend heads(1) head_dim(128) mask(#posenc.causal) context_length(66) encode [#posenc.self_extend<group = 4, window = 64>]

posenc.kernel @groups_of_one heads(1) head_dim(128) mask(#posenc.causal) context_length(66) encode [#posenc.self_extend<group = 1, window = 64>]

// -----

// The text of a multimodal rotation.
// expected-warning@below {{with the base 10000 of #posenc.rope a key that equals the query scores below average at the distance 1707 already}}
posenc.kernel @mrope heads(1) head_dim(128) mask(#posenc.causal) context_length(1708)
  encode [#posenc.mrope<sections = [16, 24, 24]>]

posenc.kernel @mrope_enough heads(1) head_dim(128) mask(#posenc.causal) context_length(1707)
  encode [#posenc.mrope<sections = [16, 24, 24]>]

// -----

// 512 ln(the greatest f32) / ln(3.5) = 36260.7.
// expected-warning@below {{the factor of keys of #posenc.xpos exceeds the numbers of f32 from the position 36261 on, but the context has 36262 tokens: a greater 'scale_base' or 'centre' reaches farther (arXiv 2212.10554)}}
posenc.kernel @xpos heads(1) head_dim(128) mask(#posenc.causal) context_length(36262) encode [#posenc.xpos]

posenc.kernel @xpos_enough heads(1) head_dim(128) mask(#posenc.causal) context_length(36261) encode [#posenc.xpos]
