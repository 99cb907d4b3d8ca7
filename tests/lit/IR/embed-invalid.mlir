// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case for each numbered constraint of input embeddings.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

posenc.embed @coord_map_c1 dim(8) {
^bb0(%x: !posenc.tokens):
  %p = posenc.position token law(#posenc.iota)
  %t = posenc.table law(#posenc.operand<"t", channels = 8>) : !posenc.table<channel>
  // expected-error@below {{'posenc.coord_map' op expects tables over batch, key and row, but got '!posenc.table<channel>'}}
  %q = posenc.coord_map(%p, %t) : !posenc.coord, !posenc.table<channel> {
  ^bb0(%a: f64, %b: f64):
    posenc.yield %a : f64
  }
  posenc.yield %x : !posenc.tokens
}

// -----

posenc.embed @coord_map_c1_row dim(8) {
^bb0(%x: !posenc.tokens):
  %t = posenc.table law(#posenc.operand<"t", rows = 8>) : !posenc.table<row>
  // expected-error@below {{'posenc.coord_map' op expects input #0, a table with a row axis, to come after a number}}
  %q = posenc.coord_map(%t) : !posenc.table<row> {
  ^bb0(%a: f64):
    posenc.yield %a : f64
  }
  posenc.yield %x : !posenc.tokens
}

// -----

posenc.embed @coord_map_c2 dim(8) {
^bb0(%x: !posenc.tokens):
  %p = posenc.position token law(#posenc.iota)
  // expected-error@below {{'posenc.coord_map' op expects its region to have 1 arguments, but it has 2}}
  %q = posenc.coord_map(%p) : !posenc.coord {
  ^bb0(%a: f64, %b: f64):
    posenc.yield %a : f64
  }
  posenc.yield %x : !posenc.tokens
}

// -----

posenc.embed @bounded_c1 dim(8) {
^bb0(%x: !posenc.tokens):
  %p = posenc.position token law(#posenc.iota)
  // expected-error@below {{'posenc.bounded' op expects 'rows' to be from 1 to 2^53, but got 0}}
  %q = posenc.bounded %p rows(0) of("t")
  posenc.yield %x : !posenc.tokens
}

// -----

posenc.embed @random_c1 dim(8) {
^bb0(%x: !posenc.tokens):
  // expected-error@below {{'posenc.random' op expects 'stream' to be from 1 to 2^31 - 1, but got 0}}
  %q = posenc.random token stream(0)
  posenc.yield %x : !posenc.tokens
}

// -----

posenc.embed @random_c1_twice dim(8) {
^bb0(%x: !posenc.tokens):
  %q = posenc.random token stream(3)
  // expected-error@below {{'posenc.random' op expects a stream of its own, but 3 is that of another operation}}
  %r = posenc.random sequence stream(3)
  posenc.yield %x : !posenc.tokens
}

// -----

posenc.embed @channel_map_c1 dim(8) {
^bb0(%x: !posenc.tokens):
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  // expected-error@below {{'posenc.channel_map' op expects tables over batch, key, row and channel, but got '!posenc.table<head>'}}
  %q = posenc.channel_map %x(%t : !posenc.table<head>) {
  ^bb0(%a: f64, %k: f64, %part: f64, %b: f64):
    posenc.yield %a : f64
  }
  posenc.yield %q : !posenc.tokens
}

// -----

posenc.embed @channel_map_c2 dim(8) {
^bb0(%x: !posenc.tokens):
  // expected-error@below {{'posenc.channel_map' op expects its region to have 3 arguments, but it has 1}}
  %q = posenc.channel_map %x() {
  ^bb0(%a: f64):
    posenc.yield %a : f64
  }
  posenc.yield %q : !posenc.tokens
}

// -----

posenc.embed @dropout_c1 dim(8) {
^bb0(%x: !posenc.tokens):
  // expected-error@below {{'posenc.dropout' op expects 'probability' to be at least 0 and below 1, but got 1}}
  %q = posenc.dropout %x probability(1.0) stream(0)
  posenc.yield %q : !posenc.tokens
}

// -----

posenc.embed @dropout_c2 dim(8) {
^bb0(%x: !posenc.tokens):
  %1 = posenc.dropout %x probability(0.5) stream(0)
  // expected-error@below {{'posenc.dropout' op expects a stream of its own, but 0 is that of another operation}}
  %2 = posenc.dropout %1 probability(0.5) stream(0)
  posenc.yield %2 : !posenc.tokens
}

// -----

posenc.kernel @parent heads(1) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.length' op expects parent op 'posenc.embed'}}
  %l = posenc.length
  posenc.yield
}

// -----

// expected-error@below {{'posenc.kernel' op does not take #posenc.one_hot, which encodes the input embedding: expected it in a posenc.embed}}
posenc.kernel @in_kernel heads(1) head_dim(8) encode [#posenc.one_hot]

// -----

// expected-error@below {{'posenc.embed' op does not take #posenc.rope, which encodes attention: expected it in a posenc.kernel}}
posenc.embed @in_embed dim(8) encode [#posenc.rope]

// -----

// raw_index_c1
// expected-error@below {{expected 'scale' of #posenc.raw_index to be finite, but got INF}}
posenc.embed @e dim(8) encode [#posenc.raw_index<scale = 0x7FF0000000000000>]

// -----

// expected-error@below {{'posenc.embed' op expected 'channel' of #posenc.raw_index to be from -1 to 7, but got 8}}
posenc.embed @raw_index_c2 dim(8) encode [#posenc.raw_index<channel = 8>]

// -----

// expected-error@below {{'posenc.embed' op expected the channels [4, 4 + 5) of #posenc.one_hot to lie within the embedding's 'dim' (8)}}
posenc.embed @one_hot_c1 dim(8) encode [#posenc.one_hot<first_dim = 4, width = 5>]

// -----

// sinusoidal_c1
// expected-error@below {{expected 'base' of #posenc.sinusoidal to be positive and finite, but got -1}}
posenc.embed @e dim(8) encode [#posenc.sinusoidal<layout = interleaved, exponent = over_dim, base = -1.0>]

// -----

// sinusoidal_c2
// expected-error@below {{expected 'padding_idx' of #posenc.sinusoidal to be from -1 to 1073741824, but got -2}}
posenc.embed @e dim(8) encode [#posenc.sinusoidal<layout = interleaved, exponent = over_dim, padding_idx = -2>]

// -----

// The layout is not guessed.
// expected-error@below {{struct is missing required parameter: layout}}
posenc.embed @e dim(8) encode [#posenc.sinusoidal<exponent = over_dim>]

// -----

// learned_absolute_c1
// expected-error@below {{expected 'rows' of #posenc.learned_absolute to be from 1 to 67108864, but got 0}}
posenc.embed @e dim(8) encode [#posenc.learned_absolute<rows = 0>]

// -----

// learned_absolute_c2
// expected-error@below {{expected 'offset' of #posenc.conv_s2s to be from -1073741824 to 1073741824, but got 2000000000}}
posenc.embed @e dim(8) encode [#posenc.conv_s2s<side = target, rows = 8, offset = 2000000000>]

// -----

// hierarchical_c1
// expected-error@below {{expected 'rows' of #posenc.hierarchical to be from 1 to 67108864, but got 0}}
posenc.embed @e dim(8) encode [#posenc.hierarchical<rows = 0>]

// -----

// hierarchical_c2
// expected-error@below {{expected 'alpha' of #posenc.hierarchical to be finite and neither 0.5, with which blocks and places within them are the same, nor 1, but got 5.000000e-01}}
posenc.embed @e dim(8) encode [#posenc.hierarchical<rows = 8, alpha = 0.5>]

// -----

// hierarchical_c2
// expected-error@below {{nor 1, but got 1.000000e+00}}
posenc.embed @e dim(8) encode [#posenc.hierarchical<rows = 8, alpha = 1.0>]

// -----

// complex_order_c1
// expected-error@below {{expected 'words' of #posenc.complex_order to be from 1 to 67108864, but got 0}}
posenc.embed @e dim(8) encode [#posenc.complex_order<words = 0, frequency = word>]

// -----

// complex_order_c2
// expected-error@below {{expected 'frequency' of #posenc.complex_order to say what frequencies depend on, but got none}}
posenc.embed @e dim(8) encode [#posenc.complex_order<words = 8, frequency = none>]

// -----

// expected-error@below {{'posenc.embed' op expected an even 'dim' for the real and imaginary parts of #posenc.complex_order, but got 7}}
posenc.embed @complex_order_c3 dim(7) encode [#posenc.complex_order<words = 8, frequency = word>]

// -----

// complex_order_c4
// expected-error@below {{expected 'merge' of #posenc.complex_order to be replace or add, but got mul}}
posenc.embed @e dim(8) encode [#posenc.complex_order<words = 8, frequency = word, merge = mul>]

// -----

// cape_c1
// expected-error@below {{expected the shifts of #posenc.cape to be at least 0 and its 'max_global_scaling' to be at least 1, but got}}
posenc.embed @e dim(8) encode [#posenc.cape<mode = training, max_global_scaling = 0.5>]

// -----

// cape_c2
// expected-error@below {{expected no shifts and no 'max_global_scaling' in #posenc.cape with 'mode = inference', which does not change positions}}
posenc.embed @e dim(8) encode [#posenc.cape<mode = inference, max_local_shift = 0.5>]

// -----

// cape_2d_c1
// expected-error@below {{expected no shifts and no 'max_global_scaling' in #posenc.cape_2d}}
posenc.embed @e dim(8) encode [#posenc.cape_2d<mode = inference, radii = steps, rows = 2, columns = 2, max_local_shift = 0.5>]

// -----

// expected-error@below {{'posenc.embed' op expected 'dim' to be even and at least 4 for the cosines and sines of #posenc.cape_2d, but got 2}}
posenc.embed @cape_2d_c2 dim(2) encode [#posenc.cape_2d<mode = inference, radii = linspace, rows = 2, columns = 2>]

// -----

// cape_2d_c3
// expected-error@below {{expected 'columns' of #posenc.cape_2d to be from 1 to 32768, but got 0}}
posenc.embed @e dim(8) encode [#posenc.cape_2d<mode = inference, radii = steps, rows = 2>]

// -----

// padded_positions_c1
// expected-error@below {{expected 'first' of #posenc.padded_positions to be from -1073741824 to 1073741824, but got 2000000000}}
posenc.embed @e dim(8) encode [#posenc.padded_positions<source = mask, first = 2000000000, padding = 0>]

// -----

// shifted_positions_c1
// expected-error@below {{expected 'max_shift' of #posenc.shifted_positions to be from 0 to 1073741824, but got -1}}
posenc.embed @e dim(8) encode [#posenc.shifted_positions<shift = training, law = paper, max_shift = -1>]

// -----

// shifted_positions_c2
// expected-error@below {{expected #posenc.shifted_positions to state a positive 'table_rows' exactly with 'shift = training, law = code', but got 0}}
posenc.embed @e dim(8) encode [#posenc.shifted_positions<shift = training, law = code, max_shift = 5>]

// -----

// randomised_positions_c1
// expected-error@below {{expected 'range' of #posenc.randomised_positions to be from 1 to 1073741824, but got 0}}
posenc.embed @e dim(8) encode [#posenc.randomised_positions<range = 0>]

// -----

// pose_c1
// expected-error@below {{expected 'target' of #posenc.pose to be from 1 to 1073741824, but got 0}}
posenc.embed @e dim(8) encode [#posenc.pose<mode = training, target = 0>]

// -----

// expected-error@below {{'posenc.embed' op expects the names of operands to differ, but 't.table' names two tensors}}
posenc.embed @same_operands dim(8) positions(#posenc.position_tensor<name = "t.table">) encode [#posenc.learned_absolute<rows = 4, name = "t">]

// -----

// embed_c6
// expected-error@below {{'posenc.embed' op expects positions of its tokens without 'queries'}}
posenc.embed @queries dim(8) positions(#posenc.position_tensor<queries = "q">) encode [#posenc.raw_index]

// -----

// embed_c6: in a body
posenc.embed @queries_in_a_body dim(8) {
^bb0(%x: !posenc.tokens):
  // expected-error@below {{'posenc.position' op expects positions of its tokens without 'queries'}}
  %p = posenc.position token law(#posenc.position_tensor<queries = "q">)
  posenc.yield %x : !posenc.tokens
}
