// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of blocks: one case for each message.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{expected 'blocks' to hold an attribute such as #posenc.block_list<queries = 64, keys = 64>, but got #posenc.causal}}
posenc.kernel @mask heads(2) head_dim(8) blocks(#posenc.causal)

// -----

// block_list_c1
// expected-error@below {{expected 'queries' of #posenc.block_list to be from 1 to 2^30, but got 0}}
posenc.kernel @queries heads(2) head_dim(8) blocks(#posenc.block_list<queries = 0, keys = 64>)

// -----

// block_list_c1
// expected-error@below {{expected 'keys' of #posenc.block_list to be from 1 to 2^30, but got -1}}
posenc.kernel @keys heads(2) head_dim(8) blocks(#posenc.block_list<queries = 64, keys = -1>)

// -----

// block_list_c2
// expected-error@below {{expected the name of an operand to be a C identifier but for dots}}
posenc.kernel @name heads(2) head_dim(8) blocks(#posenc.block_list<queries = 64, keys = 64, name = "8">)

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects the names of operands to differ, but 'blocks.offsets' names two tensors}}
posenc.kernel @twice heads(2) head_dim(8) mask(#posenc.segments<name = "blocks.offsets">)
  blocks(#posenc.block_list<queries = 64, keys = 64>)

// -----

// kernel_c15
posenc.kernel @scan heads(2) head_dim(8) blocks(#posenc.block_list<queries = 64, keys = 64>) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  // expected-error@below {{'posenc.rowscan' op cannot stand beside 'blocks', since it reads scores of keys that are not listed}}
  %t = posenc.rowscan %s inclusive {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %p = posenc.normalize softmax %t
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
