// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rotary encodings, their scaling and remaps of positions expand to.
// RUN: posenc-opt %s --posenc-expand-encodings | FileCheck %s
// RUN: posenc-opt %s --posenc-expand-encodings --verify-roundtrip -o /dev/null

// Laws that are known when compiled are lists of numbers.
// CHECK-LABEL: @linear_scaling
// CHECK: posenc.freqs law(#posenc.frequencies<[2.500000e-01, 2.500000e-03]>)
posenc.kernel @linear_scaling heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.linear_scaling<factor = 4.0>>]

// CHECK-LABEL: @ntk
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 5.000000e-03]>)
posenc.kernel @ntk heads(1) head_dim(4) encode [#posenc.rope<scaling = #posenc.ntk<alpha = 2.0>>]

// CHECK-LABEL: @proportional
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.000000e-01, 0.000000e+00, 0.000000e+00]>)
posenc.kernel @proportional heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.proportional<fraction = 0.5>>]

// CHECK-LABEL: @truncated_scaling
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00]>)
posenc.kernel @truncated_scaling heads(1) head_dim(8)
  encode [#posenc.rope<scaling = #posenc.truncated_scaling<low = 0.01, high = 1.0, rho = 0.5>>]

// CHECK-LABEL: @power_scaling
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 5.000000e-03]>)
posenc.kernel @power_scaling heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.power_scaling<kappa = 1.0>>]

// CHECK-LABEL: @ntk_mixed
// CHECK: posenc.freqs law(#posenc.frequencies<[{{.*}}, 2.500000e-03]>)
posenc.kernel @ntk_mixed heads(1) head_dim(4) encode [#posenc.rope<scaling = #posenc.ntk_mixed<factor = 4.0>>]

// CHECK-LABEL: @llama3
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.250000e-02]>)
posenc.kernel @llama3 heads(1) head_dim(4)
  encode [#posenc.rope<base = 100.0, scaling = #posenc.llama3<original_length = 60>>]

// The attention factor is a modulus of queries and keys.
// CHECK-LABEL: @yarn
// CHECK: posenc.rotate {{.*}} : !posenc.query modulus {
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %{{.*}}: f64):
// CHECK-NEXT:   %[[M:.*]] = arith.constant 1.2772588722239
// CHECK-NEXT:   posenc.yield %[[M]] : f64
// CHECK: posenc.rotate {{.*}} : !posenc.key modulus {
// CHECK: posenc.dot {{.*}} scale(1.250000e-01)
posenc.kernel @yarn heads(1) head_dim(64)
  encode [#posenc.rope<scaling = #posenc.yarn<factor = 16.0, original_length = 4096>>]

// CHECK-LABEL: @factor_on_scale
// CHECK: posenc.rotate {{.*}} : !posenc.query{{$}}
// CHECK: posenc.dot {{.*}} scale(0.2039237783
posenc.kernel @factor_on_scale heads(1) head_dim(64)
  encode [#posenc.rope<factor_site = scale, scaling = #posenc.yarn<factor = 16.0, original_length = 4096>>]

// CHECK-LABEL: @explicit_factor
// CHECK: arith.constant 1.500000e+00 : f64
posenc.kernel @explicit_factor heads(1) head_dim(4) encode [#posenc.rope<attention_factor = 1.5>]

// Laws of the call's length are regions.
// CHECK-LABEL: @dynamic_linear
// CHECK: %[[W:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 1.000000e-02]>) : !posenc.table<row>
// CHECK: posenc.freqs_map(%[[W]]) : !posenc.table<row> pairs(2) {
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[L:.*]]: f64, %[[X:.*]]: f64):
// CHECK-NEXT:   %[[L0:.*]] = arith.constant 1.000000e+02 : f64
// CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[X]], %[[L0]] : f64
// CHECK-NEXT:   %[[MAX:.*]] = arith.maximumf %[[L]], %[[L0]] : f64
// CHECK-NEXT:   arith.divf %[[P]], %[[MAX]] : f64
posenc.kernel @dynamic_linear heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.dynamic_linear<original_length = 100>>]

// CHECK-LABEL: @dynamic_ntk
// CHECK: posenc.freqs_map
// CHECK:   math.powf
posenc.kernel @dynamic_ntk heads(1) head_dim(4) encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0>>]

