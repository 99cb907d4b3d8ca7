// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of keys, values and operands that are refused.
// RUN: posenc-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{'posenc.kernel' op expects 'kv_dtype' to be f32, bf16, f16, f64, i8 or f8E4M3FN, but got 'f8E5M2'}}
posenc.kernel @keys heads(2) head_dim(8) kv_dtype(f8E5M2)

// -----

// expected-error@below {{'posenc.kernel' op expects 'dtype' to be f32, bf16, f16 or f64, but got 'i8'}}
posenc.kernel @queries heads(2) head_dim(8) dtype(i8) kv_scales(head)

// -----

// expected-error@below {{'posenc.kernel' op expects 'table_dtype' to be f32, bf16, f16 or f64, but got 'i8'}}
posenc.kernel @tables heads(2) head_dim(8) table_dtype(i8)

// -----

// expected-error@below {{'posenc.kernel' op expects kv_scales(head) or kv_scales(token) beside kv_dtype('i8'), whose numbers are codes}}
posenc.kernel @no_scales heads(2) head_dim(8) kv_dtype(i8)

// -----

// expected-error@below {{'posenc.kernel' op expects kv_dtype(i8) or kv_dtype(f8E4M3FN) beside 'kv_scales', but keys and values are 'bf16'}}
posenc.kernel @no_codes heads(2) head_dim(8) dtype(bf16) kv_scales(token)

// -----

// expected-error@below {{expected 'kv_scales' to be one of head, token, but got 'channel'}}
posenc.kernel @channels heads(2) head_dim(8) kv_dtype(i8) kv_scales(channel)

// -----

// A tensor that a clause adds.
// expected-error@below {{'posenc.kernel' op expects no operand to be named 'k_scales', which the kernel itself uses}}
posenc.kernel @name heads(2) head_dim(8) kv_dtype(i8) kv_scales(head) encode [#posenc.dense_bias<name = "k_scales">]

// -----

// expected-error@below {{'posenc.kernel' op expects no 'table_dtype' clause beside a body: the body says what is computed}}
posenc.kernel @body heads(2) head_dim(8) table_dtype(bf16) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{expected 'dtype' to be bf16, f16 or f64, or absent for f32, but got 'f32'}}
module attributes {t.a = #posenc.operand<"t", dtype = f32>} {}

// -----

// One tensor of two types.
// expected-error@below {{'posenc.kernel' op expects the names of operands to differ, but 't' names two tensors}}
posenc.kernel @two heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %a = posenc.table law(#posenc.operand<"t", rows = 3, dtype = bf16>) : !posenc.table<row>
  %b = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row>
  %s = posenc.dot %q, %k scale(0.5)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
