// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks and laws: defaults are not printed, all else survives three round trips.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// CHECK-LABEL: module attributes
module attributes {
  // CHECK-SAME: t.clip = #posenc.clipped_distance<query_minus_key, max = 0>
  t.clip = #posenc.clipped_distance<query_minus_key, max = 0>,
  // CHECK-SAME: t.difference = [#posenc.difference<query_minus_key>, #posenc.difference<key_minus_query>]
  t.difference = [#posenc.difference<query_minus_key>, #posenc.difference<key_minus_query>],
  // CHECK-SAME: t.iota = [#posenc.iota, #posenc.iota, #posenc.iota<offset = -3>, #posenc.iota<align = top_left>, #posenc.iota<offset = 16, align = top_left>]
  t.iota = [#posenc.iota, #posenc.iota<offset = 0, align = bottom_right>, #posenc.iota<offset = -3>, #posenc.iota<align = top_left>, #posenc.iota<align = top_left, offset = 16>],
  // CHECK-SAME: t.mask = [#posenc.full, #posenc.causal, #posenc.causal, #posenc.causal<top_left>]
  t.mask = [#posenc.full, #posenc.causal, #posenc.causal<bottom_right>, #posenc.causal<top_left>],
  // CHECK-SAME: t.operand = [#posenc.operand<"a">, #posenc.operand<"a.b_1", rows = 7>, #posenc.operand<"_">]
  t.operand = [#posenc.operand<"a">, #posenc.operand<"a.b_1", rows = 7>, #posenc.operand<"_">],
  // CHECK-SAME: t.positions = [#posenc.position_tensor, #posenc.position_tensor<name = "p">, #posenc.position_tensor<align = top_left>, #posenc.position_tensor<queries = "query_positions">]
  t.positions = [#posenc.position_tensor, #posenc.position_tensor<name = "p">, #posenc.position_tensor<align = top_left>, #posenc.position_tensor<queries = "query_positions">],
  // CHECK-SAME: t.tables = [!posenc.table<row>, !posenc.table<row, head>, !posenc.table<head, query, key>]
  t.tables = [!posenc.table<row>, !posenc.table<row, head>, !posenc.table<head, query, key>],
  // CHECK-SAME: t.thresholds = [#posenc.threshold_bucket<[1, 2, 4, 4], future_offset = 5>, #posenc.threshold_bucket<[], future_offset = -1>]
  t.thresholds = [#posenc.threshold_bucket<[1, 2, 4, 4], future_offset = 5>, #posenc.threshold_bucket<[], future_offset = -1>]
} {
}

// Real numbers: integers, both signs, exponents and bit patterns are read;
// what is printed reads back as the same bits.
// CHECK-LABEL: posenc.kernel @numbers
posenc.kernel @numbers heads(12) head_dim(2) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // CHECK: #posenc.constants<[1.000000e+00, -2.000000e+00, 0.000000e+00, -0.000000e+00, 1.000000e-01,
  // CHECK-SAME: 0.33333333333333331, 1.000000e+300, 4.940660e-324, 0x7FF8000000000000, 0x7FF0000000000000,
  // CHECK-SAME: 0xFFF0000000000000, 1.000000e+01]>
  %t = posenc.table law(#posenc.constants<[1, -2, 0.0, -0.0, 1.0e-1, 0.333333333333333314829616256247390992939472198486328125, 1.0e300,
    4.9406564584124654e-324, 0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 10.]>) : !posenc.table<head>
  // CHECK: #posenc.geometric<base = 3.000000e+00, dims = 2>
  %f = posenc.freqs law(#posenc.geometric<base = 3, dims = 2>)
  // CHECK: #posenc.geometric<base = 1.500000e+00, dims = 65536>
  %g = posenc.freqs law(#posenc.geometric<dims = 65536, base = 0x3FF8000000000000>)
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
