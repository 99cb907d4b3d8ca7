// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the planner says about steps by distance, and why it makes none.
// RUN: posenc-opt %s --posenc-plan=isa=x86-64-avx512 --remarks-filter=posenc-plan -verify-diagnostics -o %t
// RUN: grep -E "posenc.(plan|step)" %t | FileCheck %s

// CHECK: posenc.plan @one_score_x86_64_avx512
// CHECK-NEXT: posenc.step @run0 until
// CHECK-NEXT: posenc.step @band0 until
// CHECK-NEXT: posenc.step @edge until
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@one_score_x86_64_avx512 has tiles of 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@one_score_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{@one_score_x86_64_avx512_packed has tiles}}
posenc.kernel @one_score heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %s = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{[Missed] Scale | Category:posenc-plan | Remark="scales are applied to every score: products with these queries have different ones"}}
  %t = posenc.dot %q, %k scale(0.25)
  // expected-remark@below {{[Passed] Bands | Category:posenc-plan | Remark="@run0 has the keys at distances from 512 on: one score is evaluated"}}
  // expected-remark@below {{[Passed] Bands | Category:posenc-plan | Remark="@edge has the keys at distances up to 511: one score is evaluated"}}
  %w = posenc.select %s else(%t) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  // expected-remark@below {{[Passed] Mask | Category:posenc-plan | Remark="mask is applied in @edge alone: the steps before it end where the mask hides keys"}}
  %u = posenc.select %w mask(#posenc.causal)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// CHECK: posenc.plan @one_row_x86_64_avx512
// CHECK-NEXT: posenc.step @run0 until
// CHECK-NEXT: posenc.step @band0 until
// CHECK-NEXT: posenc.step @edge until
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@one_row_x86_64_avx512 has tiles of 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@one_row_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{[Missed] PackedTiles | Category:posenc-plan | Remark="few queries have the tiles of many: rows of a table are read for every pair, which takes longer than to read the keys"}}
posenc.kernel @one_row heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  // expected-remark@below {{[Passed] Bands | Category:posenc-plan | Remark="@run0 has the keys at distances from 4 on: the row is 8"}}
  // expected-remark@below {{[Passed] Bands | Category:posenc-plan | Remark="@edge has the keys at distances up to -4: the row is 0"}}
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 4>)
  %t = posenc.table law(#posenc.operand<"t", rows = 9, channels = 8>) : !posenc.table<row, channel>
  // expected-remark@below {{[Missed] TableDot | Category:posenc-plan | Remark="a row of the table is read for every score"}}
  // expected-remark@below {{[Passed] Scale | Category:posenc-plan | Remark="scale and the change to base 2 are applied to the queries, once per tile"}}
  %s = posenc.table_dot %q, %t at(%r) scale(0.5) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// CHECK: posenc.plan @tensor_x86_64_avx512
// CHECK-NEXT: posenc.step @interior until
// CHECK-NEXT: posenc.step @edge until
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@tensor_x86_64_avx512 has tiles of 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@tensor_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{@tensor_x86_64_avx512_packed has tiles}}
posenc.kernel @tensor heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.position_tensor)
  %j = posenc.position key law(#posenc.position_tensor)
  %s = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{[Missed] Scale | Category:posenc-plan | Remark="scales are applied to every score: products with these queries have different ones"}}
  %t = posenc.dot %q, %k scale(0.25)
  // expected-remark@below {{[Missed] Bands | Category:posenc-plan | Remark="both scores are evaluated for every pair: its positions are not counted from storage indices"}}
  %w = posenc.select %s else(%t) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  %p = posenc.normalize softmax %w
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// CHECK: posenc.plan @other_x86_64_avx512
// CHECK-NEXT: posenc.step @interior until
// CHECK-NEXT: posenc.step @edge until
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@other_x86_64_avx512 has tiles of 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@other_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{@other_x86_64_avx512_packed has tiles}}
posenc.kernel @other heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %l = posenc.position query law(#posenc.iota<align = top_left>)
  %s = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{[Missed] Scale | Category:posenc-plan | Remark="scales are applied to every score: products with these queries have different ones"}}
  %t = posenc.dot %q, %k scale(0.25)
  // expected-remark@below {{[Missed] Bands | Category:posenc-plan | Remark="both scores are evaluated for every pair: it is no function of the distance between storage indices that is the same over many of them"}}
  %w = posenc.select %s else(%t) where(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %n = arith.constant 100.0 : f64
    %a = arith.addf %x, %y : f64
    %c = arith.cmpf olt, %a, %n : f64
    posenc.yield %c : i1
  }
  // expected-remark@below {{[Missed] Bands | Category:posenc-plan | Remark="both scores are evaluated for every pair: it is no function of the distance between storage indices that is the same over many of them"}}
  %z = posenc.select %w else(%t) mask(#posenc.window<left = 99, right = -1>) at(%l, %j)
  %p = posenc.normalize softmax %z
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// CHECK: posenc.plan @nothing_saved_x86_64_avx512
// CHECK-NEXT: posenc.step @interior until
// CHECK-NEXT: posenc.step @edge until
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@nothing_saved_x86_64_avx512 has tiles of 48 or 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@nothing_saved_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{@nothing_saved_x86_64_avx512_packed has tiles}}
posenc.kernel @nothing_saved heads(2) head_dim(128) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
  // expected-remark@below {{[Passed] Scale | Category:posenc-plan | Remark="scale and the change to base 2 are applied to the queries, once per tile"}}
  %s = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{[Passed] Bias | Category:posenc-plan | Remark="bias is evaluated once per head and distance and read from the prepared table @strip0"}}
  %b = posenc.bias(%r) : !posenc.relation {
  ^bb0(%d: f64):
    posenc.yield %d : f64
  }
  %t = posenc.add %s, %b
  // expected-remark@below {{[Missed] Bands | Category:posenc-plan | Remark="both scores are evaluated for every pair: nothing is saved where it does not vary"}}
  %w = posenc.select %s else(%t) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  %p = posenc.normalize softmax %w
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// CHECK: posenc.plan @descending_x86_64_avx512
// CHECK-NEXT: posenc.step @edge until
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@descending_x86_64_avx512 has tiles of 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@descending_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{[Missed] PackedTiles | Category:posenc-plan | Remark="few queries have the tiles of many: a scan sees all keys of a row at once"}}
posenc.kernel @descending heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %s = posenc.dot %q, %k scale(0.5)
  // expected-remark@below {{[Missed] Scale | Category:posenc-plan | Remark="scales are applied to every score: products with these queries have different ones"}}
  %t = posenc.dot %q, %k scale(0.25)
  // expected-remark@below {{[Missed] Bands | Category:posenc-plan | Remark="both scores are evaluated for every pair: all keys of a row are computed in one step"}}
  %w = posenc.select %s else(%t) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  // expected-remark@below {{[Missed] Rowscan | Category:posenc-plan | Remark="all scores of a row are summed before they are used: the tile walks its keys twice"}}
  %n = posenc.rowscan %w exclusive {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  %z = posenc.add %w, %n
  %p = posenc.normalize softmax %z
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
