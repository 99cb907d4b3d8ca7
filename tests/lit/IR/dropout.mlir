// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout of weights, f64, and the types of an embedding's tables: printing and parsing.
// RUN: posenc-opt %s | FileCheck %s
// RUN: posenc-opt %s | posenc-opt | FileCheck %s
// RUN: posenc-opt %s -emit-bytecode | posenc-opt | FileCheck %s

// CHECK: posenc.kernel @clause heads(2) head_dim(8) mask(#posenc.causal) no_lse dropout(1.000000e-01)
posenc.kernel @clause heads(2) head_dim(8) dropout(0.1) no_lse mask(#posenc.causal)

// CHECK: posenc.kernel @integer heads(2) head_dim(8) dropout(0.000000e+00)
posenc.kernel @integer heads(2) head_dim(8) dropout(0)

// CHECK: posenc.kernel @f64 heads(2) head_dim(8) dtype(f64) kv_dtype(f64) table_dtype(f64)
posenc.kernel @f64 heads(2) head_dim(8) dtype(f64) kv_dtype(f64) table_dtype(f64)

// CHECK-LABEL: posenc.kernel @body
posenc.kernel @body heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize exp %s
  // CHECK: %[[D:.*]] = posenc.drop_weights %[[P:.*]] probability(2.500000e-01)
  %d = posenc.drop_weights %p probability(0.25)
  // CHECK: posenc.weighted_sum %[[D]], %{{.*}}
  %o1 = posenc.weighted_sum %d, %v
  // CHECK: posenc.remainder %[[P]], %{{.*}}
  %o2 = posenc.remainder %p, %v
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
}

// CHECK: posenc.embed @tables dim(8) dtype(f64) table_dtype(bf16)
posenc.embed @tables dim(8) table_dtype(bf16) dtype(f64) encode [#posenc.learned_absolute<rows = 4>]

posenc.plan @plan kernel(@k) isa("x86-64-avx2") heads(2) kv_heads(1) head_dim(8) value_dim(6) rows([24]) keys(256) {
  posenc.prologue {
  ^bb0(%q: !posenc.query):
    posenc.yield %q : !posenc.query
  }
  posenc.step @all until(affine_map<(q_begin, q_end, lq, lk) -> (lk)>) {
  ^bb0(%q: !posenc.query, %k: !posenc.key):
    %s = posenc.dot %q, %k scale(1.0)
    posenc.yield %s : !posenc.score
  }
  posenc.epilogue {
  ^bb0(%state: !posenc.state):
    // CHECK: posenc.tile.normalize abs_sum %{{.*}} bounds([1.000000e+00, 2.000000e+00]) dropout(5.000000e-01)
    %o = posenc.tile.normalize abs_sum %state bounds([1.0, 2.0]) dropout(0.5)
    posenc.yield %o : !posenc.output
  }
}
