// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-simplify-scores says that it did, and did not, and why.
// RUN: posenc-opt %s --posenc-simplify-scores --remarks-filter='posenc-simplify' -split-input-file -verify-diagnostics -o /dev/null
// Other categories are another pass's.
// RUN: posenc-opt %s --posenc-simplify-scores --remarks-filter='posenc-plan' -split-input-file 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: remark:

posenc.kernel @dropped heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Passed] RowConstantBias | Category:posenc-simplify | Remark="dropped a bias that is the same for all keys of a row"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A caller that splits the keys merges the parts by it.
posenc.kernel @lse heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: the kernel can export the log-sum-exp of a row, unless it says 'no_lse'"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @map heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: its scores pass through a posenc.map"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %m = posenc.map %t() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %w = posenc.normalize softmax %m
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @only_term heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: it is the only term of its sum"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %u = posenc.select %b mask(#posenc.causal)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @operand heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.table law(#posenc.operand<"m">) : !posenc.table<head>
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: it reads an operand, which may hold an infinity and is a part of the kernel's interface"}}
  %b = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @not_finite heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: it names a number that is not finite"}}
  %b = posenc.bias() {
    %x = arith.constant 0xFFF0000000000000 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The sink's score has no such term.
posenc.kernel @sink heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %c = posenc.table law(#posenc.operand<"c">) : !posenc.table<head>
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: a sink has a share of the softmax of its scores"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t sink(%c : !posenc.table<head>)
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Weights that do not sum to 1 grow with it.
posenc.kernel @exp heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: its scores are normalised by another function than softmax"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize exp %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// The other branch has no such term.
posenc.kernel @branch heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: its scores are one branch of a select"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %a = posenc.add %s, %b
  %t = posenc.select %a else(%s) mask(#posenc.window<left = 3>)
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// Sums along the row count it once for each key.
posenc.kernel @scan heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  // expected-remark@below {{[Missed] RowConstantBias | Category:posenc-simplify | Remark="kept a bias that is the same for all keys of a row: its scores pass through a posenc.rowscan"}}
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %n = posenc.rowscan %t inclusive {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %w = posenc.normalize softmax %n
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

// A remark names the last of the biases, in whose place the sum stands.
posenc.kernel @merged heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b0 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  // expected-remark@below {{[Passed] MergedBiases | Category:posenc-simplify | Remark="merged 2 Toeplitz biases of one sum into one bias"}}
  %b1 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %n = math.sin %d : f64
    posenc.yield %n : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @other_positions heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %i1 = posenc.position query law(#posenc.iota<align = top_left>)
  %j1 = posenc.position key law(#posenc.iota<align = top_left>)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %r1 = posenc.relation %i1, %j1 law(#posenc.difference<query_minus_key>)
  %b0 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  // expected-remark@below {{[Missed] MergedBiases | Category:posenc-simplify | Remark="kept apart from another Toeplitz bias of its sum: its positions have another law"}}
  %b1 = posenc.bias(%r1) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @heads_of_kernel_and_call heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %n = posenc.table law(#posenc.operand<"n">) : !posenc.table<head>
  %b0 = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %y = arith.mulf %d, %x : f64
    posenc.yield %y : f64
  }
  // expected-remark@below {{[Missed] MergedBiases | Category:posenc-simplify | Remark="kept apart from another Toeplitz bias of its sum: one has constants for each head of the kernel, the other an operand for each head of the call"}}
  %b1 = posenc.bias(%r, %n) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %y = arith.mulf %d, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// -----

posenc.kernel @constant_part heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %j = posenc.position key law(#posenc.iota)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  // expected-remark@below {{[Passed] ConstantPart | Category:posenc-simplify | Remark="evaluated 2 operations on a constant table once for all scores"}}
  %b = posenc.bias(%j, %m) : !posenc.coord, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %e = math.exp %x : f64
    %n = arith.negf %e : f64
    %y = arith.mulf %d, %n : f64
    posenc.yield %y : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}
