// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The levels and the machine code one by one.
// RUN: rm -rf %t
// RUN: posenc-compile %s --emit=level2 -o %t && FileCheck %s --check-prefix=LEVEL2 < %t/k.level2.mlir
// RUN: posenc-compile %s --emit=plan --target=x86-64-avx2,x86-64 -o %t && FileCheck %s --check-prefix=PLAN < %t/k.plan.mlir
// RUN: posenc-compile %s --emit=object --target=x86-64-avx2 -o %t && ls %t | FileCheck %s --check-prefix=OBJECT
// RUN: posenc-compile %s --emit=asm --target=x86-64-avx2 -o %t && FileCheck %s --check-prefix=ASM < %t/k_x86_64_avx2_tile24.s
// RUN: not posenc-compile %s --emit=ptx -o %t 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: posenc-opt %t/k.plan.mlir --posenc-verify-plan -o /dev/null
// RUN: posenc-compile %s --emit=level2 --explain -o %t | FileCheck %s --check-prefix=TENSORS
// RUN: posenc-compile %s --emit=plan --target=x86-64 --explain -o %t | FileCheck %s --check-prefixes=TILES,TENSORS

// TILES: tiles:
// TENSORS: kernel k
// TENSORS-NEXT: tensor q: f32 [B, H, Lq, 16]
// TENSORS: operand key_lengths: i32 [B]
// TENSORS: append function k_append_kv
// TENSORS: tensor k_cache: f32 [B, Hkv, Lk, 16]
// LEVEL2: posenc.rotate
// PLAN: posenc.plan @k_x86_64_avx2
// PLAN: posenc.plan @k_x86_64 kernel
// OBJECT: k_driver.o
// OBJECT: k_x86_64_avx2_keys.o
// OBJECT: k_x86_64_avx2_tile24.o
// ASM: vfmadd
// PTX: error: --emit=ptx: this posenc has no GPU target
posenc.kernel @k heads(4) head_dim(16) dtype(f32) keys(lengths) mask(#posenc.causal) encode [#posenc.rope]
