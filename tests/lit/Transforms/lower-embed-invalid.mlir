// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings that have no program.
// RUN: posenc-opt %s -split-input-file -posenc-lower-embed -verify-diagnostics

// expected-error@below {{expects one posenc.embed in the module, but has 0}}
module {}

// -----

// expected-error@below {{expected an embedding with a body, but '@e' has named encodings: run posenc-expand-encodings first}}
posenc.embed @e dim(8)

// -----

// expected-error@below {{cannot compute a posenc.table for an input embedding: its tokens have neither heads nor queries}}
posenc.embed @e dim(8) {
^bb0(%x: !posenc.tokens):
  %t = posenc.table law(#posenc.operand<"t", channels = 8>) : !posenc.table<head, channel>
  %1 = posenc.vadd %x, %t : !posenc.tokens, !posenc.table<head, channel>
  posenc.yield %1 : !posenc.tokens
}

// -----

// expected-error@below {{cannot compute a posenc.vector_norm for an input embedding: its vectors have no other heads}}
posenc.embed @e dim(8) {
^bb0(%x: !posenc.tokens):
  %1 = posenc.vector_norm %x rms over(all_heads) epsilon(1.0e-6) added : !posenc.tokens
  posenc.yield %1 : !posenc.tokens
}
