// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rings of keys and lists of blocks: printing and parsing.
// RUN: posenc-opt %s | FileCheck %s
// RUN: posenc-opt %s | posenc-opt | FileCheck %s
// RUN: posenc-opt %s -emit-bytecode | posenc-opt | FileCheck %s

// CHECK: posenc.kernel @ring heads(2) head_dim(8) keys(ring) key_cache(encoded) mask(#posenc.window<left = 8>)
posenc.kernel @ring heads(2) head_dim(8) mask(#posenc.window<left = 8>) keys(ring) key_cache(encoded)

// CHECK: posenc.kernel @listed heads(2) head_dim(8) mask(#posenc.causal) blocks(#posenc.block_list<queries = 64, keys = 128>)
posenc.kernel @listed heads(2) head_dim(8) blocks(#posenc.block_list<queries = 64, keys = 128>) mask(#posenc.causal)

// The body has the numbers, the clause says which are wanted.
// CHECK: posenc.kernel @named heads(2) head_dim(8) blocks(#posenc.block_list<queries = 1, keys = 16, name = "near">) {
posenc.kernel @named heads(2) head_dim(8) blocks(#posenc.block_list<queries = 1, keys = 16, name = "near">) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
