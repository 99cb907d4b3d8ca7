// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of scores: one case for each numbered constraint and each message.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// alibi_c1
// expected-error@below {{expected 'slope_scale' of #posenc.alibi to be positive and finite, but got 0.000000e+00}}
posenc.kernel @alibi_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<slope_scale = 0.0>]

// -----

// alibi_c2
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' would reward future keys, which this mask shows: state 'form = symmetric' or mask(#posenc.causal)}}
posenc.kernel @alibi_c2_key heads(2) head_dim(4) encode [#posenc.alibi<form = key>]

// -----

// alibi_c2: what a preset stands for
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' would reward future keys}}
posenc.kernel @alibi_c2_preset heads(2) head_dim(4) encode [#posenc.alibi<preset = "hf-falcon">]

// -----

// alibi_c3
// expected-error@below {{expected #posenc.alibi with 'rounding = bf16' to state 'form = key': positions are rounded, not distances}}
posenc.kernel @alibi_c3 heads(2) head_dim(4) encode [#posenc.alibi<form = symmetric, rounding = bf16>]

// -----

// alibi_c4
// expected-error@below {{expected 'preset' of #posenc.alibi to be "hf-falcon", but got "falcon"}}
posenc.kernel @alibi_c4_unknown heads(2) head_dim(4) encode [#posenc.alibi<preset = "falcon">]

// -----

// alibi_c4
// expected-error@below {{expected #posenc.alibi not to state 'form', 'site' or 'rounding' beside a 'preset' that does}}
posenc.kernel @alibi_c4_beside heads(2) head_dim(4) encode [#posenc.alibi<preset = "hf-falcon", site = inside>]

// -----

// alibi_c5: a sink sees the constant of a row
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.attention_sink sees: state 'form = causal'}}
posenc.kernel @alibi_c5 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key>, #posenc.attention_sink]

// -----

// alibi_c5: so does a cap of biased scores, whatever comes first
// expected-error@below {{'posenc.kernel' op #posenc.alibi with 'form = key' differs from 'form = causal' by a constant of the row, which #posenc.softcap<site = after_bias> sees}}
posenc.kernel @alibi_c5_cap heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.softcap<site = after_bias>, #posenc.alibi<preset = "hf-falcon">]

// -----

// kerple_c1
// expected-error@below {{expected 'floor' of #posenc.kerple to be positive and finite, but got 0.000000e+00}}
posenc.kernel @kerple_c1 heads(2) head_dim(4) encode [#posenc.kerple<floor = 0.0>]

// -----

// kerple_c1
// expected-error@below {{expected 'floor' of #posenc.kerple to be at most 'power_max' (2.000000e+00), but got 3.000000e+00}}
posenc.kernel @kerple_c1_order heads(2) head_dim(4) encode [#posenc.kerple<floor = 3.0>]

// -----

// kerple_c2
// expected-error@below {{expected 'kind = power' of #posenc.kerple beside 'weight = on', since no published code multiplies by another kernel}}
posenc.kernel @kerple_c2 heads(2) head_dim(4) encode [#posenc.kerple<weight = on>]

// -----

// kerple_c3
// expected-error@below {{expected 'bias' or 'weight' of #posenc.kerple to be on: without both it does nothing}}
posenc.kernel @kerple_c3 heads(2) head_dim(4) encode [#posenc.kerple<bias = off>]

// -----

// fire_c1
// expected-error@below {{expected 'hidden' of #posenc.fire to be from 1 to 65536, but got 0}}
posenc.kernel @fire_c1 heads(2) head_dim(4) encode [#posenc.fire<hidden = 0>]

// -----

// fire_c2
// expected-error@below {{expected 'c' of #posenc.fire to be finite, but got INF}}
posenc.kernel @fire_c2_c heads(2) head_dim(4) encode [#posenc.fire<c = 0x7FF0000000000000>]

// -----

// fire_c2
// expected-error@below {{expected 'length' of #posenc.fire to be positive and finite, but got -1.000000e+00}}
posenc.kernel @fire_c2_length heads(2) head_dim(4) encode [#posenc.fire<length = -1.0>]

// -----

// fire_c2
// expected-error@below {{expected 'epsilon' of #posenc.fire to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @fire_c2_epsilon heads(2) head_dim(4) encode [#posenc.fire<epsilon = -1.0>]

// -----

// fire_c3
// expected-error@below {{expected #posenc.fire not to state 'c' and 'length' beside 'scalars = operands'}}
posenc.kernel @fire_c3 heads(2) head_dim(4) encode [#posenc.fire<c = 0.5, scalars = operands>]

// -----

// sandwich_c1
// expected-error@below {{expected 'base' of #posenc.sandwich to be positive and finite, but got 0.000000e+00}}
posenc.kernel @sandwich_c1 heads(2) head_dim(4) encode [#posenc.sandwich<base = 0.0>]

// -----

// sandwich_c2
// expected-error@below {{expected 'dims' of #posenc.sandwich to be even and from 2 to 65536, or 0 for the head size, but got 3}}
posenc.kernel @sandwich_c2 heads(2) head_dim(4) encode [#posenc.sandwich<dims = 3>]

// -----

// sandwich_c3
// expected-error@below {{expected 'first' of #posenc.sandwich to be from 0 to 1, but got 2}}
posenc.kernel @sandwich_c3 heads(2) head_dim(4) encode [#posenc.sandwich<first = 2>]

// -----

// swin_bias_c1
// expected-error@below {{expected 'height' of #posenc.swin_bias to be from 1 to 2048, but got 0}}
posenc.kernel @swin_bias_c1 heads(2) head_dim(4) encode [#posenc.swin_bias<height = 0>]

// -----

// swin_v2_bias_c1
// expected-error@below {{expected 'width' of #posenc.swin_v2_bias to be from 1 to 2048, but got 4096}}
posenc.kernel @swin_v2_bias_c1 heads(2) head_dim(4) encode [#posenc.swin_v2_bias<width = 4096>]

// -----

// swin_v2_bias_c2
// expected-error@below {{expected 'pretrained_width' of #posenc.swin_v2_bias to be from 0 to 2048, but got -1}}
posenc.kernel @swin_v2_bias_c2 heads(2) head_dim(4) encode [#posenc.swin_v2_bias<pretrained_width = -1>]

// -----

// swin_v2_bias_c2: a window of one row
// expected-error@below {{expected the sides of the window that the network of #posenc.swin_v2_bias was trained for to exceed 1, since offsets are divided by side - 1: state 'pretrained_height', or 'form = folded'}}
posenc.kernel @swin_v2_bias_c2_one heads(2) head_dim(4) encode [#posenc.swin_v2_bias<height = 1>]

// -----

// swin_v2_bias_c3
// expected-error@below {{expected 'hidden' of #posenc.swin_v2_bias to be from 1 to 65536, but got 0}}
posenc.kernel @swin_v2_bias_c3 heads(2) head_dim(4) encode [#posenc.swin_v2_bias<hidden = 0>]

// -----

// beit_bias_c1
// expected-error@below {{expected 'width' of #posenc.beit_bias to be from 1 to 2048, but got -3}}
posenc.kernel @beit_bias_c1 heads(2) head_dim(4) encode [#posenc.beit_bias<width = -3>]

// -----

// grid_bias_c1
// expected-error@below {{expected 'max_row' of #posenc.grid_bias to be from 0 to 4095, but got -1}}
posenc.kernel @grid_bias_c1 heads(2) head_dim(4) encode [#posenc.grid_bias<width = 4, max_row = -1>]

// -----

// grid_bias_c2
// expected-error@below {{expected 'width' of #posenc.grid_bias to be from 1 to 1048576, but got 0}}
posenc.kernel @grid_bias_c2 heads(2) head_dim(4) encode [#posenc.grid_bias]

// -----

// grid_bias_c2
// expected-error@below {{expected #posenc.grid_bias not to state 'width' beside 'coordinates = tensor'}}
posenc.kernel @grid_bias_c2_tensor heads(2) head_dim(4) encode [#posenc.grid_bias<width = 4, coordinates = tensor>]

// -----

// region_bias_c1
// expected-error@below {{expected 'value' of #posenc.region_bias to be finite, but got -INF}}
posenc.kernel @region_bias_c1 heads(2) head_dim(4) encode [#posenc.region_bias<value = 0xFFF0000000000000>]

// -----

// tupe_c1
// expected-error@below {{expected 'length' of #posenc.tupe to be from 1 to 1048576, but got 0}}
posenc.kernel @tupe_c1 heads(2) head_dim(4) encode [#posenc.tupe<length = 0>]

// -----

// tupe_c2
// expected-error@below {{expected 'buckets' of a bidirectional #posenc.tupe to be even and at least 4, but got 3}}
posenc.kernel @tupe_c2 heads(2) head_dim(4) encode [#posenc.tupe<buckets = 3>]

// -----

// kernel_c8: TUPE fixes the scale
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but the 'scale' clause fixes it to 1.000000e+00 and encoding 'tupe' to}}
posenc.kernel @tupe_scale heads(2) head_dim(4) scale(1.0) encode [#posenc.tupe]

// -----

// dape_c1
// expected-error@below {{expected 'hidden' of #posenc.dape to be from 1 to 4096, but got 0}}
posenc.kernel @dape_c1 heads(2) head_dim(4) encode [#posenc.dape<hidden = 0>]

// -----

// dape_c2
// expected-error@below {{expected 'negative_slope' of #posenc.dape to be from 0 to 1, but got 2.000000e+00}}
posenc.kernel @dape_c2 heads(2) head_dim(4) encode [#posenc.dape<negative_slope = 2.0>]

// -----

// shaw_c1
// expected-error@below {{expected 'max_distance' of #posenc.shaw to be from 0 to 1048576, but got -1}}
posenc.kernel @shaw_c1 heads(2) head_dim(4) encode [#posenc.shaw<max_distance = -1>]

// -----

// nezha_c1
// expected-error@below {{expected 'base' of #posenc.nezha to be positive and finite, but got -1.000000e+00}}
posenc.kernel @nezha_c1 heads(2) head_dim(4) encode [#posenc.nezha<base = -1.0>]

// -----

// nezha_c1
// expected-error@below {{expected 'max_distance' of #posenc.nezha to be from 0 to 1048576, but got -1}}
posenc.kernel @nezha_c1_distance heads(2) head_dim(4) encode [#posenc.nezha<max_distance = -1>]

// -----

// nezha_c2
// expected-error@below {{'posenc.kernel' op expected the kernel's 'value_dim' (8) to be its 'head_dim' (4), since #posenc.nezha adds one table to keys and values: state 'values = off'}}
posenc.kernel @nezha_c2 heads(2) head_dim(4) value_dim(8) encode [#posenc.nezha]

// -----

// transformer_xl_c1
// expected-error@below {{expected 'model_dim' of #posenc.transformer_xl to be even and from 2 to 65536, or 0 for all heads, but got 7}}
posenc.kernel @transformer_xl_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.transformer_xl<model_dim = 7>]

// -----

// transformer_xl_c1: all heads are too many
// expected-error@below {{expected 'model_dim' of #posenc.transformer_xl to be from 2 to 65536, but got 131072}}
posenc.kernel @transformer_xl_c1_heads heads(1024) head_dim(128) mask(#posenc.causal) encode [#posenc.transformer_xl]

// -----

// transformer_xl_c2
// expected-error@below {{expected 'clamp_len' of #posenc.transformer_xl to be from 0 to 1048576, but got -1}}
posenc.kernel @transformer_xl_c2 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.transformer_xl<clamp_len = -1>]

// -----

// transformer_xl_c3
// expected-error@below {{'posenc.kernel' op #posenc.transformer_xl needs a mask that hides future keys, such as mask(#posenc.causal): its distances are not defined for others; #posenc.xlnet's are}}
posenc.kernel @transformer_xl_c3 heads(2) head_dim(4) encode [#posenc.transformer_xl]

// -----

// xlnet_c1
// expected-error@below {{expected 'base' of #posenc.xlnet to be positive and finite, but got 0.000000e+00}}
posenc.kernel @xlnet_c1 heads(2) head_dim(4) encode [#posenc.xlnet<base = 0.0>]

// -----

// tener_c1
// expected-error@below {{expected 'base' of #posenc.tener to be positive and finite, but got 0.000000e+00}}
posenc.kernel @tener_c1 heads(2) head_dim(4) encode [#posenc.tener<base = 0.0>]

// -----

// tener_c2
// expected-error@below {{'posenc.kernel' op expected the kernel's 'head_dim' to be at least 4 for #posenc.tener with 'exponent = half_minus_one', which divides by head_dim / 2 - 1, but got 2}}
posenc.kernel @tener_c2 heads(2) head_dim(2) encode [#posenc.tener]

// -----

// kernel_c8: two encodings fix the scale
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but encoding 'tener' fixes it to 1.000000e+00 and encoding 'deberta' to}}
posenc.kernel @two_scales heads(2) head_dim(4) encode [#posenc.tener, #posenc.deberta]

// -----

// deberta_c1
// expected-error@below {{expected 'max_distance' of #posenc.deberta to be from 1 to 1048576, but got 0}}
posenc.kernel @deberta_c1 heads(2) head_dim(4) encode [#posenc.deberta<max_distance = 0>]

// -----

// deberta_c2
// expected-error@below {{expected 'buckets' of #posenc.deberta to be even and from 4 to 4096, or 0, but got 5}}
posenc.kernel @deberta_c2 heads(2) head_dim(4) encode [#posenc.deberta<buckets = 5>]

// -----

// deberta_c2
// expected-error@below {{expected 'max_distance' of #posenc.deberta to exceed buckets / 2 + 1 (129), but got 129}}
posenc.kernel @deberta_c2_distance heads(2) head_dim(4) encode [#posenc.deberta<buckets = 256, max_distance = 129>]

// -----

// deberta_c3
// expected-error@below {{expected #posenc.deberta to state 'clamp' beside 'buckets' only}}
posenc.kernel @deberta_c3 heads(2) head_dim(4) encode [#posenc.deberta<clamp = hf>]

// -----

// deberta_c4
// expected-error@below {{expected 'preset' of #posenc.deberta to be "microsoft-v2" or "hf-v2", but got "hf-v9"}}
posenc.kernel @deberta_c4_unknown heads(2) head_dim(4) encode [#posenc.deberta<preset = "hf-v9">]

// -----

// deberta_c4
// expected-error@below {{expected #posenc.deberta not to state 'max_distance', 'buckets' or 'clamp' beside a 'preset' that does}}
posenc.kernel @deberta_c4_beside heads(2) head_dim(4) encode [#posenc.deberta<buckets = 256, preset = "hf-v2">]

// -----

// mtf_contextual_c1
// expected-error@below {{expected 'max_distance' of #posenc.mtf_contextual to exceed the 16 distances with a bucket of their own and to be at most 2^30, but got 16}}
posenc.kernel @mtf_contextual_c1 heads(2) head_dim(4) encode [#posenc.mtf_contextual<max_distance = 16>]

// -----

// softcap_c1
// expected-error@below {{expected 'cap' of #posenc.softcap to be positive and finite, but got 0.000000e+00}}
posenc.kernel @softcap_c1 heads(2) head_dim(4) encode [#posenc.softcap<cap = 0.0>]

// -----

// cope_c1
// expected-error@below {{expected 'positions' of #posenc.cope to be from 1 to 65536, but got 0}}
posenc.kernel @cope_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.cope<positions = 0>]

// -----

// cope_c2
// expected-error@below {{'posenc.kernel' op #posenc.cope needs a mask that hides future keys, such as mask(#posenc.causal): gates of future keys would count as distance}}
posenc.kernel @cope_c2 heads(2) head_dim(4) encode [#posenc.cope]

// -----

// fox_c1
// expected-error@below {{'posenc.kernel' op #posenc.fox needs a mask that hides future keys, such as mask(#posenc.causal): its bias would reward others}}
posenc.kernel @fox_c1 heads(2) head_dim(4) encode [#posenc.fox]

// -----

// retention_decay_c1
// expected-error@below {{expected 'first_exponent' of #posenc.retention_decay to be positive and finite, but got 0.000000e+00}}
posenc.kernel @retention_decay_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention_decay<first_exponent = 0.0>]

// -----

// retention_decay_c2
// expected-error@below {{'posenc.kernel' op #posenc.retention_decay needs a mask that hides future keys, such as mask(#posenc.causal): scores of others would grow}}
posenc.kernel @retention_decay_c2 heads(2) head_dim(4) encode [#posenc.retention_decay]

// -----

// complex_attention_c1
// expected-error@below {{expected 'model_dim' of #posenc.complex_attention to be even and from 2 to 65536, or 0 for all heads, but got 3}}
posenc.kernel @complex_attention_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.complex_attention<positions = on, model_dim = 3>]

// -----

// complex_attention_c1: nothing to project
// expected-error@below {{expected 'model_dim' of #posenc.complex_attention beside 'positions = on' only}}
posenc.kernel @complex_attention_c1_alone heads(2) head_dim(4) encode [#posenc.complex_attention<model_dim = 4>]

// -----

// complex_attention_c2
// expected-error@below {{'posenc.kernel' op #posenc.complex_attention needs a mask that hides future keys, such as mask(#posenc.causal): the code's distances are not defined for others}}
posenc.kernel @complex_attention_c2 heads(2) head_dim(4) encode [#posenc.complex_attention<positions = on>]

// -----

// kernel_c8: complex products have a scale of their own
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but the 'scale' clause fixes it to 5.000000e-01 and encoding 'complex_attention' to}}
posenc.kernel @complex_attention_scale heads(2) head_dim(4) scale(0.5) encode [#posenc.complex_attention]

// -----

// linear_attention_c2
// expected-error@below {{expected 'epsilon' of #posenc.linear_attention to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @linear_attention_c2 heads(2) head_dim(4) encode [#posenc.linear_attention<epsilon = -1.0>]

// -----

// linear_attention_c3: not every row sees the first key
// expected-error@below {{'posenc.kernel' op expects mask(#posenc.full) or mask(#posenc.causal) with 'epsilon' of #posenc.linear_attention, which is added once for each row, at the first key}}
posenc.kernel @linear_attention_c3 heads(2) head_dim(4) mask(#posenc.window<left = 3>) encode [#posenc.linear_attention<epsilon = 1.0e-6>]

// -----

// attention_sink_c1
// expected-error@below {{'posenc.kernel' op expected 'values' of #posenc.attention_sink to have one number for each of the 2 heads, but got 3}}
posenc.kernel @attention_sink_c1 heads(2) head_dim(4) encode [#posenc.attention_sink<values = [0.0, 1.0, 2.0]>]

// -----

// attention_sink_c1
// expected-error@below {{'posenc.kernel' op expected 'values' of #posenc.attention_sink to be finite, but got}}
posenc.kernel @attention_sink_c1_finite heads(1) head_dim(4) encode [#posenc.attention_sink<values = [0x7FF0000000000000]>]

// -----

// attention_sink_c2
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.stick_breaking and #posenc.attention_sink}}
posenc.kernel @attention_sink_c2 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.stick_breaking, #posenc.attention_sink]

// -----

// softmax_off_by_one_c1
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.attention_sink and #posenc.softmax_off_by_one}}
posenc.kernel @softmax_off_by_one_c1 heads(2) head_dim(4) encode [#posenc.attention_sink, #posenc.softmax_off_by_one]

// -----

// stick_breaking_c1
// expected-error@below {{'posenc.kernel' op #posenc.stick_breaking needs a mask that hides future keys, such as mask(#posenc.causal): the nearest key before the query takes its piece first}}
posenc.kernel @stick_breaking_c1 heads(2) head_dim(4) encode [#posenc.stick_breaking]

// -----

// stick_breaking_c2
// expected-error@below {{'posenc.kernel' op #posenc.stick_breaking with 'remainder = value' needs bottom_right alignment, which says which value is the query's own}}
posenc.kernel @stick_breaking_c2 heads(2) head_dim(4) mask(#posenc.causal<top_left>) encode [#posenc.stick_breaking<remainder = value>]

// -----

// stick_breaking_c3
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.retention and #posenc.stick_breaking}}
posenc.kernel @stick_breaking_c3 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention, #posenc.stick_breaking]

// -----

// retention_c1
// expected-error@below {{expected 'base' of #posenc.retention to be positive and finite, but got 0.000000e+00}}
posenc.kernel @retention_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention<base = 0.0>]

// -----

// retention_c1
// expected-error@below {{expected 'first_exponent' of #posenc.retention to be positive and finite, but got -1.000000e+00}}
posenc.kernel @retention_c1_exponent heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention<first_exponent = -1.0>]

// -----

// retention_c2
// expected-error@below {{'posenc.kernel' op #posenc.retention needs mask(#posenc.causal) and positions(#posenc.iota): its decay is divided by sums over all keys before the query}}
posenc.kernel @retention_c2 heads(2) head_dim(4) mask(#posenc.window<left = 3>) encode [#posenc.retention]

// -----

// retention_c3
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.attention_sink and #posenc.retention}}
posenc.kernel @retention_c3 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.attention_sink, #posenc.retention]

// -----

// linear_attention_c1
// expected-error@below {{'posenc.kernel' op expected one encoding that makes the weights, but got #posenc.softmax_off_by_one and #posenc.linear_attention}}
posenc.kernel @linear_attention_c1 heads(2) head_dim(4) encode [#posenc.softmax_off_by_one, #posenc.linear_attention]

// -----

// kernel_c8: linear attention has no scale
// expected-error@below {{'posenc.kernel' op expects one owner of the scale, but the 'scale' clause fixes it to 5.000000e-01 and encoding 'linear_attention' to 1.000000e+00}}
posenc.kernel @linear_attention_scale heads(2) head_dim(4) scale(0.5) encode [#posenc.linear_attention]
