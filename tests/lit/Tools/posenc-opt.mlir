// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-opt has the dialects and passes that a kernel needs on its way to LLVM.
// RUN: posenc-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: Available Dialects: arith,builtin,cf,func,llvm,math,posenc,scf
// RUN: posenc-opt --list-passes | FileCheck %s --check-prefix=PASSES
// PASSES-DAG: --posenc-expand-encodings
// PASSES-DAG: --posenc-lower-driver
// PASSES-DAG: --posenc-plan
// PASSES-DAG: --posenc-simplify-scores
// PASSES-DAG: --posenc-verify-plan
// RUN: posenc-opt %s --convert-scf-to-cf --convert-math-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts | FileCheck %s
// An error is one line and a place, and no output.
// RUN: not posenc-opt %S/Inputs/invalid.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: invalid.mlir:3:1: error: 'posenc.kernel' op expects 'head_dim' to be even and between 2 and 256, but got 3
// RUN: not ls %t.none

// CHECK-LABEL: llvm.func @loop
// CHECK: llvm.cond_br
// CHECK: llvm.intr.exp
// CHECK-NOT: {{ (scf|cf|arith|math|func)\.}}
func.func @loop(%n: i64, %x: f32) -> f32 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %y = scf.for %i = %zero to %n step %one iter_args(%sum = %x) -> (f32) : i64 {
    %e = math.exp %sum : f32
    scf.yield %e : f32
  }
  return %y : f32
}
