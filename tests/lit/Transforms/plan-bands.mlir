// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps by the distance of their pairs: one score of a select, one row of a table.
// RUN: posenc-opt %s --posenc-plan --posenc-verify-plan | FileCheck %s

// Rows of a tile are 48 at most: 512 and more, keys of both kinds, 511 and less.
// CHECK-DAG: #[[FAR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 - 511)>
// CHECK-DAG: #[[BAND:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2 - 512)>
// CHECK-DAG: #[[FAR_TOP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 - 511)>
// CHECK-DAG: #[[BAND_TOP:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 - 512)>
// CHECK-DAG: #[[CAUSAL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 + 1, d3)>
// CHECK-DAG: #[[EDGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2, d3)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG: #[[ENTRY:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2 - 1001)>
// CHECK-DAG: #[[CLIPPED_FAR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 - 3)>
// CHECK-DAG: #[[CLIPPED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2 + 3)>
// CHECK-DAG: #[[OFFSET_FAR:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3 - d2 - 499)>
// CHECK-DAG: #[[OFFSET_BAND:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d3 - d2 - 500)>

// A causal mask: few keys are near, and the mask is applied to all of them.
// CHECK-LABEL: posenc.plan @causal_x86_64_avx512
// CHECK: posenc.step @run0 until(#[[FAR]]) {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key):
// CHECK-NEXT: %[[S:.*]] = posenc.dot %[[Q]], %[[K]] scale(2.500000e-01)
// CHECK-NEXT: %[[B:.*]] = posenc.tile.to_base2 %[[S]]
// CHECK-NEXT: posenc.yield %[[B]]
// CHECK: posenc.step @band0 until(#[[BAND]]) {
// CHECK: posenc.dot
// CHECK: posenc.dot
// CHECK: posenc.select %{{.*}} else(
// CHECK: posenc.step @edge until(#[[EDGE]]) {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: !posenc.query, %[[K:.*]]: !posenc.key):
// CHECK-NEXT: %[[S:.*]] = posenc.dot %[[Q]], %[[K]] scale(5.000000e-01)
// CHECK-NEXT: %[[B:.*]] = posenc.tile.to_base2 %[[S]]
// CHECK-NEXT: %[[U:.*]] = posenc.select %[[B]] mask(#posenc.causal)
// CHECK-NEXT: posenc.yield %[[U]]
// CHECK: posenc.epilogue
posenc.kernel @causal heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %near = posenc.dot %q, %k scale(0.5)
  %far = posenc.dot %q, %k scale(0.25)
  %s = posenc.select %near else(%far) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  %u = posenc.select %s mask(#posenc.causal)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Without a mask the rest is one step; queries are at their own indices.
// CHECK-LABEL: posenc.plan @full_x86_64_avx512
// CHECK: posenc.step @run0 until(#[[FAR_TOP]]) {
// CHECK-NOT: posenc.select
// CHECK: posenc.step @band0 until(#[[BAND_TOP]]) {
// CHECK: posenc.select
// CHECK: posenc.step @edge until(#[[ALL]]) {
// CHECK-NOT: posenc.select
// CHECK: posenc.epilogue
posenc.kernel @full heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota<align = top_left>)
  %j = posenc.position key law(#posenc.iota<align = top_left>)
  %near = posenc.dot %q, %k scale(0.5)
  %far = posenc.dot %q, %k scale(0.25)
  %s = posenc.select %near else(%far) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// The step behind the band also computes the keys that the mask hides from some
// rows first: it has both scores. Many near keys have a step without masks.
// CHECK-LABEL: posenc.plan @entry_x86_64_avx512
// CHECK: posenc.step @entry until({{.*}}) maximum {
// CHECK: posenc.select %{{.*}} else(
// CHECK: posenc.step @run0 until
// CHECK-NOT: posenc.select
// CHECK: posenc.step @band0 until
// CHECK: posenc.select
// CHECK: posenc.step @interior until(#[[CAUSAL]]) whole_blocks {
// CHECK-NOT: posenc.select
// CHECK: posenc.step @edge until(#[[EDGE]]) {
// CHECK: posenc.select %{{.*}} else(
// CHECK: posenc.epilogue
posenc.kernel @entry heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %near = posenc.dot %q, %k scale(0.5)
  %far = posenc.dot %q, %k scale(0.25)
  %s = posenc.select %near else(%far) mask(#posenc.window<left = 2999, right = -1>) at(%i, %j)
  %u = posenc.select %s mask(#posenc.window<left = 4000, right = 0>)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// All that the mask leaves is near: there is no band.
// CHECK-LABEL: posenc.plan @all_near_x86_64_avx512
// CHECK: posenc.step @entry until(#[[ENTRY]]) maximum
// CHECK: posenc.step @edge until(#[[EDGE]]) {
// CHECK-NOT: posenc.dot
// CHECK: posenc.dot %{{.*}} scale(5.000000e-01)
// CHECK-NOT: posenc.dot
// CHECK: posenc.epilogue
posenc.kernel @all_near heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %near = posenc.dot %q, %k scale(0.5)
  %far = posenc.dot %q, %k scale(0.25)
  %s = posenc.select %near else(%far) mask(#posenc.window<left = 1000, right = -1>) at(%i, %j)
  %u = posenc.select %s mask(#posenc.window<left = 1000, right = 0>)
  %p = posenc.normalize softmax %u
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}

// Rows of saturated relations are constants, of both sides and of the values.
// CHECK-LABEL: posenc.plan @clipped_x86_64_avx512
// CHECK: posenc.step @run0 until(#[[CLIPPED_FAR]]) {
// CHECK: %[[R:.*]] = posenc.relation_map() rows(9) {
// CHECK-NEXT: %[[C:.*]] = arith.constant 8.000000e+00 : f64
// CHECK: posenc.table_dot %{{.*}} at(%[[R]])
// CHECK: posenc.table_dot %{{.*}} at(%[[R]])
// CHECK-NOT: posenc.position
// CHECK: posenc.yield %{{.*}}, %{{.*}}, %[[R]]
// CHECK: posenc.step @band0 until(#[[CLIPPED]]) {
// CHECK: posenc.relation %
// CHECK: posenc.step @edge until(#[[ALL]]) {
// CHECK: %[[R:.*]] = posenc.relation_map() rows(9) {
// CHECK-NEXT: %[[C:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: posenc.epilogue
posenc.kernel @clipped heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota)
  %j = posenc.position key law(#posenc.iota)
  %r = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 4>)
  %t = posenc.table law(#posenc.operand<"t", rows = 9, channels = 8>) : !posenc.table<row, channel>
  %a = posenc.table_dot %q, %t at(%r) scale(0.5) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %b = posenc.table_dot %k, %t at(%r) scale(0.5) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
  %s = posenc.add %a, %b
  %p = posenc.normalize softmax %s
  %x = posenc.weighted_sum %p, %v
  %y = posenc.value_table %p, %t at(%r) : !posenc.table<row, channel>
  %o = posenc.add %x, %y : !posenc.output
  posenc.yield %o : !posenc.output
}

// A difference of offsets that is known moves the band.
// CHECK-LABEL: posenc.plan @offsets_x86_64_avx512
// CHECK: posenc.step @run0 until(#[[OFFSET_FAR]]) {
// CHECK: posenc.step @band0 until(#[[OFFSET_BAND]]) {
posenc.kernel @offsets heads(2) head_dim(8) {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
  %i = posenc.position query law(#posenc.iota<offset = 5>)
  %j = posenc.position key law(#posenc.iota<offset = -7>)
  %near = posenc.dot %q, %k scale(0.5)
  %far = posenc.dot %q, %k scale(0.25)
  %s = posenc.select %near else(%far) mask(#posenc.window<left = 511, right = -1>) at(%i, %j)
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
}
