// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of levels 1 and 2 prints, parses and prints the same.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// The shortest kernel: every clause has a default.
// CHECK-LABEL: posenc.kernel @shortest heads(1) head_dim(2)
// CHECK-NOT: {
posenc.kernel @shortest heads(1) head_dim(2)

// All clauses, in the order in which they are printed.
// CHECK-LABEL: posenc.kernel @all_clauses heads(32) kv_heads(8) head_dim(128) value_dim(64) dtype(bf16) kv_dtype(f16)
// CHECK-SAME: queries(packed) keys(paged) mask(#posenc.causal) scale(1.250000e-01) positions(#posenc.iota) no_lse encode [#posenc.nope]
posenc.kernel @all_clauses heads(32) kv_heads(8) head_dim(128) value_dim(64) dtype(bf16) kv_dtype(f16)
  queries(packed) keys(paged) mask(#posenc.causal)
  scale(0.125) positions(#posenc.iota) no_lse encode [#posenc.nope]

// Clauses after head_dim may come in any order.
// CHECK-LABEL: posenc.kernel @any_order heads(4) head_dim(8) value_dim(6) mask(#posenc.full) no_lse
posenc.kernel @any_order heads(4) head_dim(8) no_lse mask(#posenc.full) value_dim(6)

// The limits of the extents.
// CHECK-LABEL: posenc.kernel @limits heads(65536) kv_heads(65536) head_dim(256) value_dim(1)
posenc.kernel @limits heads(65536) kv_heads(65536) head_dim(256) value_dim(1)

// Discardable attributes are kept.
// CHECK-LABEL: posenc.kernel @attributes heads(1) head_dim(2) attributes {model = "m"}
posenc.kernel @attributes heads(1) head_dim(2) attributes {model = "m"}

// A body takes the place of the clauses that say what is computed.
// CHECK-LABEL: posenc.kernel @body heads(2) head_dim(8)
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key, %[[V:.*]]: !posenc.value):
posenc.kernel @body heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // CHECK: %[[I:.*]] = posenc.position query law(#posenc.iota)
  %i = posenc.position query law(#posenc.iota)
  // CHECK: %[[J:.*]] = posenc.position key law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  // CHECK: %[[R:.*]] = posenc.relation %[[I]], %[[J]] law(#posenc.clipped_distance<key_minus_query, max = 2>)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 2>)
  // CHECK: %[[F:.*]] = posenc.freqs law(#posenc.geometric<base = 1.000000e+04, dims = 4>)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 4>)
  // CHECK: %[[M:.*]] = posenc.table law(#posenc.constants<[5.000000e-01, 2.500000e-01]>) : !posenc.table<head>
  %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  // CHECK: %[[T:.*]] = posenc.table law(#posenc.operand<"bias.table", rows = 5>) : !posenc.table<row, head>
  %t = posenc.table law(#posenc.operand<"bias.table", rows = 5>) : !posenc.table<row, head>
  // CHECK: %[[D:.*]] = posenc.table law(#posenc.operand<"dense">) : !posenc.table<head, query, key>
  %d = posenc.table law(#posenc.operand<"dense">) : !posenc.table<head, query, key>
  // CHECK: %[[Q1:.*]] = posenc.rotate %[[Q]] by(%[[I]]) freqs(%[[F]]) pairing(half) first_dim(0) : !posenc.query
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  // CHECK: %[[K1:.*]] = posenc.rotate %[[K]] by(%[[J]]) freqs(%[[F]]) pairing(interleaved) first_dim(4) : !posenc.key
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(interleaved) first_dim(4) : !posenc.key
  // CHECK: %[[S:.*]] = posenc.dot %[[Q1]], %[[K1]] scale(1.250000e-01)
  %s = posenc.dot %q1, %k1 scale(0.125)
  // CHECK: %[[B:.*]] = posenc.bias(%[[R]], %[[T]], %[[M]], %[[D]], %[[I]])
  // CHECK-SAME: : !posenc.relation, !posenc.table<row, head>, !posenc.table<head>, !posenc.table<head, query, key>, !posenc.coord {
  // CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[X:.*]]: f64, %[[Y:.*]]: f64, %{{.*}}: f64, %{{.*}}: f64):
  // CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[X]], %[[Y]] : f64
  // CHECK-NEXT: posenc.yield %[[Z]] : f64
  %b = posenc.bias(%r, %t, %m, %d, %i) : !posenc.relation, !posenc.table<row, head>, !posenc.table<head>, !posenc.table<head, query, key>, !posenc.coord {
  ^bb0(%distance: f64, %x: f64, %y: f64, %pair: f64, %position: f64):
    %z = arith.mulf %x, %y : f64
    posenc.yield %z : f64
  }
  // A bias without inputs is one number.
  // CHECK: %[[C:.*]] = posenc.bias() {
  // CHECK-NEXT: arith.constant 1.000000e+00 : f64
  %c = posenc.bias() {
    %one = arith.constant 1.0 : f64
    posenc.yield %one : f64
  }
  // CHECK: %[[SB:.*]] = posenc.add %[[S]], %[[B]]
  %sb = posenc.add %s, %b
  // CHECK: %[[SC:.*]] = posenc.add %[[SB]], %[[C]]
  %sc = posenc.add %sb, %c
  // CHECK: %[[P:.*]] = posenc.map %[[SC]]() {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f64):
  // CHECK-NEXT: math.tanh %[[X]] : f64
  %p = posenc.map %sc() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  // CHECK: %[[G:.*]] = posenc.map %[[P]](%[[M]]) : !posenc.table<head> {
  %g = posenc.map %p(%m) : !posenc.table<head> {
  ^bb0(%x: f64, %slope: f64):
    %y = arith.mulf %x, %slope : f64
    posenc.yield %y : f64
  }
  // CHECK: %[[U:.*]] = posenc.select %[[G]] mask(#posenc.causal)
  %u = posenc.select %g mask(#posenc.causal)
  // CHECK: %[[W:.*]] = posenc.normalize softmax %[[U]]
  %w = posenc.normalize softmax %u
  // CHECK: %[[O:.*]] = posenc.weighted_sum %[[W]], %[[V]]
  %o = posenc.weighted_sum %w, %v
  // CHECK: posenc.yield %[[O]] : !posenc.output
  posenc.yield %o : !posenc.output
}

// Every operation that a region of real numbers may hold.
// CHECK-LABEL: posenc.kernel @real_numbers
posenc.kernel @real_numbers heads(1) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %m = posenc.map %s(%i) : !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    // CHECK: arith.constant
    %one = arith.constant 1.0 : f64
    // CHECK: arith.constant true
    %true = arith.constant true
    // CHECK: arith.negf
    %0 = arith.negf %x : f64
    // CHECK: arith.addf
    %1 = arith.addf %0, %y : f64
    // CHECK: arith.subf
    %2 = arith.subf %1, %one : f64
    // CHECK: arith.mulf
    %3 = arith.mulf %2, %y : f64
    // CHECK: arith.divf
    %4 = arith.divf %3, %y : f64
    // CHECK: arith.maximumf
    %5 = arith.maximumf %4, %y : f64
    // CHECK: arith.minimumf
    %6 = arith.minimumf %5, %y : f64
    // CHECK: arith.maxnumf
    %7 = arith.maxnumf %6, %y : f64
    // CHECK: arith.minnumf
    %8 = arith.minnumf %7, %y : f64
    // CHECK: arith.cmpf olt
    %9 = arith.cmpf olt, %8, %y : f64
    // CHECK: arith.andi
    %10 = arith.andi %9, %true : i1
    // CHECK: arith.ori
    %11 = arith.ori %10, %9 : i1
    // CHECK: arith.xori
    %12 = arith.xori %11, %9 : i1
    // CHECK: arith.select
    %13 = arith.select %12, %8, %y : f64
    // CHECK: math.absf
    %14 = math.absf %13 : f64
    // CHECK: math.ceil
    %15 = math.ceil %14 : f64
    // CHECK: math.copysign
    %16 = math.copysign %15, %y : f64
    // CHECK: math.cos
    %17 = math.cos %16 : f64
    // CHECK: math.erf
    %18 = math.erf %17 : f64
    // CHECK: math.exp
    %19 = math.exp %18 : f64
    // CHECK: math.exp2
    %20 = math.exp2 %19 : f64
    // CHECK: math.expm1
    %21 = math.expm1 %20 : f64
    // CHECK: math.floor
    %22 = math.floor %21 : f64
    // CHECK: math.fma
    %23 = math.fma %22, %y, %one : f64
    // CHECK: math.log
    %24 = math.log %23 : f64
    // CHECK: math.log1p
    %25 = math.log1p %24 : f64
    // CHECK: math.log2
    %26 = math.log2 %25 : f64
    // CHECK: math.powf
    %27 = math.powf %26, %y : f64
    // CHECK: math.rsqrt
    %28 = math.rsqrt %27 : f64
    // CHECK: math.sin
    %29 = math.sin %28 : f64
    // CHECK: math.sqrt
    %30 = math.sqrt %29 : f64
    // CHECK: math.tan
    %31 = math.tan %30 : f64
    // CHECK: math.tanh
    %32 = math.tanh %31 : f64
    // CHECK: math.trunc
    %33 = math.trunc %32 : f64
    // CHECK: posenc.yield
    posenc.yield %33 : f64
  }
  %w = posenc.normalize softmax %m
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
