// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass itself cannot fail: what an encoding needs of its kernel is checked
// before it runs, so nothing is half expanded. Kernels with a body stay.
// RUN: posenc-opt %s -posenc-expand-encodings -split-input-file -verify-diagnostics
// RUN: not posenc-opt %s -posenc-expand-encodings -split-input-file 2>/dev/null | FileCheck %s
// CHECK-NOT: posenc.dot

// expected-error @below {{'posenc.kernel' op expected 'dims' of #posenc.rope (16) to be at most the kernel's 'head_dim' (8)}}
posenc.kernel @k heads(2) head_dim(8) encode [#posenc.nope, #posenc.rope<dims = 16>]

// -----

// expected-error @below {{would reward future keys}}
posenc.kernel @k heads(2) head_dim(8) encode [#posenc.alibi]

// -----

// expected-error @below {{}}
posenc.kernel @k heads(2) head_dim(8) encode [#posenc.dense_bias, #posenc.dense_bias]
