// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case for each numbered constraint and each message of the verifiers.
// Combinations of encodings that have no meaning are in meaningless.mlir.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// kernel_c1
// expected-error@below {{'posenc.kernel' op expects 'heads' to be between 1 and 65536, but got 0}}
posenc.kernel @kernel_c1_heads heads(0) head_dim(8)

// -----

// kernel_c1
// expected-error@below {{'posenc.kernel' op expects 'heads' to be between 1 and 65536, but got -4}}
posenc.kernel @kernel_c1_heads_negative heads(-4) head_dim(8)

// -----

// kernel_c1
// expected-error@below {{'posenc.kernel' op expects 'heads' to be between 1 and 65536, but got 65537}}
posenc.kernel @kernel_c1_heads_many heads(65537) head_dim(8)

// -----

// kernel_c1: heads not divisible
// expected-error@below {{'posenc.kernel' op expects 'kv_heads' to be a positive divisor of 'heads' (8), but got 3}}
posenc.kernel @kernel_c1_kv_heads heads(8) kv_heads(3) head_dim(8)

// -----

// kernel_c1
// expected-error@below {{'posenc.kernel' op expects 'kv_heads' to be a positive divisor of 'heads' (8), but got 0}}
posenc.kernel @kernel_c1_kv_heads_zero heads(8) kv_heads(0) head_dim(8)

// -----

// kernel_c2
// expected-error@below {{'posenc.kernel' op expects 'head_dim' to be even and between 2 and 256, but got 7}}
posenc.kernel @kernel_c2_head_dim_odd heads(8) head_dim(7)

// -----

// kernel_c2
// expected-error@below {{'posenc.kernel' op expects 'head_dim' to be even and between 2 and 256, but got 0}}
posenc.kernel @kernel_c2_head_dim_zero heads(8) head_dim(0)

// -----

// kernel_c2
// expected-error@below {{'posenc.kernel' op expects 'head_dim' to be even and between 2 and 256, but got 258}}
posenc.kernel @kernel_c2_head_dim_large heads(8) head_dim(258)

// -----

// kernel_c2
// expected-error@below {{'posenc.kernel' op expects 'value_dim' to be between 1 and 256, but got 257}}
posenc.kernel @kernel_c2_value_dim heads(8) head_dim(8) value_dim(257)

// -----

// kernel_c2
// expected-error@below {{'posenc.kernel' op expects 'value_dim' to be between 1 and 256, but got 0}}
posenc.kernel @kernel_c2_value_dim_zero heads(8) head_dim(8) value_dim(0)

// -----

// kernel_c3
// expected-error@below {{'posenc.kernel' op expects 'dtype' to be f32, bf16, f16 or f64, but got 'i32'}}
posenc.kernel @kernel_c3 heads(8) head_dim(8) dtype(i32)

// -----

// expected-error@below {{'posenc.kernel' op expects 'kv_dtype' to be f32, bf16, f16, f64, i8 or f8E4M3FN, but got 'i16'}}
posenc.kernel @kernel_c3_keys heads(8) head_dim(8) dtype(f16) kv_dtype(i16)

// -----