// CHECK-LABEL: @longrope
// CHECK: %[[S:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 5.000000e-03]>)
// CHECK: %[[G:.*]] = posenc.table law(#posenc.constants<[5.000000e-01, 2.500000e-03]>)
// CHECK: posenc.freqs_map(%[[S]], %[[G]]) : !posenc.table<row>, !posenc.table<row> pairs(2) {
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[L:.*]]: f64, %[[A:.*]]: f64, %[[B:.*]]: f64):
// CHECK:   %[[C:.*]] = arith.cmpf ole, %[[L]], %{{.*}} : f64
// CHECK:   arith.select %[[C]], %[[A]], %[[B]] : f64
posenc.kernel @longrope heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<short_factor = [1, 2], long_factor = [2, 4], factor = 32.0>>]

// CHECK-LABEL: @longrope_interpolated
// CHECK: %[[W:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 1.000000e-02]>)
// CHECK: %[[G:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 3.000000e+00]>)
// CHECK: posenc.freqs_map(%[[W]], %[[G]])
posenc.kernel @longrope_interpolated heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<long_factor = [2, 4], factor = 2.0, select = long, interpolate = true>>]

// The factor of the call, not below 2; the last pair is interpolated.
// CHECK-LABEL: @dynamic_yarn
// CHECK: %[[W:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 1.000000e-02]>) : !posenc.table<row>
// CHECK: %[[R:.*]] = posenc.table law(#posenc.constants<[0.000000e+00, 1.000000e+00]>) : !posenc.table<row>
// CHECK: posenc.freqs_map(%[[W]], %[[R]]) : !posenc.table<row>, !posenc.table<row> pairs(2) {
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[L:.*]]: f64, %{{.*}}: f64, %{{.*}}: f64):
// CHECK-NEXT:   %[[L0:.*]] = arith.constant 1.000000e+02 : f64
// CHECK-NEXT:   %[[S:.*]] = arith.divf %[[L]], %[[L0]] : f64
// CHECK-NEXT:   %[[TWO:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT:   arith.maximumf %[[S]], %[[TWO]] : f64
// CHECK: posenc.rotate {{.*}} : !posenc.query modulus {
// CHECK:   arith.constant 1.250000e+00 : f64
posenc.kernel @dynamic_yarn heads(1) head_dim(4)
  encode [#posenc.rope<attention_factor = 1.25, scaling = #posenc.dynamic_yarn<factor = 2.0, original_length = 100>>]

// Equal factors of Llama 3's ramp are a step: 16 turns to 0.16 of them.
// CHECK-LABEL: @llama3_step
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 6.250000e-04]>)
posenc.kernel @llama3_step heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.llama3<factor = 16.0, high_freq_factor = 1.0, original_length = 100, step = true>>]

// CHECK-LABEL: @longrope_long
// CHECK: posenc.freqs law(#posenc.frequencies<[5.000000e-01, 2.500000e-03]>)
posenc.kernel @longrope_long heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<long_factor = [2, 4], select = long>>]

