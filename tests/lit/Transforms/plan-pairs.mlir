// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-simplify-scores --posenc-plan --remarks-filter=posenc-plan 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not='multiplies pairs'
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-simplify-scores --posenc-plan=isa=x86-64-avx512-bf16 | FileCheck %s --check-prefix=ONE

// Kernels of bf16 have an instruction set more, whose products are those of
// pairs: both where queries and keys are as they are stored.

// CHECK-DAG: @plain_x86_64_avx512_bf16 multiplies pairs of bf16 for scores and values
// CHECK-DAG: @rotated_x86_64_avx512_bf16 multiplies pairs of bf16 for values
// CHECK-DAG: @dropped_x86_64_avx512_bf16 multiplies pairs of bf16 for scores
// CHECK-DAG: posenc.plan @plain_x86_64_avx512_bf16 {{.*}} keys(256)
// CHECK-DAG: posenc.plan @plain_x86_64_avx512_bf16_packed
// CHECK-DAG: posenc.plan @plain_x86_64_avx512 {{.*}} keys(128)

// One that brings nothing gives way to the next.
// ONE: posenc.plan @plain_x86_64_avx512_bf16 {{.*}} isa("x86-64-avx512-bf16")
// ONE-NOT: posenc.plan @single_x86_64_avx512_bf16
// ONE: posenc.plan @single_x86_64_avx512 {{.*}} isa("x86-64-avx512")
// ONE-NOT: posenc.plan @cache_x86_64_avx512_bf16
// ONE: posenc.plan @cache_x86_64_avx512 {{.*}} isa("x86-64-avx512")

posenc.kernel @plain heads(2) head_dim(128) dtype(bf16) mask(#posenc.causal)
posenc.kernel @rotated heads(2) head_dim(64) dtype(bf16) encode [#posenc.rope]
posenc.kernel @dropped heads(2) head_dim(64) dtype(bf16) dropout(0.1)
posenc.kernel @single heads(2) head_dim(64)
posenc.kernel @cache heads(2) head_dim(64) dtype(bf16) kv_dtype(f32)
