// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stock mlir-opt with the plugin does what posenc-opt does.
// REQUIRES: plugin
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --pass-pipeline='builtin.module(posenc-expand-encodings,posenc-simplify-scores)' -o %t.plugin
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-simplify-scores -o %t.posenc
// RUN: diff %t.plugin %t.posenc
// RUN: FileCheck %s --input-file=%t.plugin
// Its messages are the same too.
// INVALID: error: 'posenc.kernel' op expects 'head_dim' to be even and between 2 and 256, but got 3
// RUN: not mlir-opt %S/Inputs/invalid.mlir --load-dialect-plugin=%plugin 2>&1 | FileCheck %s --check-prefix=INVALID

// CHECK-LABEL: posenc.kernel @k
// CHECK: posenc.rotate
posenc.kernel @k heads(8) head_dim(64) mask(#posenc.causal) encode [#posenc.rope, #posenc.alibi]