// Positions that keep the plain frequencies are an axis of their own.
// CHECK-LABEL: @longrope_keep_first
// CHECK: posenc.rotate {{.*}} by(%{{.*}}, %{{.*}}) freqs(%{{.*}}, %{{.*}}) pairing
posenc.kernel @longrope_keep_first heads(1) head_dim(4)
  encode [#posenc.rope<scaling = #posenc.longrope<long_factor = [2, 4], select = long, keep_first = 8>>]

// CHECK-LABEL: @inv_freq
// CHECK: posenc.table law(#posenc.operand<"rope.inv_freq", rows = 2>) : !posenc.table<row>
// CHECK: posenc.freqs_map
posenc.kernel @inv_freq heads(1) head_dim(4) encode [#posenc.rope<frequencies = operand>]
// CHECK-LABEL: @frequencies_per_head
// CHECK: posenc.table law(#posenc.operand<"rope.frequencies", rows = 2>) : !posenc.table<head, row>
posenc.kernel @frequencies_per_head heads(1) head_dim(4) encode [#posenc.rope<frequencies = per_head>]
// CHECK-LABEL: @exponents
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.000000e-01]>)
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.000000e-04]>)
posenc.kernel @exponents heads(1) head_dim(8)
  encode [#posenc.rope<dims = 4, exponent = head_dim>, #posenc.rope<dims = 4, exponent = linspace, name = "r">]

// Queries decay one way, keys the other.
// CHECK-LABEL: @xpos
// CHECK: posenc.rotate {{.*}} pairing(interleaved) first_dim(0) : !posenc.query modulus {
// CHECK:   arith.constant 0.001953125 : f64
// CHECK:   math.powf
// CHECK: posenc.rotate {{.*}} : !posenc.key modulus {
// CHECK:   arith.constant -0.001953125 : f64
posenc.kernel @xpos heads(1) head_dim(4) mask(#posenc.causal) encode [#posenc.xpos]
// CHECK-LABEL: @xpos_plain
// CHECK:   arith.constant -1.000000e+00 : f64
posenc.kernel @xpos_plain heads(1) head_dim(4) mask(#posenc.causal) encode [#posenc.xpos<scale_base = 1.0>]

// CHECK-LABEL: @mrope
// CHECK: %[[FT:.*]] = posenc.freqs law(#posenc.frequencies<[1.000000e+00, 0.000000e+00]>)
// CHECK-NEXT: %[[FH:.*]] = posenc.freqs law(#posenc.frequencies<[0.000000e+00, 1.000000e-02]>)
// CHECK-NEXT: %[[FW:.*]] = posenc.freqs law(#posenc.frequencies<[0.000000e+00, 0.000000e+00]>)
// CHECK-NEXT: %[[T:.*]] = posenc.position query law(#posenc.position_tensor<axes = 3>)
// CHECK-NEXT: %[[Y:.*]] = posenc.position query law(#posenc.position_tensor<axes = 3, axis = 1>)
// CHECK-NEXT: %[[X:.*]] = posenc.position query law(#posenc.position_tensor<axes = 3, axis = 2>)
// CHECK: posenc.rotate {{.*}} by(%[[T]], %[[Y]], %[[X]]) freqs(%[[FT]], %[[FH]], %[[FW]])
posenc.kernel @mrope heads(1) head_dim(4) positions(#posenc.position_tensor<axes = 3>)
  encode [#posenc.mrope<sections = [1, 1, 0]>]

// CHECK-LABEL: @mrope_dynamic
// CHECK-NOT: posenc.freqs law
// CHECK-COUNT-3: posenc.freqs_map
// CHECK-NOT: posenc.freqs_map
posenc.kernel @mrope_dynamic heads(1) head_dim(4)
  encode [#posenc.mrope<sections = [1, 1, 0], rope = <scaling = #posenc.dynamic_linear>>]

// CHECK-LABEL: @axial_rope
// CHECK: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.000000e-01, 0.000000e+00, 0.000000e+00]>)
// CHECK: posenc.freqs law(#posenc.frequencies<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e-01]>)
// CHECK: posenc.remap
// CHECK:   math.floor
posenc.kernel @axial_rope heads(1) head_dim(8) encode [#posenc.axial_rope<grid_width = 4, class_tokens = 1>]

// A class token behind two rows does not turn.
// CHECK-LABEL: @axial_rope_llama4
// CHECK: posenc.remap
// CHECK:   %[[N:.*]] = arith.constant 8.000000e+00 : f64
// CHECK:   %[[C:.*]] = arith.cmpf olt, %{{.*}}, %[[N]] : f64
// CHECK:   %[[Z:.*]] = arith.constant 0.000000e+00 : f64
// CHECK:   arith.select %[[C]], %{{.*}}, %[[Z]] : f64
posenc.kernel @axial_rope_llama4 heads(1) head_dim(8)
  encode [#posenc.axial_rope<grid_width = 4, grid_height = 2, preset = "llama4-vision">]

// CHECK-LABEL: @mixed_rope
// CHECK: posenc.table law(#posenc.operand<"mixed_rope.fx", rows = 4>) : !posenc.table<head, row>
// CHECK: posenc.table law(#posenc.operand<"mixed_rope.fy", rows = 4>) : !posenc.table<head, row>
posenc.kernel @mixed_rope heads(1) head_dim(8) positions(#posenc.position_tensor<axes = 2>) encode [#posenc.mixed_rope]

// CHECK-LABEL: @fope
// CHECK: %[[C:.*]] = posenc.table law(#posenc.operand<"fope.cosine", rows = 3, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[S:.*]] = posenc.table law(#posenc.operand<"fope.sine", rows = 3, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.000000e-01, 0.000000e+00]>)
// CHECK: posenc.rotate {{.*}} mix(%[[C]], %[[S]] :
// CHECK-SAME: modulus
posenc.kernel @fope heads(1) head_dim(8) encode [#posenc.fope<length = 100, padding = code>]

// CHECK-LABEL: @rope_bias
// CHECK: posenc.vadd {{.*}} : !posenc.query, !posenc.table<head, channel>
// CHECK: posenc.vadd {{.*}} : !posenc.key, !posenc.table<head, channel>
// CHECK: posenc.rotate
posenc.kernel @rope_bias heads(1) head_dim(4) encode [#posenc.rope_bias, #posenc.rope]
// CHECK-LABEL: @rope_bias_inside
// CHECK: posenc.sum_index extent(2)
// CHECK: posenc.bias
// CHECK:   arith.constant 5.000000e-01 : f64
posenc.kernel @rope_bias_inside heads(1) head_dim(4) encode [#posenc.rope_bias<form = inside>]

// Far keys are not rotated.
// CHECK-LABEL: @rerope
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key,
// CHECK: %[[I:.*]] = posenc.position query
// CHECK: %[[J:.*]] = posenc.position key
// CHECK: %[[QN:.*]] = posenc.rotate %[[Q]] by(%[[I]])
// CHECK: %[[KN:.*]] = posenc.rotate %[[K]] by(%[[J]])
// CHECK: %[[W:.*]] = posenc.remap %[[I]] {
// CHECK: %[[QF:.*]] = posenc.rotate %[[Q]] by(%[[W]])
// CHECK: %[[NEAR:.*]] = posenc.dot %[[QN]], %[[KN]]
// CHECK: %[[FAR:.*]] = posenc.dot %[[QF]], %[[K]]
// CHECK: posenc.select %[[NEAR]] else(%[[FAR]]) mask(#posenc.window<left = 511, right = -1, by = position>) at(%[[I]], %[[J]])
posenc.kernel @rerope heads(1) head_dim(4) mask(#posenc.causal) encode [#posenc.rerope]

// CHECK-LABEL: @leaky_rerope
// CHECK-COUNT-4: posenc.rotate
// CHECK: posenc.select {{.*}} else
posenc.kernel @leaky_rerope heads(1) head_dim(4) mask(#posenc.causal) encode [#posenc.leaky_rerope<window = 8>]

// The shift is 10 / 4 in the code and 2 in the paper.
// CHECK-LABEL: @self_extend
// CHECK:   arith.constant 7.500000e+00 : f64
posenc.kernel @self_extend heads(1) head_dim(4) mask(#posenc.causal)
  encode [#posenc.self_extend<group = 4, window = 10>]
// CHECK-LABEL: @self_extend_paper
// CHECK:   arith.constant 8.000000e+00 : f64
posenc.kernel @self_extend_paper heads(1) head_dim(4) mask(#posenc.causal)
  encode [#posenc.self_extend<group = 4, window = 10, law = paper>]

// Encodings after a remap change both products.
// CHECK-LABEL: @remap_then_norm
// CHECK-COUNT-4: posenc.vector_norm
posenc.kernel @remap_then_norm heads(1) head_dim(4) mask(#posenc.causal) encode [#posenc.rerope, #posenc.qk_norm]

// CHECK-LABEL: @log_n
// CHECK: %[[I:.*]] = posenc.position query law(#posenc.position_tensor)
// CHECK: posenc.row_scale %{{.*}}(%[[I]])
// CHECK:   arith.maximumf
posenc.kernel @log_n heads(1) head_dim(4) positions(#posenc.position_tensor) encode [#posenc.log_n]
// CHECK-LABEL: @log_n_qwen1
// CHECK: %[[I:.*]] = posenc.position query law(#posenc.iota)
// CHECK: posenc.row_scale %{{.*}}(%[[I]])
posenc.kernel @log_n_qwen1 heads(1) head_dim(4) positions(#posenc.position_tensor) encode [#posenc.log_n<law = qwen1>]

// CHECK-LABEL: @query_temperature
// CHECK: posenc.row_scale
// CHECK:   math.floor
// CHECK:   math.log
posenc.kernel @query_temperature heads(1) head_dim(4) mask(#posenc.chunk<size = 8192>) encode [#posenc.query_temperature]
