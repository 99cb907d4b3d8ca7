// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parsers of attributes, types and operations refuse.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// No such encoding.
// expected-error@below {{unknown attribute `ropee` in dialect `posenc`}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.ropee]

// -----

// No such parameter.
// expected-error@below {{duplicate or unknown struct parameter name: bass}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<bass = 3.0>]

// -----

// A parameter twice.
// expected-error@below {{duplicate or unknown struct parameter name: base}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 3.0, base = 3.0>]

// -----

// rope_c1: NaN
// expected-error@below {{expected 'base' of #posenc.rope to be positive and finite, but got nan}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 0x7FF8000000000000>]

// -----

// rope_c1: infinity
// expected-error@below {{expected 'base' of #posenc.rope to be positive and finite, but got INF}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 0x7FF0000000000000>]

// -----

// rope_c1: negative
// expected-error@below {{expected 'base' of #posenc.rope to be positive and finite, but got -1.000000e+04}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = -10000.0>]

// -----

// rope_c1: zero
// expected-error@below {{expected 'base' of #posenc.rope to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 0>]

// -----

// rope_c2: odd
// expected-error@below {{expected 'dims' of #posenc.rope to be even and positive, or 0 for the whole head, but got 3}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = 3>]

// -----

// rope_c2: negative
// expected-error@below {{expected 'dims' of #posenc.rope to be even and positive, or 0 for the whole head, but got -2}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<dims = -2>]

// -----

// No such keyword.
// expected-error@below {{expected one of [half, interleaved] for which two channels a rotation turns together, got: halves}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'pairing' which is to be a `::posenc::Pairing`}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<pairing = halves>]

// -----

// A number must stand here.
// expected-error@below {{expected floating point literal}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'base' which is to be a `::llvm::APFloat`}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = half>]

// -----

// An integer beyond 64 bits.
// expected-error@below {{integer value too large}}
// expected-error@below {{failed to parse Posenc_RopeAttr parameter 'base' which is to be a `::llvm::APFloat`}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.rope<base = 100000000000000000000>]

// -----

// alibi_c1
// expected-error@below {{expected 'max_exponent' of #posenc.alibi to be positive and finite, but got 0.000000e+00}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.alibi<max_exponent = 0.0>]

// -----

// alibi_c1: NaN
// expected-error@below {{expected 'max_exponent' of #posenc.alibi to be positive and finite, but got nan}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) encode [#posenc.alibi<max_exponent = 0x7FF8000000000000>]

// -----

// t5_bias_c1: too few
// expected-error@below {{expected 'buckets' of #posenc.t5_bias to be at least 2, but got 1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<buckets = 1>]

// -----

// t5_bias_c1: buckets that cannot be split
// expected-error@below {{expected 'buckets' of a bidirectional #posenc.t5_bias to be even and at least 4, but got 31}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<buckets = 31, direction = bidirectional>]

// -----

// t5_bias_c1: too few to split
// expected-error@below {{expected 'buckets' of a bidirectional #posenc.t5_bias to be even and at least 4, but got 2}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<buckets = 2, direction = bidirectional>]

// -----

// t5_bias_c1: too many
// expected-error@below {{expected 'buckets' of #posenc.t5_bias to be at most 4096, but got 4098}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<buckets = 4098, max_distance = 100000>]

// -----

// t5_bias_c2
// expected-error@below {{expected 'max_distance' of #posenc.t5_bias to exceed the 16 distances with a bucket of their own and to be at most 2^30, but got 16}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<buckets = 32, max_distance = 16>]

// -----

// t5_bias_c2: bidirectional
// expected-error@below {{expected 'max_distance' of #posenc.t5_bias to exceed the 8 distances with a bucket of their own and to be at most 2^30, but got 8}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<buckets = 32, max_distance = 8, direction = bidirectional>]

// -----

// t5_bias_c2: too far
// expected-error@below {{expected 'max_distance' of #posenc.t5_bias to exceed the 16 distances with a bucket of their own and to be at most 2^30, but got 1073741825}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.t5_bias<max_distance = 1073741825>]

// -----

// toeplitz_bias_c1
// expected-error@below {{expected 'max_distance' of #posenc.toeplitz_bias to be between 0 and 2^24, but got -1}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.toeplitz_bias<max_distance = -1>]

// -----