// kernel_c4: a tensor that a clause adds
// expected-error@below {{'posenc.kernel' op expects no operand to be named 'key_lengths', which the kernel itself uses}}
posenc.kernel @kernel_c4_lengths heads(8) head_dim(8) keys(lengths) encode [#posenc.dense_bias<name = "key_lengths">]

// -----

// kernel_c10
// expected-error@below {{'posenc.kernel' op expects operands with a query axis to have a batch axis too, since queries are packed, but 'bias' has none}}
posenc.kernel @kernel_c10_queries heads(8) head_dim(8) queries(packed) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query>
  %b = posenc.bias(%t) : !posenc.table<head, query> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %p = posenc.normalize softmax %b
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{'posenc.kernel' op expects operands with a key axis to have a batch axis too, since keys are packed, but 'bias' has none}}
posenc.kernel @kernel_c10_keys heads(8) head_dim(8) keys(packed) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, key>
  %b = posenc.bias(%t) : !posenc.table<head, key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %p = posenc.normalize softmax %b
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c4: two equal names
// expected-error@below {{'posenc.kernel' op expects the names of encodings to differ, but 'rope' occurs twice: give one of them another 'name'}}
posenc.kernel @kernel_c4_encoding_names heads(8) head_dim(8) encode [#posenc.rope, #posenc.rope<base = 5.0e5>]

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects every encoding to have a name, but that of #posenc.rope<name = ""> is empty}}
posenc.kernel @kernel_c4_empty_encoding_name heads(8) head_dim(8) encode [#posenc.rope<name = "">]

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expected the name of an operand to be a C identifier but for dots, and no word of the language, but got 'my bias'}}
posenc.kernel @kernel_c4_operand_name heads(8) head_dim(8) encode [#posenc.dense_bias<name = "my bias">]

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects no operand to be named 'q', which the kernel itself uses}}
posenc.kernel @kernel_c4_operand_of_kernel heads(8) head_dim(8) encode [#posenc.dense_bias<name = "q">]

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects the names of operands to differ, but 'positions' names two tensors}}
posenc.kernel @kernel_c4_operand_twice heads(8) head_dim(8) positions(#posenc.position_tensor) encode [#posenc.dense_bias<name = "positions">]

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects the names of operands to differ in more than dots and underscores, but 'a.table' and 'a_table' do not}}
posenc.kernel @kernel_c4_same_field heads(8) head_dim(8) encode [#posenc.t5_bias<name = "a">, #posenc.dense_bias<name = "a_table">]

// -----

// kernel_c5
// expected-error@below {{'posenc.kernel' op expects 'scale' to be finite and not 0, but got 0.000000e+00}}
posenc.kernel @kernel_c5_zero heads(8) head_dim(8) scale(0.0)

// -----

// kernel_c5
// expected-error@below {{'posenc.kernel' op expects 'scale' to be finite and not 0, but got INF}}
posenc.kernel @kernel_c5_infinite heads(8) head_dim(8) scale(0x7FF0000000000000)

// -----

// kernel_c5
// expected-error@below {{'posenc.kernel' op expects 'scale' to be finite and not 0, but got nan}}
posenc.kernel @kernel_c5_nan heads(8) head_dim(8) scale(0x7FF8000000000000)

// -----

// a body and a clause that says what is computed
// expected-error@below {{'posenc.kernel' op expects no 'mask' clause beside a body: the body says what is computed}}
posenc.kernel @clause_mask_beside_body heads(8) head_dim(8) mask(#posenc.causal) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// a body and a clause that says what is computed
// expected-error@below {{'posenc.kernel' op expects no 'scale' clause beside a body: the body says what is computed}}
posenc.kernel @clause_scale_beside_body heads(8) head_dim(8) scale(1.0) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// a body and a clause that says what is computed
// expected-error@below {{'posenc.kernel' op expects no 'positions' clause beside a body: the body says what is computed}}
posenc.kernel @clause_positions_beside_body heads(8) head_dim(8) positions(#posenc.iota) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// a body and a clause that says what is computed
// expected-error@below {{'posenc.kernel' op expects no 'encode' clause beside a body: the body says what is computed}}
posenc.kernel @clause_encode_beside_body heads(8) head_dim(8) encode [#posenc.rope] {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c7
// expected-error@below {{'posenc.kernel' op expects its body to have the arguments (!posenc.query, !posenc.key, !posenc.value), but got ('!posenc.query', '!posenc.value')}}
posenc.kernel @kernel_c7_arguments heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %v: !posenc.value):
  posenc.yield
}

// -----

// kernel_c7
// expected-error@below {{'posenc.kernel' op expects its body to have the arguments (!posenc.query, !posenc.key, !posenc.value), but got ()}}
posenc.kernel @kernel_c7_no_arguments heads(8) head_dim(8) {
  posenc.yield
}

// -----

// kernel_c7
posenc.kernel @kernel_c7_foreign_operation heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'arith.constant' op cannot stand in the body of a posenc.kernel; expected primitives of level 2}}
  %c = arith.constant 1.0 : f64
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c7
posenc.kernel @kernel_c7_nested_kernel heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.kernel' op symbol's parent must have the SymbolTable trait}}
  posenc.kernel @inner heads(8) head_dim(8)
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c7
posenc.kernel @kernel_c7_tile_operation heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.tile.scale' op expects parent op to be one of 'posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue'}}
  %q1 = posenc.tile.scale %q by(2.0)
  %s = posenc.dot %q1, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c7
posenc.kernel @kernel_c7_yield heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-error@below {{'posenc.yield' op expects one operand of type !posenc.output}}
  posenc.yield %s : !posenc.score
}

// -----

// kernel_c7
posenc.kernel @kernel_c7_yield_nothing heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.yield' op expects one operand of type !posenc.output}}
  posenc.yield
}

