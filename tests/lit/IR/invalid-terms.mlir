// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of scores: one case for each numbered constraint and each message;
// combinations without a meaning are in meaningless.mlir.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// alibi_c1
// expected-error@below {{expected 'slope_scale' of #posenc.alibi to be positive and finite, but got 0.000000e+00}}
posenc.kernel @alibi_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<slope_scale = 0.0>]

// -----

// alibi_c4
// expected-error@below {{expected 'preset' of #posenc.alibi to be "hf-falcon", but got "falcon"}}
posenc.kernel @alibi_c4_unknown heads(2) head_dim(4) encode [#posenc.alibi<preset = "falcon">]

// -----

// alibi_c4
// expected-error@below {{expected #posenc.alibi not to state 'form', 'site' or 'rounding' beside a 'preset' that does}}
posenc.kernel @alibi_c4_beside heads(2) head_dim(4) encode [#posenc.alibi<preset = "hf-falcon", site = inside>]

// -----

// kerple_c1
// expected-error@below {{expected 'floor' of #posenc.kerple to be positive and finite, but got 0.000000e+00}}
posenc.kernel @kerple_c1 heads(2) head_dim(4) encode [#posenc.kerple<floor = 0.0>]

// -----

// kerple_c1
// expected-error@below {{expected 'floor' of #posenc.kerple to be at most 'power_max' (2.000000e+00), but got 3.000000e+00}}
posenc.kernel @kerple_c1_order heads(2) head_dim(4) encode [#posenc.kerple<floor = 3.0>]

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

// xlnet_c1
// expected-error@below {{expected 'base' of #posenc.xlnet to be positive and finite, but got 0.000000e+00}}
posenc.kernel @xlnet_c1 heads(2) head_dim(4) encode [#posenc.xlnet<base = 0.0>]

// -----

// tener_c1
// expected-error@below {{expected 'base' of #posenc.tener to be positive and finite, but got 0.000000e+00}}
posenc.kernel @tener_c1 heads(2) head_dim(4) encode [#posenc.tener<base = 0.0>]

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

// retention_decay_c1
// expected-error@below {{expected 'first_exponent' of #posenc.retention_decay to be positive and finite, but got 0.000000e+00}}
posenc.kernel @retention_decay_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention_decay<first_exponent = 0.0>]

// -----

// complex_attention_c1
// expected-error@below {{expected 'model_dim' of #posenc.complex_attention to be even and from 2 to 65536, or 0 for all heads, but got 3}}
posenc.kernel @complex_attention_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.complex_attention<positions = on, model_dim = 3>]

// -----

// linear_attention_c2
// expected-error@below {{expected 'epsilon' of #posenc.linear_attention to be finite and not negative, but got -1.000000e+00}}
posenc.kernel @linear_attention_c2 heads(2) head_dim(4) encode [#posenc.linear_attention<epsilon = -1.0>]

// -----

// attention_sink_c1
// expected-error@below {{'posenc.kernel' op expected 'values' of #posenc.attention_sink to have one number for each of the 2 heads, but got 3}}
posenc.kernel @attention_sink_c1 heads(2) head_dim(4) encode [#posenc.attention_sink<values = [0.0, 1.0, 2.0]>]

// -----

// attention_sink_c1
// expected-error@below {{'posenc.kernel' op expected 'values' of #posenc.attention_sink to be finite, but got}}
posenc.kernel @attention_sink_c1_finite heads(1) head_dim(4) encode [#posenc.attention_sink<values = [0x7FF0000000000000]>]

// -----

// retention_c1
// expected-error@below {{expected 'base' of #posenc.retention to be positive and finite, but got 0.000000e+00}}
posenc.kernel @retention_c1 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention<base = 0.0>]

// -----

// retention_c1
// expected-error@below {{expected 'first_exponent' of #posenc.retention to be positive and finite, but got -1.000000e+00}}
posenc.kernel @retention_c1_exponent heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention<first_exponent = -1.0>]
