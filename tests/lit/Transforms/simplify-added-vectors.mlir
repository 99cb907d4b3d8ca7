// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of keys with one vector (identity 6 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-scores -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-simplify-scores --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null
// RUN: posenc-opt %s --posenc-simplify-scores --posenc-simplify-scores -split-input-file | FileCheck %s

// The queries of one product get the vector; those of another one do not.
// CHECK-LABEL: posenc.kernel @added
// CHECK: %[[U:.*]] = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>)
// CHECK: %[[OTHER:.*]] = posenc.dot %[[Q:.*]], %[[V:.*]] scale(5.0
// CHECK: %[[P:.*]] = posenc.position query law(#posenc.iota)
// CHECK: %[[ROW:.*]] = posenc.remap %[[P]]
// CHECK: arith.constant 0.0
// CHECK: %[[Q1:.*]] = posenc.vadd %[[Q]], %[[U]] at(%[[ROW]])
// CHECK: %[[S:.*]] = posenc.dot %[[Q1]], %{{.*}} scale(5.0
// CHECK-NOT: posenc.table_dot
// CHECK: posenc.add %[[OTHER]], %[[S]]
posenc.kernel @added heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, head, channel>
  %k1 = posenc.vector_map %k : !posenc.key {
  ^bb0(%x: f64):
    %e = math.tanh %x : f64
    posenc.yield %e : f64
  }
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.dot %q, %k1 scale(0.5)
  // expected-remark@below {{[Passed] AddedVectors | Category:posenc-simplify | Remark="added the vector of a product with keys to the queries of another"}}
  %s2 = posenc.table_dot %k1, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
  %t0 = posenc.add %s0, %s1
  %t = posenc.add %t0, %s2
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The product comes behind the one that joins it: tables keep their order.
// CHECK-LABEL: posenc.kernel @behind
// CHECK: "u"
// CHECK: "w"
// CHECK-NOT: posenc.table_dot
// CHECK: %[[Q1:.*]] = posenc.vadd
// CHECK: posenc.dot %[[Q1]]
posenc.kernel @behind heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 0>)
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, channel>
  // expected-remark@below {{added the vector}}
  %s0 = posenc.table_dot %k, %u at(%r) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %g = posenc.table law(#posenc.operand<"w", channels = 8>) : !posenc.table<channel>
  %q1 = posenc.channel_scale %q, %g offset(1.0) : !posenc.query, !posenc.table<channel>
  %s1 = posenc.dot %q1, %k scale(0.5)
  %t = posenc.add %s0, %s1
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// CHECK-LABEL: posenc.kernel @other_scale
// CHECK: posenc.table_dot
posenc.kernel @other_scale heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %s1 = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{[Missed] AddedVectors | Category:posenc-simplify | Remark="kept a product of keys with one vector: the other product in its sum has another scale"}}
  %s2 = posenc.table_dot %k, %u at(%z) scale(0.25) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %t = posenc.add %s1, %s2
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// CHECK-LABEL: posenc.kernel @some_channels
// CHECK: posenc.table_dot
posenc.kernel @some_channels heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %s1 = posenc.dot %q, %k scale(0.5) channels([0, 4, 4])
  // expected-remark@below {{the other product in its sum has other channels}}
  %s2 = posenc.table_dot %k, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %t = posenc.add %s1, %s2
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A cap stands between the two, and keys of the other product turn.
// CHECK-LABEL: posenc.kernel @apart
// CHECK: posenc.table_dot
posenc.kernel @apart heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.map %s0() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %s2 = posenc.dot %q, %k1 scale(0.5)
  // expected-remark@below {{nothing else multiplies them in its sum}}
  %s3 = posenc.table_dot %k, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %t0 = posenc.add %s1, %s2
  %t = posenc.add %t0, %s3
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A select keeps one of them: there is no sum.
// CHECK-LABEL: posenc.kernel @selected
// CHECK: posenc.table_dot
posenc.kernel @selected heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %u = posenc.table law(#posenc.operand<"u", rows = 1, channels = 8>) : !posenc.table<row, channel>
  %z = posenc.relation_map() rows(1) {
    %zero = arith.constant 0.0 : f64
    posenc.yield %zero : f64
  }
  %s1 = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{it is no term of a sum}}
  %s2 = posenc.table_dot %k, %u at(%z) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %t = posenc.select %s1 else(%s2) mask(#posenc.causal)
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Two rows: the index matters. Nothing is said.
// CHECK-LABEL: posenc.kernel @two_rows
// CHECK: posenc.table_dot
posenc.kernel @two_rows heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1], future_offset = -1>)
  %u = posenc.table law(#posenc.operand<"u", rows = 2, channels = 8>) : !posenc.table<row, channel>
  %s1 = posenc.dot %q, %k scale(0.5)
  %s2 = posenc.table_dot %k, %u at(%r) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %t = posenc.add %s1, %s2
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