// -----

// kernel_c7: the body has another terminator
"posenc.kernel"() <{sym_name = "kernel_c7_terminator", heads = 8 : i64, head_dim = 8 : i64}> ({
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'llvm.unreachable' op cannot stand in the body of a posenc.kernel; expected primitives of level 2}}
  llvm.unreachable
}) : () -> ()

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects no operand to be named 'lse', which the kernel itself uses}}
posenc.kernel @kernel_c4_body_operand_of_kernel heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t = posenc.table law(#posenc.operand<"lse">) : !posenc.table<head>
  %d = posenc.dot %q, %k scale(1.0)
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c4
// expected-error@below {{'posenc.kernel' op expects the names of operands to differ, but 't' names two tensors}}
posenc.kernel @kernel_c4_body_operand_twice heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %t0 = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  %t1 = posenc.table law(#posenc.operand<"t">) : !posenc.table<head, query, key>
  %d = posenc.dot %q, %k scale(1.0)
  %b = posenc.bias(%t0, %t1) : !posenc.table<head>, !posenc.table<head, query, key> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// kernel_c7: a body that holds nothing.
// expected-error@below {{empty block: expect at least a terminator}}
posenc.kernel @kernel_c7_empty heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
}

// -----

// Two blocks are no body.
// expected-error@below {{'posenc.kernel' op region #0 ('body') failed to verify constraint: region with at most 1 blocks}}
posenc.kernel @two_blocks heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  posenc.yield
^bb1:
  posenc.yield
}

// -----

// A region sees its arguments only.
posenc.kernel @isolated_bias heads(8) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %c = posenc.bias() {
    %one = arith.constant 1.0 : f64
    posenc.yield %one : f64
  }
  // expected-note@below {{required by region isolation constraints}}
  %b = posenc.bias() {
    %one = arith.constant 1.0 : f64
    // expected-error@below {{'posenc.yield' op using value defined outside the region}}
    posenc.yield %c : !posenc.score
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Two kernels of one name.
// expected-note@below {{see existing symbol definition here}}
posenc.kernel @redefined heads(8) head_dim(8)
// expected-error@below {{redefinition of symbol named 'redefined'}}
posenc.kernel @redefined heads(8) head_dim(8)

// -----

// rope_c3: dims > head_dim
// expected-error@below {{'posenc.kernel' op expected 'dims' of #posenc.rope (10) to be at most the kernel's 'head_dim' (8)}}
posenc.kernel @rope_c3 heads(8) head_dim(8) encode [#posenc.rope<dims = 10>]

// -----

// relation_c1
posenc.kernel @relation_c1_query heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  // expected-error@below {{'posenc.relation' op expects its first operand to be a position of the query side}}
  %r = posenc.relation %j, %j law(#posenc.difference<query_minus_key>)
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// relation_c1
posenc.kernel @relation_c1_key heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  // expected-error@below {{'posenc.relation' op expects its second operand to be a position of the key side}}
  %r = posenc.relation %i, %i law(#posenc.difference<query_minus_key>)
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c1
posenc.kernel @table_c1 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects its law to be #posenc.constants or #posenc.operand, but got #posenc.iota}}
  %t = posenc.table law(#posenc.iota) : !posenc.table<head>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c1: the use is verified before the table
posenc.kernel @table_c1_used_before heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  // expected-error@below {{'posenc.table' op expects its law to be #posenc.constants or #posenc.operand, but got #posenc.iota}}
  %t = posenc.table law(#posenc.iota) : !posenc.table<row>
  %d = posenc.dot %q, %k scale(1.0)
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c2
posenc.kernel @table_c2_axes heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects constants to have no query, key or batch axis}}
  %t = posenc.table law(#posenc.constants<[1.0]>) : !posenc.table<query>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c2
posenc.kernel @table_c2_heads heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects the number of constants to be 2, but got 3}}
  %t = posenc.table law(#posenc.constants<[1.0, 2.0, 3.0]>) : !posenc.table<head>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c2
posenc.kernel @table_c2_rows heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects the number of constants to be a multiple of 2, but got 3}}
  %t = posenc.table law(#posenc.constants<[1.0, 2.0, 3.0]>) : !posenc.table<row, head>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c2
posenc.kernel @table_c2_no_rows heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects the number of constants to be a multiple of 1, but got 0}}
  %t = posenc.table law(#posenc.constants<[]>) : !posenc.table<row>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c3
posenc.kernel @table_c3_missing heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects operand 't' to state 'rows', since its type has a row axis}}
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<row>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// table_c3
posenc.kernel @table_c3_superfluous heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.table' op expects operand 't' not to state 'rows', since its type has no row axis}}
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<head>
  %s = posenc.dot %q, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// rotate_c1
