// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of scores: parameters at their defaults are not printed, all else
// survives three round trips.
// RUN: posenc-opt %s --verify-roundtrip | FileCheck %s
// RUN: posenc-opt %s --emit-bytecode | posenc-opt | FileCheck %s
// RUN: posenc-opt %s --mlir-print-op-generic | posenc-opt | FileCheck %s

// CHECK-LABEL: @alibi_defaults
// CHECK-SAME: encode [#posenc.alibi]
posenc.kernel @alibi_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.alibi<form = causal, max_exponent = 8, name = "alibi", site = outside, slope_scale = 1, rounding = none, preset = "">]
// CHECK-LABEL: @alibi_stated
// CHECK-SAME: encode [#posenc.alibi<form = key, max_exponent = 1.600000e+01, name = "a", site = inside, slope_scale = 5.000000e-01, rounding = bf16>]
posenc.kernel @alibi_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.alibi<form = key, max_exponent = 1.600000e+01, name = "a", site = inside, slope_scale = 5.000000e-01, rounding = bf16>]

// CHECK-LABEL: @kerple_defaults
// CHECK-SAME: encode [#posenc.kerple]
posenc.kernel @kerple_defaults heads(1) head_dim(8)
  encode [#posenc.kerple<kind = log, floor = 0.01, power_max = 2, name = "kerple">]
// CHECK-LABEL: @kerple_stated
// CHECK-SAME: encode [#posenc.kerple<kind = power, floor = 1.250000e-01, power_max = 1.500000e+00, name = "k">]
posenc.kernel @kerple_stated heads(1) head_dim(8)
  encode [#posenc.kerple<kind = power, floor = 1.250000e-01, power_max = 1.500000e+00, name = "k">]

// CHECK-LABEL: @fire_defaults
// CHECK-SAME: encode [#posenc.fire]
posenc.kernel @fire_defaults heads(1) head_dim(8)
  encode [#posenc.fire<hidden = 32, c = 0.1, length = 512, epsilon = 1.0e-6, scalars = constants, name = "fire">]
// CHECK-LABEL: @fire_stated
// CHECK-SAME: encode [#posenc.fire<hidden = 4, epsilon = 0.000000e+00, scalars = operands, name = "f">]
posenc.kernel @fire_stated heads(1) head_dim(8)
  encode [#posenc.fire<hidden = 4, epsilon = 0.000000e+00, scalars = operands, name = "f">]

// CHECK-LABEL: @sandwich_defaults
// CHECK-SAME: encode [#posenc.sandwich]
posenc.kernel @sandwich_defaults heads(1) head_dim(8)
  encode [#posenc.sandwich<base = 10000, dims = 0, first = 1, direction = causal, name = "sandwich">]
// CHECK-LABEL: @sandwich_stated
// CHECK-SAME: encode [#posenc.sandwich<base = 1.000000e+02, dims = 64, first = 0, direction = bidirectional, name = "s">]
posenc.kernel @sandwich_stated heads(1) head_dim(8)
  encode [#posenc.sandwich<base = 1.000000e+02, dims = 64, first = 0, direction = bidirectional, name = "s">]

// CHECK-LABEL: @swin_bias_defaults
// CHECK-SAME: encode [#posenc.swin_bias]
posenc.kernel @swin_bias_defaults heads(1) head_dim(8)
  encode [#posenc.swin_bias<height = 7, width = 7, name = "swin_bias">]
// CHECK-LABEL: @swin_bias_stated
// CHECK-SAME: encode [#posenc.swin_bias<height = 3, width = 5, name = "s">]
posenc.kernel @swin_bias_stated heads(1) head_dim(8)
  encode [#posenc.swin_bias<height = 3, width = 5, name = "s">]

// CHECK-LABEL: @swin_v2_bias_defaults
// CHECK-SAME: encode [#posenc.swin_v2_bias]
posenc.kernel @swin_v2_bias_defaults heads(1) head_dim(8)
  encode [#posenc.swin_v2_bias<height = 8, width = 8, pretrained_height = 0, pretrained_width = 0, hidden = 512, form = mlp, name = "swin_v2_bias">]
// CHECK-LABEL: @swin_v2_bias_stated
// CHECK-SAME: encode [#posenc.swin_v2_bias<height = 4, width = 6, pretrained_height = 9, pretrained_width = 1, hidden = 7, form = logits, name = "s">]
posenc.kernel @swin_v2_bias_stated heads(1) head_dim(8)
  encode [#posenc.swin_v2_bias<height = 4, width = 6, pretrained_height = 9, pretrained_width = 1, hidden = 7, form = logits, name = "s">]

// CHECK-LABEL: @beit_bias_defaults
// CHECK-SAME: encode [#posenc.beit_bias]
posenc.kernel @beit_bias_defaults heads(1) head_dim(8)
  encode [#posenc.beit_bias<height = 14, width = 14, name = "beit_bias">]
// CHECK-LABEL: @beit_bias_stated
// CHECK-SAME: encode [#posenc.beit_bias<height = 3, width = 5, name = "b">]
posenc.kernel @beit_bias_stated heads(1) head_dim(8)
  encode [#posenc.beit_bias<height = 3, width = 5, name = "b">]

// CHECK-LABEL: @grid_bias_defaults
// CHECK-SAME: encode [#posenc.grid_bias<width = 5>]
posenc.kernel @grid_bias_defaults heads(1) head_dim(8)
  encode [#posenc.grid_bias<width = 5, max_row = 13, max_column = 13, distance = directed, layout = joint, orientation = query_minus_key, coordinates = row_major, name = "grid_bias">]
// CHECK-LABEL: @grid_bias_stated
// CHECK-SAME: encode [#posenc.grid_bias<max_row = 3, max_column = 4, distance = absolute, layout = separable, orientation = key_minus_query, coordinates = tensor, name = "g">]
posenc.kernel @grid_bias_stated heads(1) head_dim(8)
  encode [#posenc.grid_bias<max_row = 3, max_column = 4, distance = absolute, layout = separable, orientation = key_minus_query, coordinates = tensor, name = "g">]

// CHECK-LABEL: @region_bias_defaults
// CHECK-SAME: encode [#posenc.region_bias]
posenc.kernel @region_bias_defaults heads(1) head_dim(8)
  encode [#posenc.region_bias<value = -100, name = "regions">]
// CHECK-LABEL: @region_bias_stated
// CHECK-SAME: encode [#posenc.region_bias<value = -1.000000e+00, name = "r">]
posenc.kernel @region_bias_stated heads(1) head_dim(8)
  encode [#posenc.region_bias<value = -1.000000e+00, name = "r">]

// CHECK-LABEL: @tupe_defaults
// CHECK-SAME: encode [#posenc.tupe]
posenc.kernel @tupe_defaults heads(1) head_dim(8)
  encode [#posenc.tupe<variant = absolute, length = 512, theta = operands, buckets = 32, max_distance = 128, name = "tupe">]
// CHECK-LABEL: @tupe_stated
// CHECK-SAME: encode [#posenc.tupe<variant = relative, length = 7, theta = rows, buckets = 8, max_distance = 16, name = "t">]
posenc.kernel @tupe_stated heads(1) head_dim(8)
  encode [#posenc.tupe<variant = relative, length = 7, theta = rows, buckets = 8, max_distance = 16, name = "t">]

// CHECK-LABEL: @dape_defaults
// CHECK-SAME: encode [#posenc.dape]
posenc.kernel @dape_defaults heads(1) head_dim(8)
  encode [#posenc.dape<version = v1, hidden = 32, negative_slope = 0.01, name = "dape">]
// CHECK-LABEL: @dape_stated
// CHECK-SAME: encode [#posenc.dape<version = v2, hidden = 3, negative_slope = 5.000000e-01, name = "d">]
posenc.kernel @dape_stated heads(1) head_dim(8)
  encode [#posenc.dape<version = v2, hidden = 3, negative_slope = 5.000000e-01, name = "d">]

// CHECK-LABEL: @shaw_defaults
// CHECK-SAME: encode [#posenc.shaw]
posenc.kernel @shaw_defaults heads(1) head_dim(8)
  encode [#posenc.shaw<max_distance = 16, values = on, tables = shared, orientation = key_minus_query, site = inside, name = "shaw">]
// CHECK-LABEL: @shaw_stated
// CHECK-SAME: encode [#posenc.shaw<max_distance = 2, values = off, tables = per_head, orientation = query_minus_key, site = outside, name = "s">]
posenc.kernel @shaw_stated heads(1) head_dim(8)
  encode [#posenc.shaw<max_distance = 2, values = off, tables = per_head, orientation = query_minus_key, site = outside, name = "s">]

// CHECK-LABEL: @nezha_defaults
// CHECK-SAME: encode [#posenc.nezha]
posenc.kernel @nezha_defaults heads(1) head_dim(8)
  encode [#posenc.nezha<max_distance = 64, base = 10000, layout = interleaved, values = on, orientation = key_minus_query, site = inside, name = "nezha">]
// CHECK-LABEL: @nezha_stated
// CHECK-SAME: encode [#posenc.nezha<max_distance = 2, base = 1.000000e+02, layout = concatenated, values = off, orientation = query_minus_key, site = outside, name = "n">]
posenc.kernel @nezha_stated heads(1) head_dim(8)
  encode [#posenc.nezha<max_distance = 2, base = 1.000000e+02, layout = concatenated, values = off, orientation = query_minus_key, site = outside, name = "n">]

// CHECK-LABEL: @transformer_xl_defaults
// CHECK-SAME: encode [#posenc.transformer_xl]
posenc.kernel @transformer_xl_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.transformer_xl<model_dim = 0, clamp_len = 0, base = 10000, name = "transformer_xl">]
// CHECK-LABEL: @transformer_xl_stated
// CHECK-SAME: encode [#posenc.transformer_xl<model_dim = 6, clamp_len = 5, base = 1.000000e+02, name = "x">]
posenc.kernel @transformer_xl_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.transformer_xl<model_dim = 6, clamp_len = 5, base = 1.000000e+02, name = "x">]

// CHECK-LABEL: @xlnet_defaults
// CHECK-SAME: encode [#posenc.xlnet]
posenc.kernel @xlnet_defaults heads(1) head_dim(8)
  encode [#posenc.xlnet<model_dim = 0, clamp_len = 0, base = 10000, segments = off, orientation = query_minus_key, name = "xlnet">]
// CHECK-LABEL: @xlnet_stated
// CHECK-SAME: encode [#posenc.xlnet<model_dim = 6, clamp_len = 5, base = 1.000000e+02, segments = on, orientation = key_minus_query, name = "x">]
posenc.kernel @xlnet_stated heads(1) head_dim(8)
  encode [#posenc.xlnet<model_dim = 6, clamp_len = 5, base = 1.000000e+02, segments = on, orientation = key_minus_query, name = "x">]

// CHECK-LABEL: @tener_defaults
// CHECK-SAME: encode [#posenc.tener]
posenc.kernel @tener_defaults heads(1) head_dim(8)
  encode [#posenc.tener<law = code, exponent = half_minus_one, base = 10000, scaled = off, name = "tener">]
// CHECK-LABEL: @tener_stated
// CHECK-SAME: encode [#posenc.tener<law = paper, exponent = half, base = 1.000000e+02, scaled = on, name = "t">]
posenc.kernel @tener_stated heads(1) head_dim(8)
  encode [#posenc.tener<law = paper, exponent = half, base = 1.000000e+02, scaled = on, name = "t">]

// CHECK-LABEL: @deberta_defaults
// CHECK-SAME: encode [#posenc.deberta]
posenc.kernel @deberta_defaults heads(1) head_dim(8)
  encode [#posenc.deberta<max_distance = 512, buckets = 0, clamp = official, c2p = on, p2c = on, p2c_index = code, preset = "", name = "deberta">]
// CHECK-LABEL: @deberta_stated
// CHECK-SAME: encode [#posenc.deberta<max_distance = 16, buckets = 8, clamp = hf, c2p = off, p2c_index = paper, name = "d">]
posenc.kernel @deberta_stated heads(1) head_dim(8)
  encode [#posenc.deberta<max_distance = 16, buckets = 8, clamp = hf, c2p = off, p2c_index = paper, name = "d">]

// CHECK-LABEL: @mtf_contextual_defaults
// CHECK-SAME: encode [#posenc.mtf_contextual]
posenc.kernel @mtf_contextual_defaults heads(1) head_dim(8)
  encode [#posenc.mtf_contextual<buckets = 32, max_distance = 128, direction = causal, site = outside, name = "mtf_contextual">]
// CHECK-LABEL: @mtf_contextual_stated
// CHECK-SAME: encode [#posenc.mtf_contextual<buckets = 8, max_distance = 16, direction = bidirectional, site = inside, name = "m">]
posenc.kernel @mtf_contextual_stated heads(1) head_dim(8)
  encode [#posenc.mtf_contextual<buckets = 8, max_distance = 16, direction = bidirectional, site = inside, name = "m">]

// CHECK-LABEL: @softcap_defaults
// CHECK-SAME: encode [#posenc.softcap]
posenc.kernel @softcap_defaults heads(1) head_dim(8)
  encode [#posenc.softcap<cap = 50, site = before_bias, name = "softcap">]
// CHECK-LABEL: @softcap_stated
// CHECK-SAME: encode [#posenc.softcap<cap = 3.000000e+01, site = after_bias, name = "c">]
posenc.kernel @softcap_stated heads(1) head_dim(8)
  encode [#posenc.softcap<cap = 3.000000e+01, site = after_bias, name = "c">]

// CHECK-LABEL: @cope_defaults
// CHECK-SAME: encode [#posenc.cope]
posenc.kernel @cope_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.cope<positions = 64, tables = shared, site = outside, name = "cope">]
// CHECK-LABEL: @cope_stated
// CHECK-SAME: encode [#posenc.cope<positions = 5, tables = per_head, site = inside, name = "c">]
posenc.kernel @cope_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.cope<positions = 5, tables = per_head, site = inside, name = "c">]

// CHECK-LABEL: @fox_defaults
// CHECK-SAME: encode [#posenc.fox]
posenc.kernel @fox_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.fox<gates = logits, name = "fox">]
// CHECK-LABEL: @fox_stated
// CHECK-SAME: encode [#posenc.fox<gates = log, name = "f">]
posenc.kernel @fox_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.fox<gates = log, name = "f">]

// CHECK-LABEL: @retention_decay_defaults
// CHECK-SAME: encode [#posenc.retention_decay]
posenc.kernel @retention_decay_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.retention_decay<first_exponent = 5, decay = constants, name = "retention_decay">]
// CHECK-LABEL: @retention_decay_stated
// CHECK-SAME: encode [#posenc.retention_decay<first_exponent = 1.000000e+00, decay = operands, name = "r">]
posenc.kernel @retention_decay_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.retention_decay<first_exponent = 1.000000e+00, decay = operands, name = "r">]

// CHECK-LABEL: @complex_attention_defaults
// CHECK-SAME: encode [#posenc.complex_attention]
posenc.kernel @complex_attention_defaults heads(1) head_dim(8)
  encode [#posenc.complex_attention<term = faithful, name = "complex_attention">]
// CHECK-LABEL: @complex_attention_stated
// CHECK-SAME: encode [#posenc.complex_attention<term = correct, name = "c">]
posenc.kernel @complex_attention_stated heads(1) head_dim(8)
  encode [#posenc.complex_attention<term = correct, name = "c">]

// CHECK-LABEL: @attention_sink_defaults
// CHECK-SAME: encode [#posenc.attention_sink]
posenc.kernel @attention_sink_defaults heads(1) head_dim(8)
  encode [#posenc.attention_sink<name = "sink">]
// CHECK-LABEL: @attention_sink_stated
// CHECK-SAME: encode [#posenc.attention_sink<values = [5.000000e-01], name = "s">]
posenc.kernel @attention_sink_stated heads(1) head_dim(8)
  encode [#posenc.attention_sink<values = [5.000000e-01], name = "s">]

// CHECK-LABEL: @stick_breaking_defaults
// CHECK-SAME: encode [#posenc.stick_breaking]
posenc.kernel @stick_breaking_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.stick_breaking<kind = strict, remainder = drop, name = "stick_breaking">]
// CHECK-LABEL: @stick_breaking_stated
// CHECK-SAME: encode [#posenc.stick_breaking<kind = attend_current, remainder = value, name = "s">]
posenc.kernel @stick_breaking_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.stick_breaking<kind = attend_current, remainder = value, name = "s">]

// CHECK-LABEL: @retention_defaults
// CHECK-SAME: encode [#posenc.retention]
posenc.kernel @retention_defaults heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.retention<first_exponent = 5, base = 10000, rotation = on, decay_norm = on, score_norm = on, name = "retention">]
// CHECK-LABEL: @retention_stated
// CHECK-SAME: encode [#posenc.retention<first_exponent = 1.000000e+00, base = 1.000000e+02, rotation = off, decay_norm = off, score_norm = off, name = "r">]
posenc.kernel @retention_stated heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.retention<first_exponent = 1.000000e+00, base = 1.000000e+02, rotation = off, decay_norm = off, score_norm = off, name = "r">]

// CHECK-LABEL: @linear_attention_defaults
// CHECK-SAME: encode [#posenc.linear_attention]
posenc.kernel @linear_attention_defaults heads(1) head_dim(8)
  encode [#posenc.linear_attention<map = elu1, name = "linear_attention">]
// CHECK-LABEL: @linear_attention_stated
// CHECK-SAME: encode [#posenc.linear_attention<map = relu, name = "l">]
posenc.kernel @linear_attention_stated heads(1) head_dim(8)
  encode [#posenc.linear_attention<map = relu, name = "l">]

// CHECK-LABEL: @softmax_off_by_one
// CHECK-SAME: encode [#posenc.softmax_off_by_one]
posenc.kernel @softmax_off_by_one heads(1) head_dim(8) encode [#posenc.softmax_off_by_one]

// Presets are kept as they are written.
// CHECK-LABEL: @presets
// CHECK-SAME: encode [#posenc.alibi<preset = "hf-falcon">, #posenc.deberta<preset = "hf-v2">]
posenc.kernel @presets heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.alibi<preset = "hf-falcon">, #posenc.deberta<preset = "hf-v2">]
// CHECK-LABEL: @kerple_weight
// CHECK-SAME: encode [#posenc.kerple<kind = power, bias = off, weight = on>]
posenc.kernel @kerple_weight heads(1) head_dim(8)
  encode [#posenc.kerple<kind = power, bias = off, weight = on>]
// CHECK-LABEL: @complex_attention_positions
// CHECK-SAME: encode [#posenc.complex_attention<positions = on, model_dim = 6, base = 1.000000e+02>]
posenc.kernel @complex_attention_positions heads(1) head_dim(8) mask(#posenc.causal)
  encode [#posenc.complex_attention<positions = on, model_dim = 6, base = 1.000000e+02>]
// CHECK-LABEL: @linear_attention_epsilon
// CHECK-SAME: encode [#posenc.linear_attention<map = relu, epsilon = 2.500000e-01>]
posenc.kernel @linear_attention_epsilon heads(1) head_dim(8)
  encode [#posenc.linear_attention<map = relu, epsilon = 2.500000e-01>]
