// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences at level 2 and 3: what is printed reads back unchanged.
// RUN: posenc-opt %s | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --posenc-verify-plan -o /dev/null

// CHECK-LABEL: posenc.kernel @plain heads(2) head_dim(8) keys(state) {
posenc.kernel @plain heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // CHECK: posenc.recurrence(%{{.*}}), (%{{.*}}), %{{.*}} scales([0.30000000000000004])
  %o = posenc.recurrence (%q), (%k), %v scales([0.30000000000000004])
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: posenc.kernel @all
posenc.kernel @all heads(2) head_dim(8) queries(packed) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // CHECK: posenc.position query law(#posenc.appended<offset = 3>)
  %i = posenc.position query law(#posenc.appended<offset = 3>)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  %t = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %g = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  // CHECK: posenc.recurrence(%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}), %{{.*}} scales([1.000000e+00, -2.000000e+00]) by(%{{.*}}), (%{{.*}}) epsilon(1.000000e-01) decayed_by decay(%{{.*}}) : !posenc.table<head> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f64):
  %o = posenc.recurrence (%t, %q), (%k, %k), %v scales([1.0, -2.0]) by (%q), (%k) epsilon(0.1)
    decayed_by decay(%g) : !posenc.table<head> {
  ^bb0(%gamma: f64):
    posenc.yield %gamma : f64
  }
  posenc.yield %o : !posenc.output
}

// A decay that is the same in all heads.
// CHECK-LABEL: posenc.kernel @constant_decay
posenc.kernel @constant_decay heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // CHECK: posenc.recurrence(%{{.*}}), (%{{.*}}), %{{.*}} scales([1.000000e+00]) {
  %o = posenc.recurrence (%q), (%k), %v scales([1.0]) {
    %half = arith.constant 0.5 : f64
    posenc.yield %half : f64
  }
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: posenc.plan @chunks
// CHECK-SAME: rows([64, 16]) keys(64)
posenc.plan @chunks kernel(@all) isa("x86-64-avx512") heads(2) kv_heads(2) head_dim(8) value_dim(8)
    rows([64, 16]) keys(64) {
  // CHECK: posenc.prepare @decays0 decays
  posenc.prepare @decays0 decays {
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %g = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
    %p = posenc.bias(%r, %g) : !posenc.relation, !posenc.table<head> {
    ^bb0(%d: f64, %gamma: f64):
      %w = math.powf %gamma, %d : f64
      posenc.yield %w : f64
    }
    posenc.yield %p : !posenc.score
  }
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q, %q : !posenc.query, !posenc.query
  }
  // CHECK: posenc.chunk {
  posenc.chunk {
  ^bb0(%q: !posenc.query, %a: !posenc.query, %k: !posenc.key):
    // CHECK: posenc.tile.recurrence(%{{.*}}), (%{{.*}}) by(%{{.*}}), (%{{.*}}) epsilon(1.000000e-01) decayed_by decays(@decays0)
    %o = posenc.tile.recurrence (%q), (%k) by (%a), (%k) epsilon(0.1) decayed_by decays(@decays0)
    posenc.yield %o : !posenc.output
  }
}