posenc.kernel @rotate_c1 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 6>)
  // expected-error@below {{'posenc.rotate' op expects the rotated channels [4, 4 + 6) to lie within the kernel's 'head_dim' (8)}}
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(4) : !posenc.query
  %s = posenc.dot %q1, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// rotate_c1
posenc.kernel @rotate_c1_negative heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 6>)
  // expected-error@below {{'posenc.rotate' op expects the rotated channels [-2, -2 + 6) to lie within the kernel's 'head_dim' (8)}}
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(-2) : !posenc.query
  %s = posenc.dot %q1, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// rotate_c1
posenc.kernel @rotate_c1_overflow heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 6>)
  // expected-error@below {{'posenc.rotate' op expects the rotated channels [9223372036854775807, 9223372036854775807 + 6) to lie within the kernel's 'head_dim' (8)}}
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(9223372036854775807) : !posenc.query
  %s = posenc.dot %q1, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// rotate_c2
posenc.kernel @rotate_c2 heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  // expected-error@below {{'posenc.rotate' op expects a position of the query side, like its input}}
  %q1 = posenc.rotate %q by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  %s = posenc.dot %q1, %k scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// rotate_c2
posenc.kernel @rotate_c2_key heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  // expected-error@below {{'posenc.rotate' op expects a position of the key side, like its input}}
  %k1 = posenc.rotate %k by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  %s = posenc.dot %q, %k1 scale(1.0)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Only queries and keys are rotated.
posenc.kernel @rotate_value heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  // expected-error@below {{'posenc.rotate' op operand #0 must be query, key or embedding vectors, but got '!posenc.value'}}
  %v1 = posenc.rotate %v by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.value
  posenc.yield
}

// -----

