// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose earlier keys are in a state.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --posenc-form-recurrences -split-input-file | FileCheck %s
