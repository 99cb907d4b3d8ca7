// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of keys, values and operands in memory: printing and parsing.
// RUN: posenc-opt %s | FileCheck %s
// RUN: posenc-opt %s | posenc-opt | FileCheck %s
// RUN: posenc-opt %s -emit-bytecode | posenc-opt | FileCheck %s

// CHECK: posenc.kernel @heads heads(2) head_dim(8) kv_dtype(i8) kv_scales(head)
posenc.kernel @heads heads(2) head_dim(8) kv_scales(head) kv_dtype(i8)

// CHECK: posenc.kernel @tokens heads(2) head_dim(8) dtype(bf16) kv_dtype(f8E4M3FN) kv_scales(token) table_dtype(f16) keys(paged)
posenc.kernel @tokens heads(2) head_dim(8) dtype(bf16) table_dtype(f16) kv_dtype(f8E4M3FN) kv_scales(token) keys(paged)

// CHECK: posenc.kernel @body heads(2) head_dim(8) kv_dtype(i8) kv_scales(token) {
// CHECK: posenc.table law(#posenc.operand<"t", rows = 3, dtype = bf16>) : !posenc.table<row>
posenc.kernel @body heads(2) head_dim(8) kv_dtype(i8) kv_scales(token) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t = posenc.table law(#posenc.operand<"t", rows = 3, dtype = bf16>) : !posenc.table<row>
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
