// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of an input embedding.
// RUN: posenc-opt %s --posenc-lower-embed=isa=x86-64-avx2,x86-64 | FileCheck %s
// RUN: posenc-opt %s --posenc-lower-embed --posenc-driver-to-llvm | FileCheck %s --check-prefix=LLVM

// CHECK-DAG: llvm.mlir.global internal constant @e_name("e\00")
// CHECK-DAG: llvm.mlir.global internal constant @e_isa_name0("x86-64-avx2\00")
// CHECK-DAG: llvm.mlir.global internal constant @e_isa_name1("x86-64\00")
// CHECK-DAG: llvm.mlir.global internal constant @e_tensor_name0("x\00")
// CHECK-DAG: llvm.mlir.global internal constant @e_tensor_name1("y\00")
// CHECK-DAG: llvm.mlir.global internal constant @e_tensor_name2("mask\00")
// CHECK-LABEL: func.func private @e_sequence0_item(
// CHECK-LABEL: func.func private @e_token_item(
// CHECK: call @posenc_kernel_position_failed
// CHECK-LABEL: func.func @e(
// CHECK: call @posenc_kernel_enter(
// CHECK: call @posenc_kernel_scratch(
// CHECK: call @posenc_kernel_parallel(
// CHECK: call @posenc_kernel_parallel(
// CHECK: call @posenc_kernel_leave(
// CHECK-LABEL: func.func @e_scratch_bytes(
// CHECK-NOT: posenc.embed
// LLVM-NOT: unrealized_conversion_cast
// LLVM: llvm.func @e(
posenc.embed @e dim(8) {
^bb0(%x: !posenc.tokens):
  %m = posenc.position token law(#posenc.position_tensor<name = "mask">)
  %p = posenc.coord_sum %m
  %q = posenc.bounded %p rows(4) of("table")
  %1 = posenc.channel_map %x(%q : !posenc.coord) pairing(half) {
  ^bb0(%e: f64, %k: f64, %part: f64, %a: f64):
    %r = arith.addf %e, %a : f64
    posenc.yield %r : f64
  }
  %2 = posenc.dropout %1 probability(0.5) stream(0)
  posenc.yield %2 : !posenc.tokens
}
