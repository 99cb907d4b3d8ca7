// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose earlier keys no state stands for, with the reason.
// RUN: posenc-opt %s --posenc-expand-encodings --posenc-split-cache --posenc-form-recurrences -split-input-file -verify-diagnostics

// expected-error@below {{cannot have keys(state): no state stands for its earlier keys}}
// expected-note@below {{weights of kind softmax need the scores of all keys at once; expected identity or linear}}
posenc.kernel @softmax heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.rope]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{weights of kind abs_sum need the scores of all keys at once}}
posenc.kernel @row_sums heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.retention]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{a query sees other keys than those up to its own place; expected no mask but #posenc.causal}}
posenc.kernel @window heads(2) head_dim(8) keys(state) mask(#posenc.window<left = 7>) encode [#posenc.linear_attention]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{a query sees keys behind its own place; expected mask(#posenc.causal)}}
posenc.kernel @full heads(2) head_dim(8) keys(state) encode [#posenc.linear_attention]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{a query sees other keys than those up to its own place}}
posenc.kernel @top_left heads(2) head_dim(8) keys(state) mask(#posenc.causal<top_left>) encode [#posenc.linear_attention]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{a term that is no product of a query and a key; expected at most a number that each row adds once to what divides it, at the first key}}
posenc.kernel @bias heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.linear_attention, #posenc.alibi]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{it is no multiple of its score}}
posenc.kernel @cap heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.linear_attention, #posenc.softcap]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{its scores are not products of what each token has alone: its frequencies depend on the length of the call}}
posenc.kernel @dynamic heads(2) head_dim(8) keys(state) mask(#posenc.causal)
  encode [#posenc.linear_attention, #posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0, original_length = 16>>]

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @function_of_distance heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %s = posenc.dot %q, %k scale(1.0)
  %t = posenc.map %s(%r) : !posenc.relation {
  ^bb0(%x: f64, %d: f64):
    %one = arith.constant 1.0 : f64
    %e = arith.addf %d, %one : f64
    // expected-note@below {{it is a function of query and key that is no power of their distance}}
    %w = arith.addf %e, %one : f64
    %y = arith.divf %x, %w : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @positions_apart heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %s = posenc.dot %q, %k scale(1.0)
  // expected-note@below {{it is an exponential of positions that are not under their distance}}
  %t = posenc.map %s(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %a: f64, %b: f64):
    %d = arith.subf %b, %a : f64
    %w = math.exp %d : f64
    %y = arith.mulf %x, %w : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @two_decays heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %g = posenc.table law(#posenc.operand<"gamma">) : !posenc.table<head>
  %s = posenc.dot %q, %k scale(1.0)
  %t = posenc.map %s(%r, %g) : !posenc.relation, !posenc.table<head> {
  ^bb0(%x: f64, %d: f64, %gamma: f64):
    %w = math.powf %gamma, %d : f64
    %y = arith.mulf %x, %w : f64
    posenc.yield %y : f64
  }
  // expected-note@below {{products of one sum decay differently}}
  %s2 = posenc.dot %q, %k scale(2.0)
  %a = posenc.add %t, %s2
  %u = posenc.select %a mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @channels heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{a product over a part of the channels has a state of another shape}}
  %s = posenc.dot %q, %k scale(1.0) channels([0, 4, 4])
  %u = posenc.select %s mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @remainder heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %u = posenc.select %s mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  %rest = posenc.remainder %p, %v
  // expected-note@below {{the output is more than one weighted sum of the values}}
  %sum = posenc.add %o, %rest : !posenc.output
  posenc.yield %sum : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @running_sum heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %g = posenc.table law(#posenc.operand<"gates">) : !posenc.table<batch, head, key>
  %c = posenc.prefix_sum %g : !posenc.table<batch, head, key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s = posenc.dot %q, %k scale(1.0)
  // expected-note@below {{it is a function of query and key that is no power of their distance}}
  %t = posenc.map %s(%c) : !posenc.table<batch, head, key> {
  ^bb0(%x: f64, %sum: f64):
    %y = arith.mulf %x, %sum : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{expects no 'blocks' clause beside keys(state)}}
posenc.kernel @blocks heads(2) head_dim(8) keys(state) mask(#posenc.causal)
  blocks(#posenc.block_list<queries = 64, keys = 64>) encode [#posenc.linear_attention]

// -----

// expected-error@below {{no state stands for its earlier keys}}
// expected-note@below {{weights are dropped one by one, so that they are no products of queries and keys}}
posenc.kernel @dropped heads(2) head_dim(8) keys(state) mask(#posenc.causal) dropout(0.5) encode [#posenc.linear_attention]

// -----

// A factor of positions that count from the first query of a call.
// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @factor_of_call heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{its scores are not products of what each token has alone: its positions count from the first query}}
  %i = posenc.position query law(#posenc.iota<align = top_left>)
  %s = posenc.dot %q, %k scale(1.0)
  %t = posenc.map %s(%i) : !posenc.coord {
  ^bb0(%x: f64, %p: f64):
    %one = arith.constant 1.0 : f64
    %n = arith.addf %p, %one : f64
    %y = arith.mulf %x, %n : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @infinite_epsilon heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %j = posenc.position key law(#posenc.iota)
  // expected-note@below {{with others before it, it adds a number that is not finite to what divides a row}}
  %b = posenc.bias(%j) : !posenc.coord {
  ^bb0(%p: f64):
    %zero = arith.constant 0.0 : f64
    %c = arith.constant 1.0e308 : f64
    %first = arith.cmpf oeq, %p, %zero : f64
    %y = arith.select %first, %c, %zero : f64
    posenc.yield %y : f64
  }
  %s = posenc.dot %q, %k scale(1.0)
  %u = posenc.select %s mask(#posenc.causal)
  %once = posenc.add %s, %b : !posenc.score
  %twice = posenc.add %once, %b : !posenc.score
  %by = posenc.select %twice mask(#posenc.causal)
  %p = posenc.normalize linear %u by(%by)
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// -----

// expected-error@below {{no state stands for its earlier keys}}
posenc.kernel @infinite_scale heads(2) head_dim(8) keys(state) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-note@below {{its scale, times the constants that maps multiply its scores by, is not finite}}
  %s = posenc.dot %q, %k scale(1.0e200)
  %t = posenc.map %s() {
  ^bb0(%x: f64):
    %c = arith.constant 1.0e200 : f64
    %y = arith.mulf %x, %c : f64
    posenc.yield %y : f64
  }
  %u = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize identity %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
