// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named encodings: parameters at their defaults are not printed, all else
// survives three round trips.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// CHECK-LABEL: @nope
// CHECK-SAME: encode [#posenc.nope]
posenc.kernel @nope heads(1) head_dim(8) encode [#posenc.nope]

// CHECK-LABEL: @empty_list
// CHECK-SAME: encode []
posenc.kernel @empty_list heads(1) head_dim(8) encode []

// CHECK-LABEL: @rope_defaults
// CHECK-SAME: encode [#posenc.rope]
posenc.kernel @rope_defaults heads(1) head_dim(8)
  encode [#posenc.rope<base = 1.0e4, pairing = half, dims = 0, placement = first, name = "rope">]
// CHECK-LABEL: @rope
// CHECK-SAME: encode [#posenc.rope<base = 5.000000e+05, pairing = interleaved, dims = 4, placement = last, name = "r">]
posenc.kernel @rope heads(1) head_dim(8)
  encode [#posenc.rope<name = "r", placement = last, dims = 4, pairing = interleaved, base = 500000>]

// CHECK-LABEL: @alibi_defaults
// CHECK-SAME: encode [#posenc.alibi]
posenc.kernel @alibi_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.alibi<form = causal, max_exponent = 8.0, name = "alibi">]
// CHECK-LABEL: @alibi
// CHECK-SAME: encode [#posenc.alibi<form = symmetric, max_exponent = 1.600000e+01, name = "a">]
posenc.kernel @alibi heads(1) head_dim(8) encode [#posenc.alibi<form = symmetric, max_exponent = 16.0, name = "a">]

// CHECK-LABEL: @t5_bias_defaults
// CHECK-SAME: encode [#posenc.t5_bias]
posenc.kernel @t5_bias_defaults heads(1) head_dim(8)
  encode [#posenc.t5_bias<buckets = 32, max_distance = 128, direction = causal, name = "t5_bias">]
// CHECK-LABEL: @t5_bias
// CHECK-SAME: encode [#posenc.t5_bias<buckets = 4, max_distance = 2, direction = bidirectional, name = "b">]
posenc.kernel @t5_bias heads(1) head_dim(8)
  encode [#posenc.t5_bias<buckets = 4, max_distance = 2, direction = bidirectional, name = "b">]

// CHECK-LABEL: @toeplitz_bias_defaults
// CHECK-SAME: encode [#posenc.toeplitz_bias]
posenc.kernel @toeplitz_bias_defaults heads(1) head_dim(8)
  encode [#posenc.toeplitz_bias<max_distance = 127, orientation = key_minus_query, name = "toeplitz_bias">]
// CHECK-LABEL: @toeplitz_bias
// CHECK-SAME: encode [#posenc.toeplitz_bias<max_distance = 0, orientation = query_minus_key, name = "d">]
posenc.kernel @toeplitz_bias heads(1) head_dim(8)
  encode [#posenc.toeplitz_bias<max_distance = 0, orientation = query_minus_key, name = "d">]

// CHECK-LABEL: @dense_bias_defaults
// CHECK-SAME: encode [#posenc.dense_bias]
posenc.kernel @dense_bias_defaults heads(1) head_dim(8) encode [#posenc.dense_bias<name = "bias">]
// CHECK-LABEL: @dense_bias
// CHECK-SAME: encode [#posenc.dense_bias<name = "pairs">]
posenc.kernel @dense_bias heads(1) head_dim(8) encode [#posenc.dense_bias<name = "pairs">]

// The same encoding may occur twice under two names.
// CHECK-LABEL: @twice
// CHECK-SAME: encode [#posenc.rope<dims = 4>, #posenc.rope<dims = 4, placement = last, name = "second">]
posenc.kernel @twice heads(1) head_dim(8)
  encode [#posenc.rope<dims = 4>, #posenc.rope<dims = 4, placement = last, name = "second">]
