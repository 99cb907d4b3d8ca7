// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text and bytecode hold the same module, whatever it holds, and the bytes do
// not depend on how the text was laid out.
// DEFINE: %{input} = %s
// DEFINE: %{round_trip} = \
// DEFINE:   posenc-opt %{input} -o %t.mlir && \
// DEFINE:   posenc-opt %t.mlir -o %t.again.mlir && diff %t.mlir %t.again.mlir && \
// DEFINE:   posenc-opt %{input} --emit-bytecode -o %t.mlirbc && \
// DEFINE:   posenc-opt %t.mlirbc -o %t.again.mlir && diff %t.mlir %t.again.mlir && \
// DEFINE:   posenc-opt %t.mlirbc --emit-bytecode -o %t.again.mlirbc && cmp %t.mlirbc %t.again.mlirbc
// RUN: %{round_trip}
// RUN: posenc-opt %t.mlirbc --posenc-expand-encodings | FileCheck %s
// REDEFINE: %{input} = %S/attrs.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/ops.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/plan-ops.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/embed-ops.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/encodings.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/rotary-encodings.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/terms-encodings.mlir
// RUN: %{round_trip}
// REDEFINE: %{input} = %S/embed-encodings.mlir
// RUN: %{round_trip}

// CHECK-LABEL: posenc.kernel @k
// CHECK: posenc.table law(#posenc.operand<"t5_bias.table", rows = 32>)
// CHECK: posenc.dot
posenc.kernel @k heads(3) head_dim(64) mask(#posenc.causal<top_left>) scale(0.1)
  positions(#posenc.position_tensor<name = "p", align = top_left>)
  encode [#posenc.rope<base = 0.1>, #posenc.alibi, #posenc.t5_bias, #posenc.toeplitz_bias, #posenc.dense_bias]
