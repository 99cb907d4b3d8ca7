// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of input embeddings survive three round trips.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// CHECK-LABEL: posenc.embed @numbers dim(8)
posenc.embed @numbers dim(8) {
^bb0(%x: !posenc.tokens):
  // CHECK: %[[P:.*]] = posenc.position token law(#posenc.iota)
  %p = posenc.position token law(#posenc.iota)
  // CHECK: %[[S:.*]] = posenc.table law(#posenc.operand<"shift">) : !posenc.table<batch>
  %s = posenc.table law(#posenc.operand<"shift">) : !posenc.table<batch>
  // CHECK: %[[M:.*]] = posenc.coord_map(%[[P]], %[[S]]) : !posenc.coord, !posenc.table<batch> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f64, %{{.*}}: f64):
  %m = posenc.coord_map(%p, %s) : !posenc.coord, !posenc.table<batch> {
  ^bb0(%a: f64, %b: f64):
    %r = arith.addf %a, %b : f64
    posenc.yield %r : f64
  }
  // CHECK: posenc.coord_sum %[[M]]
  %n = posenc.coord_sum %m
  // CHECK: posenc.coord_mean %[[M]]
  %e = posenc.coord_mean %m
  // CHECK: posenc.length
  %l = posenc.length
  // CHECK: %[[Q:.*]] = posenc.bounded %[[M]] rows(512) of("table")
  %q = posenc.bounded %m rows(512) of("table")
  // CHECK: posenc.random sequence stream(1)
  %u = posenc.random sequence stream(1)
  // CHECK: posenc.random token stream(2)
  %v = posenc.random token stream(2)
  // CHECK: posenc.channel_map %{{.*}}() {
  %1 = posenc.channel_map %x() {
  ^bb0(%a: f64, %k: f64, %part: f64):
    posenc.yield %a : f64
  }
  // CHECK: posenc.channel_map %{{.*}}(%[[Q]] : !posenc.coord) pairing(half) {
  %2 = posenc.channel_map %1(%q : !posenc.coord) pairing(half) {
  ^bb0(%a: f64, %k: f64, %part: f64, %b: f64):
    posenc.yield %b : f64
  }
  // CHECK: posenc.dropout %{{.*}} probability(1.000000e-01) stream(0)
  %3 = posenc.dropout %2 probability(0.1) stream(0)
  posenc.yield %3 : !posenc.tokens
}