// toeplitz_bias_c1: too far
// expected-error@below {{expected 'max_distance' of #posenc.toeplitz_bias to be between 0 and 2^24, but got 16777217}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.toeplitz_bias<max_distance = 16777217>]

// -----

// A mask is no encoding.
// expected-error@below {{expected 'encode' to hold an attribute such as #posenc.rope, but got #posenc.causal}}
posenc.kernel @k heads(8) head_dim(8) encode [#posenc.causal]

// -----

// An encoding is no mask.
// expected-error@below {{expected 'mask' to hold an attribute such as #posenc.causal, but got #posenc.rope}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.rope)

// -----

// A mask is no position law.
// expected-error@below {{expected 'positions' to hold an attribute such as #posenc.iota, but got #posenc.causal}}
posenc.kernel @k heads(8) head_dim(8) positions(#posenc.causal)

// -----

// A scale is a number.
// expected-error@below {{expected floating point literal}}
posenc.kernel @k heads(8) head_dim(8) scale(one)

// -----

// Numbers are no encodings.
// expected-error@below {{expected 'encode' to hold an attribute such as #posenc.rope, but got 1 : i64}}
posenc.kernel @k heads(8) head_dim(8) encode [1]

// -----

// expected-error@below {{expected '[' that begins a list of encodings}}
posenc.kernel @k heads(8) head_dim(8) encode #posenc.rope

// -----

// expected-error@below {{expected 'mask' to hold an attribute such as #posenc.causal}}
posenc.kernel @k heads(8) head_dim(8) mask()

// -----

// expected-error@below {{expected 'queries' to be one of dense, packed, but got 'foo'}}
posenc.kernel @k heads(8) head_dim(8) queries(foo)

// -----

// expected-error@below {{expected 'keys' to be one of dense, lengths, packed, paged}}
posenc.kernel @k heads(8) head_dim(8) keys()

// -----

// expected-error@below {{expected non-function type}}
posenc.kernel @k heads(8) head_dim(8) dtype()

// -----

// A clause is no attribute.
// expected-error@below {{expected 'heads' to be a clause, not one of the attributes}}
posenc.kernel @k heads(8) head_dim(8) attributes {heads = 4}

// -----

// expected-error@below {{expected the body to yield an output, or no body, but it is empty}}
posenc.kernel @k heads(8) head_dim(8) {}

// -----

// A clause twice.
// expected-error@below {{expected 'mask' at most once, but it is given twice}}
posenc.kernel @k heads(8) head_dim(8) mask(#posenc.causal) mask(#posenc.causal)

// -----

// A clause that does not exist.
// expected-error@below {{unknown}}
posenc.kernel @k heads(8) head_dim(8) window(4)

// -----

// heads and head_dim have no default.
posenc.kernel @k heads(8)
// expected-error@+2 {{expected 'head_dim(...)', which has no default}}

// -----

// iota_c1
// expected-error@below {{expected 'offset' to be between -2^30 and 2^30, but got 1073741825}}
module attributes {t.a = #posenc.iota<offset = 1073741825>} {}

// -----

// iota_c1
// expected-error@below {{expected 'offset' to be between -2^30 and 2^30, but got -1073741825}}
module attributes {t.a = #posenc.iota<offset = -1073741825>} {}

// -----

// position_tensor_c1
// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got ''}}
module attributes {t.a = #posenc.position_tensor<name = "">} {}

// -----

// position_tensor_c3
// expected-error@below {{expected 'queries' to be another operand than 'name', but both are 'positions'}}
module attributes {t.a = #posenc.position_tensor<queries = "positions">} {}

// -----

// position_tensor_c3: a name
// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got '2nd'}}
module attributes {t.a = #posenc.position_tensor<queries = "2nd">} {}

// -----

// operand_c1
// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got '2nd'}}
module attributes {t.a = #posenc.operand<"2nd">} {}

// -----

// operand_c1
// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got '.table'}}
module attributes {t.a = #posenc.operand<".table">} {}

// -----

// operand_c2
// expected-error@below {{expected 'rows' to be between 0 and 2^26, but got -1}}
module attributes {t.a = #posenc.operand<"t", rows = -1>} {}

// -----

// operand_c2
// expected-error@below {{expected 'rows' to be between 0 and 2^26, but got 67108865}}
module attributes {t.a = #posenc.operand<"t", rows = 67108865>} {}

// -----

// clipped_distance_c1
// expected-error@below {{expected 'max' to be between 0 and 2^24, but got -1}}
module attributes {t.a = #posenc.clipped_distance<query_minus_key, max = -1>} {}

// -----

// clipped_distance_c1
// expected-error@below {{expected 'max' to be between 0 and 2^24, but got 16777217}}
module attributes {t.a = #posenc.clipped_distance<query_minus_key, max = 16777217>} {}

// -----

// threshold_bucket_c1
// expected-error@below {{expected thresholds to be positive, but got 0}}
module attributes {t.a = #posenc.threshold_bucket<[0, 1], future_offset = -1>} {}

// -----

// threshold_bucket_c1
// expected-error@below {{expected thresholds not to decrease, but 3 comes after 4}}
module attributes {t.a = #posenc.threshold_bucket<[1, 4, 3], future_offset = -1>} {}

// -----

// threshold_bucket_c2
// expected-error@below {{expected 'future_offset' to be between -1 and 2^26, but got -2}}
module attributes {t.a = #posenc.threshold_bucket<[1], future_offset = -2>} {}

// -----

// threshold_bucket_c2
// expected-error@below {{expected 'future_offset' to be between -1 and 2^26, but got 9223372036854775807}}
module attributes {t.a = #posenc.threshold_bucket<[1], future_offset = 9223372036854775807>} {}

// -----

// geometric_c1
// expected-error@below {{expected 'base' to be positive and finite, but got 0.000000e+00}}
module attributes {t.a = #posenc.geometric<base = 0.0, dims = 2>} {}

// -----

// geometric_c2
// expected-error@below {{expected 'dims' to be even and between 2 and 65536, but got 3}}
module attributes {t.a = #posenc.geometric<base = 1.0, dims = 3>} {}

// -----

// geometric_c2: too many to list
// expected-error@below {{expected 'dims' to be even and between 2 and 65536, but got 9223372036854775806}}
module attributes {t.a = #posenc.geometric<base = 1.0, dims = 9223372036854775806>} {}

// -----

// A parameter without a default.
// expected-error@below {{expected ','}}
module attributes {t.a = #posenc.geometric<dims = 2>} {}

// -----

// Constants are numbers.
// expected-error@below {{expected floating point literal}}
// expected-error@below {{failed to parse Posenc_ConstantsAttr parameter 'values' which is to be a `::mlir::DenseF64ArrayAttr`}}
module attributes {t.a = #posenc.constants<[1.0, x]>} {}

// -----

// Constants are a list.
// expected-error@below {{expected '['}}
// expected-error@below {{failed to parse Posenc_ConstantsAttr parameter 'values' which is to be a `::mlir::DenseF64ArrayAttr`}}
module attributes {t.a = #posenc.constants<1.0>} {}

// -----

// table types have an axis.
// expected-error@below {{expected keyword for what an axis of a table counts}}
// expected-error@below {{failed to parse Posenc_TableType parameter 'axes' which is to be a `::llvm::ArrayRef<::posenc::TableAxis>`}}
module attributes {t.a = !posenc.table<>} {}

// -----

// The axes of a table differ.
// expected-error@below {{expected the axes of a table to differ, but 'row' occurs twice}}
module attributes {t.a = !posenc.table<row, head, row>} {}

// -----

// No such type.
// expected-error@below {{unknown  type `tables` in dialect `posenc`}}
module attributes {t.a = !posenc.tables<row>} {}

// -----

// Words of C and C++ cannot be fields of a struct.
// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got 'int'}}
posenc.kernel @operand_named_like_a_keyword heads(2) head_dim(8) encode [#posenc.dense_bias<name = "int">]

// -----

// Nor can macros of the headers.
// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got 'INT32.MAX'}}
posenc.kernel @operand_named_like_a_macro heads(2) head_dim(8) encode [#posenc.dense_bias<name = "INT32.MAX">]

// -----

// expected-error@below {{expected the name of an operand to be a C identifier but for dots, and no word of the language, but got 'NULL'}}
posenc.kernel @operand_named_null heads(2) head_dim(8) encode [#posenc.dense_bias<name = "NULL">]

// -----

// expected-error@below {{'posenc.kernel' op expects no operand to be named 'size', which the kernel itself uses}}
posenc.kernel @operand_named_size heads(2) head_dim(8) encode [#posenc.dense_bias<name = "size">]
