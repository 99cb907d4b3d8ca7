// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytecode holds the same module as text, and its bytes do not depend on how
// the text was laid out.
// RUN: posenc-opt %s -o %t.mlir
// RUN: posenc-opt %s --emit-bytecode -o %t.mlirbc
// RUN: posenc-opt %t.mlirbc -o %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir
// RUN: posenc-opt %t.mlirbc --emit-bytecode -o %t.again.mlirbc
// RUN: cmp %t.mlirbc %t.again.mlirbc
// RUN: posenc-opt %t.mlirbc --posenc-expand-encodings | FileCheck %s

// CHECK-LABEL: posenc.kernel @k
// CHECK: posenc.table law(#posenc.operand<"t5_bias.table", rows = 32>)
// CHECK: posenc.dot
posenc.kernel @k heads(3) head_dim(64) mask(#posenc.causal<top_left>) scale(0.1)
  positions(#posenc.position_tensor<name = "p", align = top_left>)
  encode [#posenc.rope<base = 0.1>, #posenc.alibi, #posenc.t5_bias, #posenc.toeplitz_bias, #posenc.dense_bias]