// dot_c1
posenc.kernel @dot_scale heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-error@below {{'posenc.dot' op expects 'scale' to be finite, but got INF}}
  %s = posenc.dot %q, %k scale(0x7FF0000000000000)
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c1
posenc.kernel @bias_c1_number heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  // expected-error@below {{'posenc.bias' op expects its region to have 1 arguments, but it has 2}}
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c1
posenc.kernel @bias_c1_type heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  // expected-error@below {{'posenc.bias' op expects argument #0 of its region to be f64, but got 'f32'}}
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f32):
    %y = arith.constant 1.0 : f64
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// map_c1
posenc.kernel @map_c1_number heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  // expected-error@below {{'posenc.map' op expects its region to have 1 arguments, but it has 0}}
  %b = posenc.map %d() {
    %y = arith.constant 1.0 : f64
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c2: outside the list
posenc.kernel @bias_c2_operation heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    // expected-error@below {{'math.sinh' op cannot stand in a region of real numbers; expected one of arith.{constant, negf, addf, subf, mulf, divf, maximumf, minimumf, maxnumf, minnumf, cmpf, select, andi, ori, xori} and math.{absf, ceil, copysign, cos, erf, exp, exp2, expm1, floor, fma, log, log1p, log2, powf, rsqrt, sin, sqrt, tan, tanh, trunc} on f64 and i1}}
    %y = math.sinh %x : f64
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c2: another type
posenc.kernel @bias_c2_type heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    // expected-error@below {{'arith.truncf' op cannot stand in a region of real numbers; expected one of arith.{constant, negf, addf, subf, mulf, divf, maximumf, minimumf, maxnumf, minnumf, cmpf, select, andi, ori, xori} and math.{absf, ceil, copysign, cos, erf, exp, exp2, expm1, floor, fma, log, log1p, log2, powf, rsqrt, sin, sqrt, tan, tanh, trunc} on f64 and i1}}
    %y = arith.truncf %x : f64 to f32
    posenc.yield %x : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c2
posenc.kernel @bias_c2_yield heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    // expected-error@below {{'posenc.yield' op expects a region of real numbers to end with a posenc.yield of one f64}}
    posenc.yield %x, %x : f64, f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c2
posenc.kernel @bias_c2_yield_type heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    %y = arith.cmpf olt, %x, %x : f64
    // expected-error@below {{'posenc.yield' op expects a region of real numbers to end with a posenc.yield of one f64}}
    posenc.yield %y : i1
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c2
posenc.kernel @bias_c2_terminator heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>
  %b = posenc.bias(%t) : !posenc.table<head> {
  ^bb0(%x: f64):
    // expected-error@below {{'llvm.unreachable' op expects a region of real numbers to end with a posenc.yield of one f64}}
    llvm.unreachable
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c3
posenc.kernel @bias_c3_no_relation heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row, head>
  // expected-error@below {{'posenc.bias' op expects input #0, a table with a row axis, to come after a relation}}
  %b = posenc.bias(%t) : !posenc.table<row, head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c3: the relation comes too late
posenc.kernel @bias_c3_relation_behind heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row>
  // expected-error@below {{'posenc.bias' op expects input #0, a table with a row axis, to come after a relation}}
  %b = posenc.bias(%t, %r) : !posenc.table<row>, !posenc.relation {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c3
posenc.kernel @bias_c3_unbounded heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row>
  // expected-error@below {{'posenc.bias' op expects the relation that looks up input #1 to have finitely many values, but its law is #posenc.difference<query_minus_key>}}
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c3: an operand
posenc.kernel @bias_c3_few_rows heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %t = posenc.table law(#posenc.operand<"t", rows = 4>) : !posenc.table<row>
  // expected-error@below {{'posenc.bias' op expects the table of input #1 to have at least 5 rows, one for each value of its relation, but it has 4}}
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// bias_c3: constants
posenc.kernel @bias_c3_few_constants heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 4], future_offset = 3>)
  %t = posenc.table law(#posenc.constants<[0, 1, 2, 3, 4, 5]>) : !posenc.table<row, head>
  // expected-error@below {{'posenc.bias' op expects the table of input #1 to have at least 6 rows, one for each value of its relation, but it has 3}}
  %b = posenc.bias(%r, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// map_c1
posenc.kernel @map_c1_lookup heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row, head>
  // expected-error@below {{'posenc.map' op expects input #0, a table with a row axis, to come after a relation}}
  %b = posenc.map %d(%t) : !posenc.table<row, head> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A bias reads no vectors.
posenc.kernel @bias_input heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %d = posenc.dot %q, %k scale(1.0)
  // expected-error@below {{'posenc.bias' op operand #0 must be variadic of a relation, a position or a table, but got '!posenc.query'}}
  %b = posenc.bias(%q) : !posenc.query {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.add %d, %b
  %w = posenc.normalize softmax %s
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Primitives stand in kernels and plans only.
// expected-error@below {{'posenc.position' op expects parent op to be one of 'posenc.kernel, posenc.embed, posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue'}}
%0 = posenc.position query law(#posenc.iota)

// -----

// Primitives stand in kernels and plans only.
// expected-error@below {{'posenc.freqs' op expects parent op to be one of 'posenc.kernel, posenc.embed, posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue'}}
%0 = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)

// -----

// Primitives stand in kernels and plans only.
// expected-error@below {{'posenc.table' op expects parent op to be one of 'posenc.kernel, posenc.embed, posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue'}}
%0 = posenc.table law(#posenc.operand<"t">) : !posenc.table<head>

// -----

// Primitives stand in kernels and plans only.
// expected-error@below {{'posenc.bias' op expects parent op to be one of 'posenc.kernel, posenc.embed, posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue'}}
%0 = posenc.bias() {
  %c = arith.constant 1.0 : f64
  posenc.yield %c : f64
}

// -----

// Primitives stand in kernels and plans only.
func.func @in_a_function(%q: !posenc.query, %k: !posenc.key) {
  // expected-error@below {{'posenc.dot' op expects parent op to be one of 'posenc.kernel, posenc.embed, posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue'}}
  %s = posenc.dot %q, %k scale(1.0)
  return
}

// -----

// So does posenc.yield, and in regions.
func.func @yield_in_a_function() {
  // expected-error@below {{'posenc.yield' op expects parent op to be one of 'posenc.kernel, posenc.embed, posenc.prepare, posenc.keys, posenc.prologue, posenc.step, posenc.epilogue, posenc.bias, posenc.map, posenc.remap, posenc.relation_map, posenc.freqs_map, posenc.table_map, posenc.prefix_sum, posenc.rotate, posenc.row_scale, posenc.vector_map, posenc.select, posenc.rowscan, posenc.head_mlp, posenc.coord_map, posenc.channel_map'}}
  posenc.yield
}
