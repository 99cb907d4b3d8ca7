// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions over affine functions of positions (identity 12 of docs/identities.md).
// RUN: posenc-opt %s --posenc-simplify-positions -split-input-file | FileCheck %s
// RUN: posenc-opt %s --posenc-simplify-positions --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null

// Distances of scaled positions are Toeplitz in those of storage.
// CHECK-LABEL: posenc.kernel @distances
// CHECK-NOT: posenc.remap
// CHECK: %[[R:.*]] = posenc.relation %{{.*}}, %{{.*}} law(#posenc.difference<key_minus_query>)
// CHECK: posenc.bias(%[[R]]) : !posenc.relation {
// CHECK-NEXT: ^bb0(%[[D:.*]]: f64):
// CHECK-NEXT: %[[A:.*]] = arith.constant 2.500000e-01 : f64
// CHECK-NEXT: %[[X:.*]] = arith.mulf %[[D]], %[[A]] : f64
// CHECK-NEXT: %[[B:.*]] = arith.constant -7.500000e-01 : f64
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[B]] : f64
// CHECK-NEXT: math.sin %[[Y]] : f64
posenc.kernel @distances heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %b = arith.constant 3.0 : f64
    %x1 = arith.addf %p, %b : f64
    %a = arith.constant 4.0 : f64
    %x2 = arith.divf %x1, %a : f64
    posenc.yield %x2 : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %a = arith.constant 4.0 : f64
    %x2 = arith.divf %p, %a : f64
    posenc.yield %x2 : f64
  }
  %r = posenc.relation %i1, %j1 law(#posenc.difference<key_minus_query>)
  // expected-remark@below {{[Passed] AffinePosition | Category:posenc-simplify | Remark="folded an affine function of positions into a region"}}
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

// Positions in factors, maps and predicates; a constant does not need its position.
// CHECK-LABEL: posenc.kernel @everywhere
// CHECK-NOT: posenc.remap
// CHECK: posenc.row_scale
// CHECK: posenc.map
// CHECK: posenc.select
posenc.kernel @everywhere heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %c = arith.constant 0.5 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %b = arith.constant 1.0 : f64
    %x1 = arith.addf %p, %b : f64
    %c = arith.constant 0.0 : f64
    %x3 = arith.mulf %x1, %c : f64
    posenc.yield %x3 : f64
  }
  // expected-remark@below {{[Passed] AffinePosition | Category:posenc-simplify | Remark="folded an affine function of positions into a region"}}
  %q1 = posenc.row_scale %q(%i1) : !posenc.query, !posenc.coord {
  ^bb0(%p: f64):
    posenc.yield %p : f64
  }
  %s0 = posenc.dot %q1, %k scale(0.5)
  // expected-remark@below {{[Passed] AffinePosition | Category:posenc-simplify | Remark="folded an affine function of positions into a region"}}
  %s1 = posenc.map %s0(%j1) : !posenc.coord {
  ^bb0(%x: f64, %p: f64):
    %y = arith.mulf %x, %p : f64
    posenc.yield %y : f64
  }
  // expected-remark@below {{[Passed] AffinePosition | Category:posenc-simplify | Remark="folded an affine function of positions into a region"}}
  %s = posenc.select %s1 where(%i1, %j1) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %near = arith.cmpf oge, %x, %y : f64
    posenc.yield %near : i1
  }
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// What looks up a table stays: rows are not scaled.
// CHECK-LABEL: posenc.kernel @looks_up
// CHECK: posenc.remap
posenc.kernel @looks_up heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %j1 = posenc.remap %j {
  ^bb0(%p: f64):
    %c = arith.constant 0.5 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %t = posenc.table law(#posenc.operand<"t", rows = 5>) : !posenc.table<row>
  // expected-remark@below {{[Missed] AffinePosition | Category:posenc-simplify | Remark="kept positions that are mapped before a region reads them: they look up a table"}}
  %b = posenc.bias(%j1, %t) : !posenc.coord, !posenc.table<row> {
  ^bb0(%p: f64, %x: f64):
    %y = arith.mulf %p, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %s0, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Queries and keys in different units have no distance in storage.
// CHECK-LABEL: posenc.kernel @other_scale
// CHECK: posenc.remap
posenc.kernel @other_scale heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j1 = posenc.position key law(#posenc.iota)
  %i1 = posenc.remap %i {
  ^bb0(%p: f64):
    %c = arith.constant 0.5 : f64
    %x3 = arith.mulf %p, %c : f64
    posenc.yield %x3 : f64
  }
  %r = posenc.relation %i1, %j1 law(#posenc.difference<query_minus_key>)
  // expected-remark@below {{[Missed] AffinePosition | Category:posenc-simplify | Remark="kept positions that are mapped before a region reads them: those of the queries and of the keys have different scales"}}
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

// Groups are no affine function.
// CHECK-LABEL: posenc.kernel @groups
// CHECK-COUNT-2: posenc.remap
posenc.kernel @groups heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
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
  %r = posenc.relation %i1, %j1 law(#posenc.difference<query_minus_key>)
  // expected-remark@below {{[Missed] AffinePosition | Category:posenc-simplify | Remark="kept positions that are mapped before a region reads them: the map is no affine function"}}
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
