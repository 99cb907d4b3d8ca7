// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names that a C or C++ program has already, and names of other kernels, are
// refused where the kernel is.
// REQUIRES: halide
// RUN: rm -rf %t && split-file %s %t
// RUN: not posenc-compile %t/keyword.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=KEYWORD
// RUN: not posenc-compile %t/cxx.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=CXX
// RUN: not posenc-compile %t/libc.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LIBC
// RUN: not posenc-compile %t/libm.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LIBM
// RUN: not posenc-compile %t/main.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=MAIN
// RUN: not posenc-compile %t/type.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not posenc-compile %t/runtime.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=RUNTIME
// RUN: not posenc-compile %t/dlpack.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=DLPACK
// RUN: not posenc-compile %t/capital.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=CAPITAL
// RUN: not posenc-compile %t/double.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=DOUBLE
// RUN: not posenc-compile %t/derived.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=DERIVED
// RUN: not posenc-compile %t/derived.mlir --kernel a -o %t/out 2>&1 | FileCheck %s --check-prefix=DERIVED
// RUN: not posenc-compile %t/append.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=APPEND
// RUN: not ls %t/out

// KEYWORD: keyword.mlir:2:1: error: cannot compile a kernel named 'int', which is a word of C or C++; rename it: the kernel becomes a C function of that name
// CXX: cxx.mlir:1:1: error: cannot compile a kernel named 'class', which is a word of C or C++
// LIBC: libc.mlir:1:1: error: cannot compile a kernel named 'malloc', which is a name of the C library
// LIBM: libm.mlir:1:1: error: cannot compile a kernel named 'tanh', which is a name of the C library
// MAIN: main.mlir:1:1: error: cannot compile a kernel named 'main', which is a name of the C library
// TYPE: type.mlir:1:1: error: cannot compile a kernel named 'size_t', which is kept for types by POSIX
// RUNTIME: runtime.mlir:1:1: error: cannot compile a kernel named 'posenc_version', which is kept for posenc's runtime
// DLPACK: dlpack.mlir:1:1: error: cannot compile a kernel named 'DLTensor', which is kept for DLPack
// CAPITAL: capital.mlir:1:1: error: cannot compile a kernel named '_Kernel', which is reserved for the compiler
// DOUBLE: double.mlir:1:1: error: cannot compile a kernel named 'my__kernel', which is reserved for the compiler
// DERIVED: derived.mlir:2:1: error: cannot compile a kernel named 'a_prepare', which is declared in the header of the kernel 'a'; rename one of the two
// DERIVED: derived.mlir:1:1: note: the other kernel is here
// APPEND: append.mlir:1:1: error: cannot compile a kernel named 'k_append_kv', which is declared in the header of the kernel 'k'

// Names that only look like these compile, and two headers whose names differ
// by case alone can be included together.
// RUN: posenc-compile %t/good.mlir --target=x86-64 -o %t/good
// RUN: cc -fsyntax-only -I%source/runtime/include -I%t/good %t/both.c

//--- keyword.mlir

posenc.kernel @int heads(2) head_dim(8)
//--- cxx.mlir
posenc.kernel @class heads(2) head_dim(8)
//--- libc.mlir
posenc.kernel @malloc heads(2) head_dim(8)
//--- libm.mlir
posenc.kernel @tanh heads(2) head_dim(8)
//--- main.mlir
posenc.kernel @main heads(2) head_dim(8)
//--- type.mlir
posenc.kernel @size_t heads(2) head_dim(8)
//--- runtime.mlir
posenc.kernel @posenc_version heads(2) head_dim(8)
//--- dlpack.mlir
posenc.kernel @DLTensor heads(2) head_dim(8)
//--- capital.mlir
posenc.kernel @_Kernel heads(2) head_dim(8)
//--- double.mlir
posenc.kernel @my__kernel heads(2) head_dim(8)
//--- derived.mlir
posenc.kernel @a heads(2) head_dim(8)
posenc.kernel @a_prepare heads(2) head_dim(8)
//--- append.mlir
posenc.kernel @k_append_kv heads(2) head_dim(8)
posenc.kernel @k heads(2) head_dim(8)
//--- good.mlir
posenc.kernel @attention heads(2) head_dim(8)
posenc.kernel @Attention heads(2) head_dim(8)
posenc.kernel @attention_2 heads(2) head_dim(8)
//--- both.c
#include "attention.h"
#include "Attention.h"
#include "attention_2.h"
posenc_status (*first)(const attention_args *, const posenc_call *) = attention;
posenc_status (*second)(const Attention_args *, const posenc_call *) = Attention;
posenc_status (*third)(const attention_2_args *, const posenc_call *) = attention_2;
