// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Biases of low rank as more channels (identity 8 of docs/identities.md), and
// those that stay regions.
// RUN: posenc-opt %s --posenc-plan=isa=x86-64-avx2 --posenc-verify-plan -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-plan=isa=x86-64-avx2 --remarks-filter='posenc-plan' -split-input-file 2>&1 | FileCheck %s --check-prefix=REMARK

// Learned factors of both sides, and a head's own.
// CHECK-LABEL: posenc.plan @tables_x86_64_avx2
// CHECK: posenc.prepare @rows0 rows {
// CHECK: %[[B0:.*]] = posenc.bias(%{{.*}}, %{{.*}}, %{{.*}}) : !posenc.relation, !posenc.coord, !posenc.table<row, head, channel>
// CHECK: %[[F0:.*]] = posenc.tile.factors %[[B0]] : !posenc.table<head, query, channel>
// CHECK: posenc.prepare @rows1 rows {
// CHECK: posenc.tile.factors %{{.*}} : !posenc.table<key, channel>
// CHECK: posenc.keys {
// CHECK-NEXT: ^bb0(%[[K:.*]]: !posenc.key):
// CHECK: %[[KT:.*]] = posenc.tile.load_table @rows1
// CHECK: %[[KV:.*]] = posenc.tile.vector(%[[KT]]) : !posenc.table<key, channel> -> !posenc.key
// CHECK: posenc.yield %[[K]], %[[KV]]
// CHECK: posenc.prologue {
// CHECK: %[[QV:.*]] = posenc.tile.vector(%{{.*}}) : !posenc.table<head, query, channel> -> !posenc.query
// CHECK: %[[QS:.*]] = posenc.tile.scale %[[QV]] by(1.44{{.*}}) base2
// CHECK: posenc.yield %{{.*}}, %[[QS]]
// CHECK: posenc.step @interior
// CHECK-NEXT: ^bb0(%{{.*}}: !posenc.query, %[[Q1:.*]]: !posenc.query, %{{.*}}: !posenc.key, %[[K1:.*]]: !posenc.key):
// CHECK: posenc.dot %[[Q1]], %[[K1]] scale(1.0{{.*}}) channels([0, 0, 5])
// CHECK-NOT: posenc.bias
// CHECK: posenc.epilogue
// REMARK-DAG: bias is 5 more channels of queries and keys, from the prepared tables @rows0, @rows1
posenc.kernel @tables heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %c = posenc.sum_index extent(5)
  %a = posenc.table law(#posenc.operand<"a", rows = 9, channels = 5>) : !posenc.table<row, head, channel>
  %b = posenc.table law(#posenc.operand<"b", rows = 9, channels = 5>) : !posenc.table<row, channel>
  %t = posenc.bias(%c, %i, %a, %j, %b) : !posenc.relation, !posenc.coord, !posenc.table<row, head, channel>, !posenc.coord, !posenc.table<row, channel> {
  ^bb0(%n: f64, %p: f64, %x: f64, %g: f64, %y: f64):
    %z = arith.mulf %x, %y : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %u = posenc.select %s mask(#posenc.causal)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The cosine of a distance, up to its sign: cosines and sines of both
// positions, and the number that depends on neither.
// CHECK-LABEL: posenc.plan @waves_x86_64_avx2
// CHECK: posenc.prepare @rows0 rows {
// CHECK: math.cos
// CHECK: posenc.tile.factors %{{.*}} : !posenc.table<batch, head, query, channel>
// CHECK: posenc.prepare @rows1 rows {
// CHECK: posenc.tile.factors %{{.*}} : !posenc.table<batch, key, channel>
// CHECK: posenc.prepare @rows2 rows {
// CHECK: math.sin
// CHECK: posenc.prepare @rows4 rows {
// CHECK: posenc.tile.factors %{{.*}} : !posenc.table<head, query, channel>
// CHECK: posenc.prepare @rows5 rows {
// CHECK: posenc.tile.factors %{{.*}} : !posenc.table<key, channel>
// CHECK: posenc.tile.vector(%{{.*}}, %{{.*}}, %{{.*}}) :
// CHECK: posenc.dot %{{.*}}, %{{.*}} scale(1.0{{.*}}) channels([0, 0, 7])
posenc.kernel @waves heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %e = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %c = posenc.sum_index extent(3)
  %f = posenc.table law(#posenc.constants<[1.0, 0.5, 0.25]>) : !posenc.table<row>
  %h = posenc.table law(#posenc.constants<[1.0, 2.0]>) : !posenc.table<head>
  %t = posenc.bias(%e, %c, %f, %h) : !posenc.relation, !posenc.relation, !posenc.table<row>, !posenc.table<head> {
  ^bb0(%distance: f64, %n: f64, %x: f64, %y: f64):
    %one = arith.constant 1.0 : f64
    %m = math.absf %distance : f64
    %a = arith.mulf %m, %x : f64
    %z = math.cos %a : f64
    %z1 = arith.subf %z, %one : f64
    %z2 = arith.divf %z1, %y : f64
    posenc.yield %z2 : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// One number for each distance is cheaper still.
// CHECK-LABEL: posenc.plan @strip_x86_64_avx2
// CHECK: posenc.prepare @strip0 strip
// CHECK-NOT: posenc.tile.vector
posenc.kernel @strip heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %e = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %c = posenc.sum_index extent(3)
  %f = posenc.table law(#posenc.constants<[1.0, 0.5, 0.25]>) : !posenc.table<row>
  %t = posenc.bias(%e, %c, %f) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%distance: f64, %n: f64, %x: f64):
    %a = arith.mulf %distance, %x : f64
    %z = math.cos %a : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Slopes, by positions of the caller.
// CHECK-LABEL: posenc.plan @slopes_x86_64_avx2
// CHECK-NOT: posenc.tile.vector
// CHECK: posenc.bias
// REMARK-DAG: and it is no product of vectors: a summand depends on one side alone
posenc.kernel @slopes heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %e = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %c = posenc.sum_index extent(3)
  %f = posenc.table law(#posenc.constants<[1.0, 0.5, 0.25]>) : !posenc.table<row>
  %t = posenc.bias(%e, %c, %f) : !posenc.relation, !posenc.relation, !posenc.table<row> {
  ^bb0(%distance: f64, %n: f64, %x: f64):
    %a = arith.mulf %distance, %x : f64
    posenc.yield %a : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Products of positions.
// CHECK-LABEL: posenc.plan @growing_x86_64_avx2
// CHECK-NOT: posenc.tile.vector
// REMARK-DAG: a factor may grow with the position, and f32 products of large numbers cancel
posenc.kernel @growing heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %c = posenc.sum_index extent(3)
  %f = posenc.table law(#posenc.constants<[1.0, 0.5, 0.25]>) : !posenc.table<row>
  %t = posenc.bias(%i, %j, %c, %f) : !posenc.coord, !posenc.coord, !posenc.relation, !posenc.table<row> {
  ^bb0(%a: f64, %b: f64, %n: f64, %x: f64):
    %y = arith.mulf %a, %b : f64
    %z = arith.mulf %y, %x : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A row that both tokens look up, and a function that is no sum of products.
// CHECK-LABEL: posenc.plan @joint_x86_64_avx2
// CHECK-NOT: posenc.tile.vector
// REMARK-DAG: the math.exp of query and key is no sum of products
// REMARK-DAG: input #2 is no sum of products of a number of the query and one of the key
posenc.kernel @joint heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %e = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 4>)
  %g = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %c = posenc.sum_index extent(3)
  %f = posenc.table law(#posenc.operand<"f", rows = 9, channels = 3>) : !posenc.table<row, channel>
  %t = posenc.bias(%c, %e, %f) : !posenc.relation, !posenc.relation, !posenc.table<row, channel> {
  ^bb0(%n: f64, %r: f64, %x: f64):
    posenc.yield %x : f64
  }
  %t1 = posenc.bias(%c, %g) : !posenc.relation, !posenc.relation {
  ^bb0(%n: f64, %r: f64):
    %y = arith.mulf %n, %r : f64
    %z = math.exp %y : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s0 = posenc.add %d, %t
  %s = posenc.add %s0, %t1
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// CHECK-LABEL: posenc.plan @rank_x86_64_avx2
// CHECK-NOT: posenc.tile.vector
// REMARK-DAG: a product has more channels than a head
posenc.kernel @rank heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %c = posenc.sum_index extent(9)
  %a = posenc.table law(#posenc.operand<"a", channels = 9>) : !posenc.table<query, channel>
  %b = posenc.table law(#posenc.operand<"b", channels = 9>) : !posenc.table<key, channel>
  %t = posenc.bias(%c, %a, %b) : !posenc.relation, !posenc.table<query, channel>, !posenc.table<key, channel> {
  ^bb0(%n: f64, %x: f64, %y: f64):
    %z = arith.mulf %x, %y : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The heads of a call may be a part of the kernel's.
// CHECK-LABEL: posenc.plan @heads_x86_64_avx2
// CHECK-NOT: posenc.tile.vector
// REMARK-DAG: a factor reads both constants and an operand with a head axis
posenc.kernel @heads heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %c = posenc.sum_index extent(3)
  %a = posenc.table law(#posenc.operand<"a", channels = 3>) : !posenc.table<head, query, channel>
  %b = posenc.table law(#posenc.operand<"b", channels = 3>) : !posenc.table<key, channel>
  %h = posenc.table law(#posenc.constants<[1.0, 2.0]>) : !posenc.table<head>
  %t = posenc.bias(%c, %a, %b, %h) : !posenc.relation, !posenc.table<head, query, channel>, !posenc.table<key, channel>, !posenc.table<head> {
  ^bb0(%n: f64, %x: f64, %y: f64, %g: f64):
    %m = arith.mulf %x, %y : f64
    %z = arith.mulf %m, %g : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// CHECK-LABEL: posenc.plan @ring_x86_64_avx2
// CHECK-NOT: posenc.tile.vector
// REMARK-DAG: a ring has keys at any place
posenc.kernel @ring heads(2) head_dim(8) keys(ring) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %c = posenc.sum_index extent(3)
  %t = posenc.bias(%c, %i, %j) : !posenc.relation, !posenc.coord, !posenc.coord {
  ^bb0(%n: f64, %x: f64, %y: f64):
    %a = arith.mulf %n, %x : f64
    %b = arith.mulf %n, %y : f64
    %e = math.cos %a : f64
    %f = math.sin %b : f64
    %z = arith.mulf %e, %f : f64
    posenc.yield %z : f64
  }
  %d = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %d, %t
  %m = posenc.select %s mask(#posenc.window<left = 5>) at(%i, %j)
  %w = posenc.normalize softmax %m
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
