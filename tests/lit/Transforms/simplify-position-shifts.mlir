// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants that are added to all positions (identity 1 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-positions -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-simplify-positions --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null

// Rotations that are multiplied, distances and masks of distances.
// CHECK-LABEL: posenc.kernel @distances
// CHECK-NOT: offset
// CHECK: posenc.yield %{{.*}} : !posenc.output
posenc.kernel @distances heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Passed] PositionShift | Category:posenc-simplify | Remark="dropped the offset 5 of positions whose distances alone matter"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Passed] PositionShift | Category:posenc-simplify | Remark="dropped the offset 5 of positions whose distances alone matter"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %q2 = posenc.vector_norm %q1 l2 over(head) epsilon(1.0e-6) added : !posenc.query
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %t = posenc.table law(#posenc.operand<"t", rows = 5>) : !posenc.table<row, head>
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %s0 = posenc.dot %q2, %k1 scale(0.5)
  %s1 = posenc.add %s0, %b
  %s = posenc.select %s1 mask(#posenc.window<left = 3>) at(%i, %j)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Channels that the product does not read may turn as they like.
// CHECK-LABEL: posenc.kernel @unread_channels
// CHECK-NOT: offset
// CHECK: posenc.yield %{{.*}} : !posenc.output
posenc.kernel @unread_channels heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Passed] PositionShift | Category:posenc-simplify | Remark="dropped the offset 5 of positions whose distances alone matter"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s = posenc.dot %q1, %k scale(0.5) channels([4, 0, 4])
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Keys of a shard that are counted from their own first.
// CHECK-LABEL: posenc.kernel @local_origin
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @local_origin heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not moved alike"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %y = math.sin %d : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The same for rotations.
// CHECK-LABEL: posenc.kernel @local_origin_of_rotations
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @local_origin_of_rotations heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not turned alike"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A position that a region reads.
// CHECK-LABEL: posenc.kernel @read
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @read heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.bias reads it"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  %b = posenc.bias(%i) : !posenc.coord {
  ^bb0(%p: f64):
    %y = math.sin %p : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Chunks are counted from the first position.
// CHECK-LABEL: posenc.kernel @chunks
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @chunks heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.select reads it"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.select reads it"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.select %s0 mask(#posenc.chunk<size = 4>) at(%i, %j)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Queries and keys that turn at different speeds.
// CHECK-LABEL: posenc.kernel @other_frequencies
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @other_frequencies heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not turned alike"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not turned alike"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %g = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.0]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%g) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Pairs of other channels.
// CHECK-LABEL: posenc.kernel @other_pairing
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @other_pairing heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not turned alike"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not turned alike"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(interleaved) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A gain behind the rotation tells its channels apart.
// CHECK-LABEL: posenc.kernel @gain
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @gain heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.channel_scale follows a rotation"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.channel_scale follows a rotation"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<channel>
  %q2 = posenc.channel_scale %q1, %g offset(0.0) : !posenc.query, !posenc.table<channel>
  %s = posenc.dot %q2, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// So does an added vector.
// CHECK-LABEL: posenc.kernel @added
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @added heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.vadd follows a rotation"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a posenc.vadd follows a rotation"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %g = posenc.table law(#posenc.operand<"g", channels = 8>) : !posenc.table<head, channel>
  %q2 = posenc.vadd %q1, %g : !posenc.query, !posenc.table<head, channel>
  %s = posenc.dot %q2, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A modulus that depends on the position.
// CHECK-LABEL: posenc.kernel @modulus
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @modulus heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: the modulus of a rotation depends on it"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: the modulus of a rotation depends on it"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query modulus {
  ^bb0(%pair: f64, %position: f64):
    %m = math.exp %position : f64
    posenc.yield %m : f64
  }
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Cosines and sines that are mixed are no rotation.
// CHECK-LABEL: posenc.kernel @mixed
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @mixed heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: mixed rotations do not add up"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: mixed rotations do not add up"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %m = posenc.table law(#posenc.operand<"m", rows = 4, channels = 4>) : !posenc.table<row, channel>
  %q1 = posenc.rotate %q by(%i) freqs(%f) mix(%m, %m : !posenc.table<row, channel>, !posenc.table<row, channel>) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Frequencies that depend on the length of the call, which counts the offset.
// CHECK-LABEL: posenc.kernel @length
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @length heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: frequencies depend on the length of the call, which counts it"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: frequencies depend on the length of the call, which counts it"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs_map() pairs(4) {
  ^bb0(%pair: f64, %length: f64):
    %x = arith.divf %pair, %length : f64
    posenc.yield %x : f64
  }
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Rows of a table are not turned with the queries.
// CHECK-LABEL: posenc.kernel @table_rows
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @table_rows heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: rows of a table are not turned with the vectors"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: rows of a table are not turned with the vectors"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %t = posenc.table law(#posenc.operand<"t", rows = 3, channels = 8>) : !posenc.table<row, channel>
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %s0 = posenc.dot %q1, %k1 scale(0.5)
  %s1 = posenc.table_dot %q1, %t at(%r) scale(0.5) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %s = posenc.add %s0, %s1
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// One side alone is turned.
// CHECK-LABEL: posenc.kernel @one_side
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @one_side heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: queries and keys are not turned alike"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s = posenc.dot %q1, %k scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Groups of positions: 3 and 4 need not be as far apart as 8 and 9.
// CHECK-LABEL: posenc.kernel @groups
// CHECK: law(#posenc.iota<offset = 5>)
posenc.kernel @groups heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a map of it is no affine function"}}
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  // expected-remark@below {{[Missed] PositionShift | Category:posenc-simplify | Remark="kept the offset 5 of positions: a map of it is no affine function"}}
  %j = posenc.position key law(#posenc.iota<offset = 5>)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %a = arith.constant 4.0 : f64
    %x1 = arith.divf %p, %a : f64
    %x2 = math.floor %x1 : f64
    posenc.yield %x2 : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %a = arith.constant 4.0 : f64
    %x1 = arith.divf %p, %a : f64
    %x2 = math.floor %x1 : f64
    posenc.yield %x2 : f64
  }
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.5, 0.25, 0.125]>)
  // expected-remark@below {{[Missed] PositionScale | Category:posenc-simplify | Remark="kept the positions of a rotation as they are mapped: the map is no affine function"}}
  %q1 = posenc.rotate %q by(%i1) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  // expected-remark@below {{[Missed] PositionScale | Category:posenc-simplify | Remark="kept the positions of a rotation as they are mapped: the map is no affine function"}}
  %k1 = posenc.rotate %k by(%j1) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
