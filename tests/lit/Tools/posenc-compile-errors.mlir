// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every error has a place, exits with 1 and leaves no file.
// RUN: rm -rf %t && split-file %s %t
// RUN: not posenc-compile %t/good.mlir --kernel missing -o %t/out 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not posenc-compile %t/good.mlir --target=z80 -o %t/out 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not posenc-compile %t/encoding.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=ENCODING
// RUN: not posenc-compile %t/dims.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: not posenc-compile %t/name.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not posenc-compile %t/path.mlir --emit=plan -o %t/out 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: not posenc-compile %t/empty.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not posenc-compile %t/absent.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not posenc-compile %t/good.mlir --target=x86-64 -o %t/good.mlir/out 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not posenc-compile %t/good.mlir --emit=foo -o %t/out 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: mkdir %t/levels && cp %t/good.mlir %t/levels/good.level2.mlir
// RUN: not posenc-compile %t/levels/good.level2.mlir --emit=level2 -o %t/levels/. 2>&1 | FileCheck %s --check-prefix=OVER-SPEC
// RUN: diff %t/good.mlir %t/levels/good.level2.mlir
// RUN: mkdir -p %t/blocked/good.h
// RUN: not posenc-compile %t/good.mlir --target=x86-64 -o %t/blocked 2>&1 | FileCheck %s --check-prefix=BLOCKED
// RUN: ls %t/blocked | count 1
// RUN: not ls %t/out

// KERNEL: good.mlir:1:1: error: expected a posenc.kernel named 'missing', found good
// TARGET: error: unknown target 'z80'; expected one of x86-64-linux, aarch64-linux, aarch64-android, arm64-apple-macos, x86-64-avx512-bf16, x86-64-avx512, x86-64-avx2, x86-64, aarch64
// ENCODING: encoding.mlir:2:19: error: unknown attribute `ropee` in dialect `posenc`
// DIMS: dims.mlir:1:1: error: 'posenc.kernel' op expected 'dims' of #posenc.rope (64) to be at most the kernel's 'head_dim' (32)
// NAME: name.mlir:1:1: error: expected the name of a compiled kernel to be a C identifier, but got 'a-b'
// PATH: path.mlir:1:1: error: expected the name of a kernel to be a file name, but got 'a/b'
// EMPTY: error: expected a posenc.kernel, found none
// ABSENT: absent.mlir:1:1: error: cannot read the specification: No such file or directory
// OUTPUT: posenc-compile: error: cannot write
// EMIT: posenc-compile: error: expected --emit to be one of library, object, asm, ptx, plan, level2, but got 'foo'
// OVER-SPEC: posenc-compile: error: cannot write '{{.*}}good.level2.mlir': it is the specification
// BLOCKED: posenc-compile: error: cannot write {{.*}}good.h': it is not a regular file

//--- good.mlir
posenc.kernel @good heads(2) head_dim(8) dtype(f32)
//--- encoding.mlir
posenc.kernel @k heads(2) head_dim(8) dtype(f32)
  encode [#posenc.ropee]
//--- dims.mlir
posenc.kernel @k heads(2) head_dim(32) dtype(f32) encode [#posenc.rope<dims = 64>]
//--- name.mlir
posenc.kernel @"a-b" heads(2) head_dim(8) dtype(f32)
//--- path.mlir
posenc.kernel @"a/b" heads(2) head_dim(8) dtype(f32)
//--- empty.mlir
module {}
