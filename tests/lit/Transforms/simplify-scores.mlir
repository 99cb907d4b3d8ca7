// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: posenc-opt %s --posenc-simplify-scores | FileCheck %s
// The identities have been applied when there is nothing left to do.
// RUN: posenc-opt %s --posenc-simplify-scores -o %t.once
// RUN: posenc-opt %t.once --posenc-simplify-scores -o %t.twice
// RUN: diff %t.once %t.twice

//===----------------------------------------------------------------------===//
// Row constants (algebra identity 7)
//===----------------------------------------------------------------------===//

// A bias that depends on the query position alone is not seen by softmax.
// CHECK-LABEL: posenc.kernel @drops_query_term
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key, %[[V:.*]]: !posenc.value):
// CHECK-NEXT: %[[S:.*]] = posenc.dot %[[Q]], %[[K]] scale(1.000000e+00)
// CHECK-NEXT: %[[U:.*]] = posenc.select %[[S]] mask(#posenc.causal)
// CHECK-NEXT: %[[W:.*]] = posenc.normalize softmax %[[U]]
posenc.kernel @drops_query_term heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %b = posenc.bias(%i, %m) : !posenc.coord, !posenc.table<head> {
  ^bb0(%p: f64, %slope: f64):
    %x = arith.mulf %p, %slope : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %u = posenc.select %t mask(#posenc.causal)
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// So are constants for each head, wherever they stand in the sum; a term of
// the key stays.
// CHECK-LABEL: posenc.kernel @drops_head_terms_on_either_side
// CHECK: %[[S:.*]] = posenc.dot
// CHECK: %[[J:.*]] = posenc.position key
// CHECK: %[[B:.*]] = posenc.bias(%[[J]])
// CHECK: %[[T:.*]] = posenc.add %[[B]], %[[S]]
// CHECK-NEXT: posenc.normalize softmax %[[T]]
posenc.kernel @drops_head_terms_on_either_side heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %j = posenc.position key law(#posenc.iota)
  %b0 = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %b1 = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %b2 = posenc.bias(%j) : !posenc.coord {
  ^bb0(%p: f64):
    posenc.yield %p : f64
  }
  %s0 = posenc.add %b0, %s
  %s1 = posenc.add %s0, %b1
  %s2 = posenc.add %b2, %s1
  %w = posenc.normalize softmax %s2
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// An input that does not reach the result does not count.
// CHECK-LABEL: posenc.kernel @drops_term_with_idle_key_input
// CHECK-NOT: posenc.bias
// CHECK: posenc.yield
posenc.kernel @drops_term_with_idle_key_input heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %b = posenc.bias(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %n = arith.negf %y : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// The log-sum-exp sees it: kept.
// CHECK-LABEL: posenc.kernel @keeps_term_that_lse_sees
// CHECK: posenc.bias
posenc.kernel @keeps_term_that_lse_sees heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %b = posenc.bias(%i) : !posenc.coord {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// So does a map behind it; before it the map sees nothing.
// CHECK-LABEL: posenc.kernel @keeps_term_before_map_only
// CHECK: %[[S:.*]] = posenc.dot
// CHECK: %[[B:.*]] = posenc.bias
// CHECK-NOT: posenc.bias
// CHECK: %[[T:.*]] = posenc.add %[[S]], %[[B]]
// CHECK: %[[M:.*]] = posenc.map %[[T]]() {
// CHECK: posenc.normalize softmax %[[M]]
posenc.kernel @keeps_term_before_map_only heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %b0 = posenc.bias(%i) : !posenc.coord {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b0
  %m = posenc.map %t() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %b1 = posenc.bias(%i) : !posenc.coord {
  ^bb0(%x: f64):
    %n = arith.negf %x : f64
    posenc.yield %n : f64
  }
  %u = posenc.add %m, %b1
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// A whole row of -inf has no weights at all: not a real number, kept.
// CHECK-LABEL: posenc.kernel @keeps_infinite_term
// CHECK: posenc.bias
posenc.kernel @keeps_infinite_term heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.table law(#posenc.constants<[0.0, 0xFFF0000000000000]>) : !posenc.table<head>
  %b = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// A caller passes the operand, which may hold -inf: kept.
// CHECK-LABEL: posenc.kernel @keeps_term_of_operand
// CHECK: posenc.bias
posenc.kernel @keeps_term_of_operand heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.table law(#posenc.operand<"m">) : !posenc.table<head, query>
  %b = posenc.bias(%m) : !posenc.table<head, query> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Operands are the kernel's interface: those that reach no result stay too.
// CHECK-LABEL: posenc.kernel @keeps_idle_operands
// CHECK: %[[N:.*]] = posenc.table law(#posenc.operand<"n">)
// CHECK: %[[T:.*]] = posenc.table law(#posenc.operand<"t", rows = 3>)
// CHECK: posenc.bias(%[[N]], %[[R:.*]], %[[T]], %[[D:.*]]) : !posenc.table<head>, !posenc.relation, !posenc.table<row>, !posenc.relation {
posenc.kernel @keeps_idle_operands heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %d = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %n = posenc.table law(#posenc.operand<"n">) : !posenc.table<head>
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row>
  %b0 = posenc.bias(%i, %n) : !posenc.coord, !posenc.table<head> {
  ^bb0(%x: f64, %y: f64):
    %c = arith.constant 1.0 : f64
    posenc.yield %c : f64
  }
  %b1 = posenc.bias(%r, %t, %d) : !posenc.relation, !posenc.table<row>, !posenc.relation {
  ^bb0(%x: f64, %y: f64, %z: f64):
    posenc.yield %z : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Scores without any other term keep the one they have.
// CHECK-LABEL: posenc.kernel @keeps_only_term
// CHECK: posenc.bias
// CHECK-NEXT: arith.constant
posenc.kernel @keeps_only_term heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %w = posenc.normalize softmax %b
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Two uses, both of which softmax does not see.
// CHECK-LABEL: posenc.kernel @drops_term_with_two_uses
// CHECK-NOT: posenc.bias
// CHECK: posenc.yield
posenc.kernel @drops_term_with_two_uses heads(2) head_dim(8) no_lse {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %b = posenc.bias() {
    %x = arith.constant 3.0 : f64
    posenc.yield %x : f64
  }
  %t = posenc.add %s, %b
  %u = posenc.add %t, %b
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

//===----------------------------------------------------------------------===//
// Parts that depend on one constant table
//===----------------------------------------------------------------------===//

// A part that depends on one constant table and literals becomes a table.
// CHECK-LABEL: posenc.kernel @folds_part_of_head_table
// CHECK: %[[M:.*]] = posenc.table law(#posenc.constants<[-1.000000e+00, -5.000000e-01]>) : !posenc.table<head>
// CHECK: posenc.bias(%{{.*}}, %[[M]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[D:.*]]: f64, %[[X:.*]]: f64):
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[D]], %[[X]] : f64
// CHECK-NEXT: posenc.yield %[[Y]] : f64
posenc.kernel @folds_part_of_head_table heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %m = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %slope: f64):
    %two = arith.constant 2.0 : f64
    %x = arith.mulf %slope, %two : f64
    %n = arith.negf %x : f64
    %y = arith.mulf %d, %n : f64
    posenc.yield %y : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// The whole region of a table with rows; the relation that looks it up stays
// before it.
// CHECK-LABEL: posenc.kernel @folds_whole_region_of_row_table
// CHECK: %[[T:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 2.000000e+00, 4.000000e+00]>) : !posenc.table<row>
// CHECK: posenc.bias(%{{.*}}, %[[T]]) : !posenc.relation, !posenc.table<row> {
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[X:.*]]: f64):
// CHECK-NEXT: posenc.yield %[[X]] : f64
posenc.kernel @folds_whole_region_of_row_table heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %m = posenc.table law(#posenc.constants<[0.0, 1.0, 2.0]>) : !posenc.table<row>
  %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<row> {
  ^bb0(%d: f64, %x: f64):
    %y = math.exp2 %x : f64
    posenc.yield %y : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Truth values inside such a part are part of it; those at its border are not
// numbers, so the part ends before them.
// CHECK-LABEL: posenc.kernel @folds_through_comparisons
// CHECK: %[[LIMIT:.*]] = posenc.table law(#posenc.constants<[5.000000e-01, 1.000000e+00]>)
// CHECK: posenc.bias(%{{.*}}, %[[LIMIT]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[D:.*]]: f64, %[[X:.*]]: f64):
// CHECK-NEXT: %[[NEAR:.*]] = arith.cmpf olt, %[[D]], %[[X]] : f64
// CHECK-NEXT: %[[Y:.*]] = arith.select %[[NEAR]], %[[D]], %[[X]] : f64
// CHECK-NEXT: posenc.yield %[[Y]]
posenc.kernel @folds_through_comparisons heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64):
    %one = arith.constant 1.0 : f64
    %small = arith.cmpf olt, %x, %one : f64
    %limit = arith.select %small, %x, %one : f64
    %near = arith.cmpf olt, %d, %limit : f64
    %y = arith.select %near, %d, %limit : f64
    posenc.yield %y : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Two tables in one expression, an operand, and a comparison that is used with
// something else: nothing to evaluate.
// CHECK-LABEL: posenc.kernel @keeps_parts_of_several_inputs
// CHECK: posenc.bias(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !posenc.relation, !posenc.table<head>, !posenc.table<head>, !posenc.table<head> {
// CHECK: arith.addf
// CHECK: math.exp
// CHECK: arith.cmpf
// CHECK: arith.select
posenc.kernel @keeps_parts_of_several_inputs heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %n = posenc.table law(#posenc.constants<[1.5, 2.0]>) : !posenc.table<head>
  %l = posenc.table law(#posenc.operand<"l">) : !posenc.table<head>
  %b = posenc.bias(%r, %m, %n, %l) : !posenc.relation, !posenc.table<head>, !posenc.table<head>, !posenc.table<head> {
  ^bb0(%d: f64, %x: f64, %y: f64, %z: f64):
    %sum = arith.addf %x, %y : f64
    %e = math.exp %z : f64
    %zero = arith.constant 0.0 : f64
    %c = arith.cmpf olt, %x, %zero : f64
    %near = arith.select %c, %sum, %d : f64
    %w = arith.mulf %near, %e : f64
    posenc.yield %w : f64
  }
  %t = posenc.add %s, %b
  %w = posenc.normalize softmax %t
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

//===----------------------------------------------------------------------===//
// Toeplitz biases of one sum
//===----------------------------------------------------------------------===//

// Three become one; the inputs that they share occur once, and each table
// still comes after its own relation.
// CHECK-LABEL: posenc.kernel @merges_toeplitz_biases
// CHECK: %[[S:.*]] = posenc.dot
// CHECK: %[[R0:.*]] = posenc.relation %{{.*}}, %{{.*}} law(#posenc.clipped_distance<query_minus_key, max = 1>)
// CHECK: %[[R1:.*]] = posenc.relation %{{.*}}, %{{.*}} law(#posenc.clipped_distance<query_minus_key, max = 2>)
// CHECK: %[[A:.*]] = posenc.table law(#posenc.operand<"a", rows = 3>)
// CHECK: %[[B:.*]] = posenc.table law(#posenc.operand<"b", rows = 5>)
// CHECK: %[[C:.*]] = posenc.table law(#posenc.operand<"c", rows = 3>)
// CHECK: %[[SUM:.*]] = posenc.bias(%[[R0]], %[[A]], %[[C]], %[[R1]], %[[B]])
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[X:.*]]: f64, %[[Z:.*]]: f64, %{{.*}}: f64, %[[Y:.*]]: f64):
// CHECK-NEXT: %[[E:.*]] = math.exp %[[Y]] : f64
// CHECK-NEXT: %[[XE:.*]] = arith.addf %[[X]], %[[E]] : f64
// CHECK-NEXT: %[[XZ:.*]] = arith.mulf %[[X]], %[[Z]] : f64
// CHECK-NEXT: %[[ALL:.*]] = arith.addf %[[XE]], %[[XZ]] : f64
// CHECK-NEXT: posenc.yield %[[ALL]] : f64
// CHECK: %[[T:.*]] = posenc.add %[[S]], %[[SUM]]
// CHECK-NEXT: posenc.normalize softmax %[[T]]
posenc.kernel @merges_toeplitz_biases heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r0 = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %r1 = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 2>)
  %a = posenc.table law(#posenc.operand<"a", rows = 3>) : !posenc.table<row, head>
  %b = posenc.table law(#posenc.operand<"b", rows = 5>) : !posenc.table<row, head>
  %c = posenc.table law(#posenc.operand<"c", rows = 3>) : !posenc.table<row, head>
  %b0 = posenc.bias(%r0, %a) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %s0 = posenc.add %s, %b0
  %b1 = posenc.bias(%r1, %b) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    %e = math.exp %x : f64
    posenc.yield %e : f64
  }
  %s1 = posenc.add %s0, %b1
  %b2 = posenc.bias(%r0, %a, %c) : !posenc.relation, !posenc.table<row, head>, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64, %y: f64):
    %e = arith.mulf %x, %y : f64
    posenc.yield %e : f64
  }
  %s2 = posenc.add %s1, %b2
  %w = posenc.normalize softmax %s2
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// The same table under two relations is two inputs.
// CHECK-LABEL: posenc.kernel @merges_one_table_under_two_relations
// CHECK: posenc.bias(%[[R0:.*]], %[[T:.*]], %[[R1:.*]], %[[T]])
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %[[X:.*]]: f64, %{{.*}}: f64, %[[Y:.*]]: f64):
// CHECK-NEXT: arith.addf %[[X]], %[[Y]] : f64
posenc.kernel @merges_one_table_under_two_relations heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r0 = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %r1 = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 1>)
  %t = posenc.table law(#posenc.operand<"t", rows = 3>) : !posenc.table<row, head>
  %b0 = posenc.bias(%r0, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %b1 = posenc.bias(%r1, %t) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  %b = posenc.add %b0, %b1
  %u = posenc.add %s, %b
  %w = posenc.normalize softmax %u
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Merging joins parts that then depend on one table.
// CHECK-LABEL: posenc.kernel @merges_then_folds
// CHECK: posenc.table law(#posenc.constants<[2.500000e-01, 9.000000e+00]>) : !posenc.table<head>
// CHECK: posenc.bias
// CHECK-NOT: posenc.bias
posenc.kernel @merges_then_folds heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %b0 = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    %y = arith.mulf %x, %x : f64
    posenc.yield %y : f64
  }
  %b1 = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    %y = arith.subf %x, %x : f64
    posenc.yield %y : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// Positions of two laws, constants beside operands for each head, a bias with
// two uses, terms on two sides of a map, and biases that are not Toeplitz stay
// apart.
// CHECK-LABEL: posenc.kernel @keeps_other_positions
// CHECK-COUNT-2: posenc.bias
posenc.kernel @keeps_other_positions heads(2) head_dim(8) {
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

// CHECK-LABEL: posenc.kernel @keeps_constants_beside_operands
// CHECK-COUNT-2: posenc.bias
posenc.kernel @keeps_constants_beside_operands heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %m = posenc.table law(#posenc.constants<[0.5, 3.0]>) : !posenc.table<head>
  %n = posenc.table law(#posenc.operand<"n">) : !posenc.table<head>
  %b0 = posenc.bias(%m) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %b1 = posenc.bias(%n) : !posenc.table<head> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: posenc.kernel @keeps_terms_around_map
// CHECK: posenc.bias
// CHECK: posenc.map
// CHECK: posenc.bias
posenc.kernel @keeps_terms_around_map heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %b0 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %s0 = posenc.add %s, %b0
  %m = posenc.map %s0() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %b1 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    %n = arith.negf %d : f64
    posenc.yield %n : f64
  }
  %s1 = posenc.add %m, %b1
  %w = posenc.normalize softmax %s1
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// CHECK-LABEL: posenc.kernel @keeps_biases_that_are_not_toeplitz
// CHECK-COUNT-3: posenc.bias
posenc.kernel @keeps_biases_that_are_not_toeplitz heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %s = posenc.dot %q, %k scale(1.0)
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  %p = posenc.table law(#posenc.operand<"p">) : !posenc.table<head, query, key>
  %b0 = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %b1 = posenc.bias(%p) : !posenc.table<head, query, key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %b2 = posenc.bias(%j) : !posenc.coord {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %s2 = posenc.add %s1, %b2
  %w = posenc.normalize softmax %s2
  %o = posenc.weighted_sum %w, %v
  posenc.yield %o : !posenc.output
}

// A kernel of level 1 is not touched.
// CHECK-LABEL: posenc.kernel @level1 heads(2) head_dim(8) no_lse encode [#posenc.rope]
posenc.kernel @level1 heads(2) head_dim(8) no_lse encode [#posenc.rope]
