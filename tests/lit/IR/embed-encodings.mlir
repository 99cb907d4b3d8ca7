// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named encodings of input embeddings: parameters at their defaults are not
// printed, all else survives three round trips.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// CHECK-LABEL: @all dim(8) scale(2.000000e+00) dropout(1.000000e-01)
posenc.embed @all dim(8) scale(2.0) dropout(0.1) encode [
  // CHECK-SAME: #posenc.raw_index, #posenc.raw_index<scale = 2.000000e+00, channel = 3, name = "r">
  #posenc.raw_index<scale = 1.0>, #posenc.raw_index<channel = 3, scale = 2.0, name = "r">,
  // CHECK-SAME: #posenc.one_hot, #posenc.one_hot<first_dim = 2, width = 3, name = "o">
  #posenc.one_hot, #posenc.one_hot<first_dim = 2, width = 3, name = "o">,
  // CHECK-SAME: #posenc.sinusoidal<layout = interleaved, exponent = over_dim>
  #posenc.sinusoidal<layout = interleaved, exponent = over_dim>,
  // CHECK-SAME: #posenc.sinusoidal<layout = concatenated, exponent = over_last, order = cosine_first, base = 1.000000e+02, factor = 5.000000e-01, padding_idx = 1, name = "s">
  #posenc.sinusoidal<layout = concatenated, exponent = over_last, order = cosine_first, base = 100.0, factor = 0.5, padding_idx = 1, name = "s">,
  // CHECK-SAME: #posenc.learned_absolute<rows = 512, offset = 2, merge = mul>
  #posenc.learned_absolute<rows = 512, offset = 2, merge = mul>,
  // CHECK-SAME: #posenc.conv_s2s<side = source, rows = 1026>
  #posenc.conv_s2s<side = source, rows = 1026, offset = 2>,
  // CHECK-SAME: #posenc.hierarchical<rows = 512, alpha = 3.000000e-01>
  #posenc.hierarchical<rows = 512, alpha = 0.3>,
  // CHECK-SAME: #posenc.complex_order<words = 10, frequency = word, phase = global, layout = interleaved, merge = add>
  #posenc.complex_order<words = 10, frequency = word, phase = global, layout = interleaved, merge = add>,
  // CHECK-SAME: #posenc.cape<mode = training, max_global_shift = 5.000000e+00, mean = removed, positions = operand>
  #posenc.cape<mode = training, max_global_shift = 5.0, mean = removed, positions = operand>,
  // CHECK-SAME: #posenc.cape_2d<mode = inference, radii = steps, rows = 3, columns = 4>
  #posenc.cape_2d<mode = inference, radii = steps, rows = 3, columns = 4>,
  // CHECK-SAME: #posenc.padded_positions<source = ids, first = 2, padding = 1, padding_id = 1>
  #posenc.padded_positions<source = ids, first = 2, padding = 1, padding_id = 1>,
  // CHECK-SAME: #posenc.shifted_positions<shift = training, law = code, max_shift = 500, table_rows = 5000>
  #posenc.shifted_positions<shift = training, law = code, max_shift = 500, table_rows = 5000>,
  // CHECK-SAME: #posenc.randomised_positions<range = 2048>
  #posenc.randomised_positions<range = 2048>,
  // CHECK-SAME: #posenc.pose<mode = training, target = 16384>
  #posenc.pose<mode = training, target = 16384>]
