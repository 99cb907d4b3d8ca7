// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the planner says about its decisions: once for each kernel, whatever the
// number of instruction sets, but for the tiles.
// RUN: posenc-opt %s --posenc-plan=isa=x86-64-avx512,x86-64 --remarks-filter=posenc-plan -verify-diagnostics -o %t

// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@rotation_and_mask_x86_64_avx512 has tiles of 32 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@rotation_and_mask_x86_64_avx512 is predicted to reach}}
// expected-remark@below {{[Analysis] Tiles | Category:posenc-plan | Remark="@rotation_and_mask_x86_64 has tiles of 8 queries and blocks of 256 keys"}}
// expected-remark@below {{[Analysis] Cost | Category:posenc-plan | Remark="@rotation_and_mask_x86_64 is predicted to reach}}
// expected-remark@below {{@rotation_and_mask_x86_64_avx512_packed has tiles}}
// expected-remark@below {{@rotation_and_mask_x86_64_packed has tiles}}
posenc.kernel @rotation_and_mask heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = 8>)
  // expected-remark@below {{[Passed] QueryRotation | Category:posenc-plan | Remark="queries are rotated once per tile, by the prepared table @angles0"}}
  %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
  // expected-remark@below {{[Passed] KeyRotation | Category:posenc-plan | Remark="keys are rotated once per call and not once per query tile, by the prepared table @angles0"}}
  %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
  // expected-remark@below {{[Passed] Scale | Category:posenc-plan | Remark="scale and the change to base 2 are applied to the queries, once per tile"}}
  %s = posenc.dot %q1, %k1 scale(0.25)
  // expected-remark@below {{[Passed] Mask | Category:posenc-plan | Remark="mask is applied in @edge alone: the steps before it end where the mask hides keys"}}
  %u = posenc.select %s mask(#posenc.causal)
  // expected-remark@below {{[Passed] Mask | Category:posenc-plan | Remark="mask hides nothing and is dropped"}}
  %w = posenc.select %u mask(#posenc.full)
  %p = posenc.normalize softmax %w
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// expected-remark@below {{@map_x86_64_avx512 has tiles}}
// expected-remark@below {{@map_x86_64_avx512 is predicted}}
// expected-remark@below {{@map_x86_64 has tiles}}
// expected-remark@below {{@map_x86_64 is predicted}}
// expected-remark@below {{@map_x86_64_avx512_packed has tiles}}
// expected-remark@below {{@map_x86_64_packed has tiles}}
posenc.kernel @map heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  // expected-remark@below {{[Passed] Scale | Category:posenc-plan | Remark="scale is applied to the queries, once per tile; the change to base 2 is not: a posenc.map needs natural scores"}}
  %s = posenc.dot %q, %k scale(0.25)
  // expected-remark@below {{[Missed] Map | Category:posenc-plan | Remark="map is applied to every score, and the change to base 2 to every result of it"}}
  %m = posenc.map %s() {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    posenc.yield %y : f64
  }
  %p = posenc.normalize softmax %m
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// expected-remark@below {{@biases_x86_64_avx512 has tiles}}
// expected-remark@below {{@biases_x86_64_avx512 is predicted}}
// expected-remark@below {{@biases_x86_64 has tiles}}
// expected-remark@below {{@biases_x86_64 is predicted}}
// expected-remark@below {{@biases_x86_64_avx512_packed has tiles}}
// expected-remark@below {{@biases_x86_64_packed has tiles}}
posenc.kernel @biases heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %j3 = posenc.position key law(#posenc.iota<offset = 3>)
  %pi = posenc.position query law(#posenc.position_tensor)
  %pj = posenc.position key law(#posenc.position_tensor)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 1>)
  %r3 = posenc.relation %i, %j3 law(#posenc.difference<query_minus_key>)
  %rp = posenc.relation %pi, %pj law(#posenc.difference<query_minus_key>)
  %slopes = posenc.table law(#posenc.constants<[0.5, 0.25]>) : !posenc.table<head>
  %rows = posenc.table law(#posenc.operand<"rows", rows = 3>) : !posenc.table<row, head>
  %pairs = posenc.table law(#posenc.operand<"pairs">) : !posenc.table<head, query, key>

  // expected-remark@below {{[Passed] Bias | Category:posenc-plan | Remark="bias is evaluated once per head and distance and read from the prepared table @strip0"}}
  %b0 = posenc.bias(%r, %rows) : !posenc.relation, !posenc.table<row, head> {
  ^bb0(%d: f64, %x: f64):
    posenc.yield %x : f64
  }
  // expected-remark@below {{[Missed] Bias | Category:posenc-plan | Remark="bias is evaluated for every score: it reads both constants and an operand with a head axis, and the heads of a call may be a part of the kernel's"}}
  %b1 = posenc.bias(%slopes, %r, %rows) : !posenc.table<head>, !posenc.relation, !posenc.table<row, head> {
  ^bb0(%m: f64, %d: f64, %x: f64):
    %y = arith.mulf %m, %x : f64
    posenc.yield %y : f64
  }
  // expected-remark@below {{[Missed] Bias | Category:posenc-plan | Remark="bias is evaluated for every score: it is the same for every pair of a head"}}
  %b2 = posenc.bias(%slopes) : !posenc.table<head> {
  ^bb0(%m: f64):
    posenc.yield %m : f64
  }
  // expected-remark@below {{[Missed] Bias | Category:posenc-plan | Remark="bias is evaluated for every score: it reads a table with a query or key axis"}}
  %b3 = posenc.bias(%pairs) : !posenc.table<head, query, key> {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  // expected-remark@below {{[Missed] Bias | Category:posenc-plan | Remark="bias is evaluated for every score: it depends on a position and not on the distance alone"}}
  %b4 = posenc.bias(%j) : !posenc.coord {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  // expected-remark@below {{[Missed] Bias | Category:posenc-plan | Remark="bias is evaluated for every score: its positions follow different laws"}}
  %b5 = posenc.bias(%r3) : !posenc.relation {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  // expected-remark@below {{[Missed] Bias | Category:posenc-plan | Remark="bias is evaluated for every score: its positions are not those of storage"}}
  %b6 = posenc.bias(%rp) : !posenc.relation {
  ^bb0(%x: f64):
    posenc.yield %x : f64
  }
  // expected-remark@below {{Scale}}
  %s = posenc.dot %q, %k scale(0.25)
  %s0 = posenc.add %s, %b0
  %s1 = posenc.add %s0, %b1
  %s2 = posenc.add %s1, %b2
  %s3 = posenc.add %s2, %b3
  %s4 = posenc.add %s3, %b4
  %s5 = posenc.add %s4, %b5
  %s6 = posenc.add %s5, %b6
  %p = posenc.normalize softmax %s6
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
