// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders, each with a case that it must leave alone.
// RUN: posenc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @select_full
// CHECK-NOT: posenc.select
// CHECK: posenc.normalize
posenc.kernel @select_full heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %u = posenc.select %s mask(#posenc.full)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: @select_twice
// CHECK-COUNT-1: posenc.select
// CHECK-NOT: posenc.select
// CHECK: posenc.normalize
posenc.kernel @select_twice heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %t = posenc.select %s mask(#posenc.causal)
  %u = posenc.select %t mask(#posenc.causal)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Two masks are not one.
// CHECK-LABEL: @select_two_masks
// CHECK: posenc.select %{{.*}} mask(#posenc.causal)
// CHECK: posenc.select %{{.*}} mask(#posenc.causal<top_left>)
posenc.kernel @select_two_masks heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %t = posenc.select %s mask(#posenc.causal)
  %u = posenc.select %t mask(#posenc.causal<top_left>)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// A scale by 1 goes, unless it says that the scores are in base 2.
// CHECK-LABEL: @scale_by_one
// CHECK: ^bb0(%[[Q:.*]]: !posenc.query):
// CHECK-NEXT: %[[S:.*]] = posenc.tile.scale %[[Q]] by(1.000000e+00) base2
// CHECK-NEXT: %[[T:.*]] = posenc.tile.scale %[[S]] by(2.000000e+00)
// CHECK-NEXT: posenc.yield %[[T]]
posenc.plan @scale_by_one kernel(@select_full) isa("x86-64") heads(1) kv_heads(1) head_dim(2) value_dim(2) rows([1]) keys(8) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    %0 = posenc.tile.scale %q by(1.0)
    %1 = posenc.tile.scale %0 by(1.0) base2
    %2 = posenc.tile.scale %1 by(2.0)
    posenc.yield %2 : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    %o = posenc.tile.normalize softmax %state
    posenc.yield %o : !posenc.output
  }
}
