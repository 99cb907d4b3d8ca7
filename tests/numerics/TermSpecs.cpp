// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of level 2, one for each kind of term.
#include "TermSpecs.h"

#include "llvm/ADT/Twine.h"

using namespace posenc::numerics;

// A softmax of %s under a causal mask, and its output.
#define CAUSAL_END                                                             \
  "%u = posenc.select %s mask(#posenc.causal)\n"                               \
  "%p = posenc.normalize softmax %u\n"                                         \
  "%o = posenc.weighted_sum %p, %v\n"
// The same without a mask.
#define FULL_END                                                               \
  "%p = posenc.normalize softmax %s\n"                                         \
  "%o = posenc.weighted_sum %p, %v\n"

#define FREQS                                                                  \
  "%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)\n"

static const TermSpec specs[] = {
    //===------------------------------------------------------------------===//
    // Vectors
    //===------------------------------------------------------------------===//
    {"several_queries_and_keys", R"(
%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
%q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(2) : !posenc.query
%k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(2) : !posenc.key
%a = posenc.dot %q1, %k1 scale(0.3)
%b = posenc.dot %q, %k scale(0.2)
%c = posenc.dot %q1, %k scale(0.3)
%ab = posenc.add %a, %b
%s = posenc.add %ab, %c
)" CAUSAL_END},
    {"channels", R"(
%a = posenc.dot %q, %k scale(0.5) channels([0, 5, 7])
%b = posenc.dot %q, %k scale(0.5) channels([7, 1, 3])
%s = posenc.add %a, %b
)" FULL_END},
    {"two_scales", R"(
%a = posenc.dot %q, %k scale(0.5)
%b = posenc.dot %q, %k scale(-0.25) channels([0, 0, 4])
%s = posenc.add %a, %b
)" CAUSAL_END},
    {"vadd", R"(
%w = posenc.table law(#posenc.operand<"u", rows = 0, channels = 12>) : !posenc.table<head, channel>
%n = posenc.table law(#posenc.operand<"one.learned", rows = 40, channels = 12>) : !posenc.table<row, channel>
%q1 = posenc.vadd %q, %w : !posenc.query, !posenc.table<head, channel>
%k1 = posenc.vadd %k, %n at(%j) : !posenc.key, !posenc.table<row, channel>
%q2 = posenc.vadd %q, %n at(%i) : !posenc.query, !posenc.table<row, channel>
%a = posenc.dot %q1, %k scale(0.25)
%b = posenc.dot %q2, %k1 scale(0.25)
%s = posenc.add %a, %b
)" CAUSAL_END},
    {"vadd_function", R"(
%n = posenc.table_map channels(12) {
^bb0(%row: f64, %channel: f64):
  %one = arith.constant 1.0 : f64
  %c1 = arith.addf %channel, %one : f64
  %x = arith.divf %row, %c1 : f64
  %y = math.sin %x : f64
  posenc.yield %y : f64
}
%q1 = posenc.vadd %q, %n at(%i) : !posenc.query, !posenc.table<row, channel>
%k1 = posenc.vadd %k, %n at(%j) : !posenc.key, !posenc.table<row, channel>
%s = posenc.dot %q1, %k1 scale(0.25)
)" FULL_END},
    {"norms_and_gains", R"(
%g = posenc.table law(#posenc.operand<"gain", rows = 0, channels = 12>) : !posenc.table<channel>
%h = posenc.table law(#posenc.operand<"head_gain", rows = 0, channels = 12>) : !posenc.table<head, channel>
%q1 = posenc.vector_norm %q rms over(head) epsilon(1.0e-6) added : !posenc.query
%q2 = posenc.channel_scale %q1, %h offset(1.0) : !posenc.query, !posenc.table<head, channel>
%k1 = posenc.vector_norm %k layer over(head) epsilon(1.0e-5) added : !posenc.key
%k2 = posenc.channel_scale %k1, %g offset(0.0) : !posenc.key, !posenc.table<channel>
%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 12>)
%q3 = posenc.rotate %q2 by(%i) freqs(%f) pairing(interleaved) first_dim(0) : !posenc.query
%k3 = posenc.rotate %k2 by(%j) freqs(%f) pairing(interleaved) first_dim(0) : !posenc.key
%s = posenc.dot %q3, %k3 scale(0.3)
)" CAUSAL_END},
    {"l2_norm_floor", R"(
%q1 = posenc.vector_norm %q l2 over(head) epsilon(1.0e-12) floor : !posenc.query
%k1 = posenc.vector_norm %k l2 over(head) epsilon(1.0e-12) floor : !posenc.key
%s = posenc.dot %q1, %k1 scale(9.0)
)" FULL_END},
    {"norms_over_all_heads", R"(
%q1 = posenc.vector_norm %q rms over(all_heads) epsilon(1.0e-6) added : !posenc.query
%k1 = posenc.vector_norm %k layer over(all_heads) epsilon(1.0e-6) added : !posenc.key
%s = posenc.dot %q1, %k1 scale(0.3)
)" CAUSAL_END,
     4, 2},
    {"row_scales", R"(
%c = posenc.table law(#posenc.constants<[0.5, 2.0]>) : !posenc.table<head>
%t = posenc.table law(#posenc.operand<"temperature">) : !posenc.table<query>
%q1 = posenc.row_scale %q(%i, %c, %t) : !posenc.query, !posenc.coord, !posenc.table<head>, !posenc.table<query> {
^bb0(%p: f64, %x: f64, %y: f64):
  %two = arith.constant 2.0 : f64
  %a = math.absf %p : f64
  %n = arith.addf %a, %two : f64
  %l = math.log %n : f64
  %m = arith.mulf %l, %x : f64
  %z = arith.addf %m, %y : f64
  posenc.yield %z : f64
}
%kt = posenc.table law(#posenc.operand<"key_scale">) : !posenc.table<batch, key>
%k1 = posenc.row_scale %k(%j, %kt) : !posenc.key, !posenc.coord, !posenc.table<batch, key> {
^bb0(%p: f64, %x: f64):
  %c8 = arith.constant 0.125 : f64
  %y = arith.mulf %p, %c8 : f64
  %z = math.cos %y : f64
  %w = arith.addf %z, %x : f64
  posenc.yield %w : f64
}
%s = posenc.dot %q1, %k1 scale(0.1)
)" CAUSAL_END},
    {"rotations_in_general", R"(
%px = posenc.position query law(#posenc.position_tensor<axes = 2, axis = 0>)
%py = posenc.position query law(#posenc.position_tensor<axes = 2, axis = 1>)
%jx = posenc.position key law(#posenc.position_tensor<axes = 2, axis = 0>)
%jy = posenc.position key law(#posenc.position_tensor<axes = 2, axis = 1>)
%f = posenc.freqs law(#posenc.frequencies<[1.0, 0.0, 0.1, 0.0]>)
%g = posenc.freqs law(#posenc.frequencies<[0.0, 0.5, 0.0, 0.05]>)
%q1 = posenc.rotate %q by(%px, %py) freqs(%f, %g) pairing(half) first_dim(0) : !posenc.query modulus {
^bb0(%pair: f64, %p: f64):
  %m = arith.constant 1.125 : f64
  posenc.yield %m : f64
}
%k1 = posenc.rotate %k by(%jx, %jy) freqs(%f, %g) pairing(half) first_dim(0) : !posenc.key modulus {
^bb0(%pair: f64, %p: f64):
  %m = arith.constant 1.125 : f64
  posenc.yield %m : f64
}
%s = posenc.dot %q1, %k1 scale(0.3)
)" FULL_END,
     2, 1, true},
    {"frequencies_per_head", R"(
%w = posenc.table law(#posenc.operand<"freqs", rows = 4>) : !posenc.table<row, head>
%f = posenc.freqs_map(%w) : !posenc.table<row, head> pairs(4) {
^bb0(%pair: f64, %length: f64, %x: f64):
  %c = arith.constant 0.01 : f64
  %y = arith.mulf %x, %c : f64
  posenc.yield %y : f64
}
%q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%s = posenc.dot %q1, %k1 scale(0.3)
)" CAUSAL_END,
     2, 2},
    {"remapped_rotation", R"(
%i8 = posenc.remap %i {
^bb0(%p: f64):
  %e = arith.constant 0.125 : f64
  %x = arith.mulf %p, %e : f64
  posenc.yield %x : f64
}
%j8 = posenc.remap %j {
^bb0(%p: f64):
  %e = arith.constant 0.125 : f64
  %x = arith.mulf %p, %e : f64
  posenc.yield %x : f64
}
)" FREQS R"(
%q1 = posenc.rotate %q by(%i8) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k by(%j8) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%s = posenc.dot %q1, %k1 scale(0.3)
)" CAUSAL_END},

    //===------------------------------------------------------------------===//
    // Tables of vectors
    //===------------------------------------------------------------------===//
    {"relative_keys_and_values", R"(
%c = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 4>)
%ak = posenc.table law(#posenc.operand<"shaw.keys", rows = 9, channels = 12>) : !posenc.table<row, channel>
%av = posenc.table law(#posenc.operand<"shaw.values", rows = 9, channels = 10>) : !posenc.table<row, head, channel>
%a = posenc.dot %q, %k scale(0.3)
%b = posenc.table_dot %q, %ak at(%c) scale(0.3) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
%s = posenc.add %a, %b
%u = posenc.select %s mask(#posenc.causal)
%p = posenc.normalize softmax %u
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.value_table %p, %av at(%c) : !posenc.table<row, head, channel>
%o = posenc.add %o1, %o2 : !posenc.output
)"},
    {"disentangled", R"(
%c = posenc.relation %i, %j law(#posenc.clipped_distance<query_minus_key, max = 7>)
%d = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, max = 7>)
%kr = posenc.table law(#posenc.operand<"kr", rows = 15, channels = 12>) : !posenc.table<row, head, channel>
%qr = posenc.table law(#posenc.operand<"qr", rows = 15, channels = 12>) : !posenc.table<row, head, channel>
%a = posenc.dot %q, %k scale(0.2)
%b = posenc.table_dot %q, %kr at(%c) scale(0.2) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
%e = posenc.table_dot %k, %qr at(%d) scale(0.2) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
%ab = posenc.add %a, %b
%s = posenc.add %ab, %e
)" FULL_END},
    {"projected_sinusoids", R"(
%t = posenc.table_map channels(6) {
^bb0(%row: f64, %channel: f64):
  %one = arith.constant 1.0 : f64
  %c1 = arith.addf %channel, %one : f64
  %x = arith.divf %row, %c1 : f64
  %y = math.sin %x : f64
  posenc.yield %y : f64
}
%w = posenc.table law(#posenc.operand<"w", rows = 6, channels = 12>) : !posenc.table<row, head, channel>
%pt = posenc.project %t, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
%uu = posenc.table law(#posenc.operand<"u", rows = 0, channels = 12>) : !posenc.table<head, channel>
%vv = posenc.table law(#posenc.operand<"vv", rows = 0, channels = 12>) : !posenc.table<head, channel>
%qu = posenc.vadd %q, %uu : !posenc.query, !posenc.table<head, channel>
%qv = posenc.vadd %q, %vv : !posenc.query, !posenc.table<head, channel>
%a = posenc.dot %qu, %k scale(0.2)
%b = posenc.table_dot %qv, %pt at(%r) scale(0.2) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
%s = posenc.add %a, %b
)" CAUSAL_END},
    {"sinusoids_of_distance", R"(
%t = posenc.table_map channels(12) {
^bb0(%row: f64, %channel: f64):
  %one = arith.constant 1.0 : f64
  %c1 = arith.addf %channel, %one : f64
  %x = arith.divf %row, %c1 : f64
  %y = math.cos %x : f64
  posenc.yield %y : f64
}
%a = posenc.dot %q, %k scale(0.2)
%b = posenc.table_dot %q, %t at(%r) scale(0.2) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
%s = posenc.add %a, %b
)" FULL_END},
    {"sinusoids_of_given_positions", R"(
%pi = posenc.position query law(#posenc.position_tensor<axes = 1>)
%pj = posenc.position key law(#posenc.position_tensor<axes = 1>)
%pr = posenc.relation %pi, %pj law(#posenc.difference<query_minus_key>)
%t = posenc.table_map channels(12) {
^bb0(%row: f64, %channel: f64):
  %one = arith.constant 1.0 : f64
  %c1 = arith.addf %channel, %one : f64
  %x = arith.divf %row, %c1 : f64
  %y = math.cos %x : f64
  posenc.yield %y : f64
}
%a = posenc.dot %q, %k scale(0.2)
%b = posenc.table_dot %q, %t at(%pr) scale(0.2) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
%s = posenc.add %a, %b
)" CAUSAL_END,
     2, 1, true},
    {"contextual_positions", R"(
%a = posenc.dot %q, %k scale(0.3)
%m = posenc.select %a mask(#posenc.causal)
%n = posenc.rowscan %m inclusive {
^bb0(%x: f64):
  %y = arith.negf %x : f64
  %e = math.exp %y : f64
  %one = arith.constant 1.0 : f64
  %d = arith.addf %one, %e : f64
  %g = arith.divf %one, %d : f64
  posenc.yield %g : f64
}
%z = posenc.map %n() {
^bb0(%x: f64):
  %top = arith.constant 15.0 : f64
  %y = arith.minimumf %x, %top : f64
  posenc.yield %y : f64
}
%t = posenc.table law(#posenc.operand<"cope", rows = 16, channels = 12>) : !posenc.table<row, channel>
%b = posenc.table_dot %q, %t at(%z) scale(0.3) : !posenc.query, !posenc.table<row, channel>, !posenc.score
%s = posenc.add %a, %b
)" CAUSAL_END},

    //===------------------------------------------------------------------===//
    // Biases, maps and predicates
    //===------------------------------------------------------------------===//
    {"sum_over_frequencies", R"(
%n = posenc.sum_index extent(5)
%w = posenc.table law(#posenc.operand<"w", rows = 5>) : !posenc.table<row, head>
%b = posenc.bias(%r, %n, %w) : !posenc.relation, !posenc.relation, !posenc.table<row, head> {
^bb0(%d: f64, %m: f64, %x: f64):
  %c = arith.constant 0.1 : f64
  %y = arith.mulf %d, %c : f64
  %z = arith.mulf %y, %m : f64
  %e = math.cos %z : f64
  %f = arith.mulf %e, %x : f64
  posenc.yield %f : f64
}
%a = posenc.dot %q, %k scale(0.3)
%s = posenc.add %a, %b
)" CAUSAL_END},
    {"sum_over_channels", R"(
%n = posenc.sum_index extent(4)
%pq = posenc.table law(#posenc.operand<"pq", rows = 0, channels = 4>) : !posenc.table<head, query, channel>
%pk = posenc.table law(#posenc.operand<"pk", rows = 0, channels = 4>) : !posenc.table<key, channel>
%b = posenc.bias(%n, %pq, %pk) : !posenc.relation, !posenc.table<head, query, channel>, !posenc.table<key, channel> {
^bb0(%m: f64, %x: f64, %y: f64):
  %z = arith.mulf %x, %y : f64
  posenc.yield %z : f64
}
%a = posenc.dot %q, %k scale(0.3)
%s = posenc.add %a, %b
)" FULL_END},
    {"network_of_distance", R"(
%n = posenc.sum_index extent(6)
%w = posenc.table law(#posenc.operand<"w", rows = 6>) : !posenc.table<row>
%x2 = posenc.table law(#posenc.operand<"x", rows = 6>) : !posenc.table<row, head>
%b = posenc.bias(%r, %i, %n, %w, %x2) : !posenc.relation, !posenc.coord, !posenc.relation, !posenc.table<row>, !posenc.table<row, head> {
^bb0(%d: f64, %p: f64, %m: f64, %u: f64, %y: f64):
  %a1 = math.absf %p : f64
  %one = arith.constant 1.0 : f64
  %a2 = arith.addf %a1, %one : f64
  %e = arith.divf %d, %a2 : f64
  %t = arith.mulf %e, %u : f64
  %zero = arith.constant 0.0 : f64
  %relu = arith.maximumf %t, %zero : f64
  %z = arith.mulf %relu, %y : f64
  posenc.yield %z : f64
}
%a = posenc.dot %q, %k scale(0.3)
%s = posenc.add %a, %b
)" CAUSAL_END},
    {"batch_and_channel_tables", R"(
%bt = posenc.table law(#posenc.operand<"per_batch">) : !posenc.table<batch, key>
%bh = posenc.table law(#posenc.operand<"per_batch_head">) : !posenc.table<batch, head, query, key>
%b = posenc.bias(%bt, %bh) : !posenc.table<batch, key>, !posenc.table<batch, head, query, key> {
^bb0(%x: f64, %y: f64):
  %z = arith.addf %x, %y : f64
  posenc.yield %z : f64
}
%a = posenc.dot %q, %k scale(0.3)
%s = posenc.add %a, %b
)" FULL_END},
    {"forgetting_gate", R"(
%g = posenc.table law(#posenc.operand<"gate">) : !posenc.table<batch, head, key>
%c = posenc.prefix_sum %g : !posenc.table<batch, head, key> {
^bb0(%x: f64):
  %y = math.absf %x : f64
  %z = arith.negf %y : f64
  posenc.yield %z : f64
}
%ci = posenc.at_query %c bottom_right : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>
%b = posenc.bias(%ci, %c) : !posenc.table<batch, head, query>, !posenc.table<batch, head, key> {
^bb0(%x: f64, %y: f64):
  %z = arith.subf %x, %y : f64
  posenc.yield %z : f64
}
%a = posenc.dot %q, %k scale(0.3)
%s = posenc.add %a, %b
)" CAUSAL_END,
     2, 1, true},
    {"map_of_two_scores", R"(
%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
%q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(2) : !posenc.query
%k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(2) : !posenc.key
%a0 = posenc.dot %q1, %k1 scale(0.3)
%a = posenc.select %a0 mask(#posenc.causal)
%b = posenc.dot %q, %k scale(0.2)
%c = posenc.map %a, %b() {
^bb0(%x: f64, %y: f64):
  %z = arith.mulf %x, %y : f64
  %t = math.tanh %z : f64
  %w = arith.addf %t, %x : f64
  posenc.yield %w : f64
}
%s = posenc.map %c(%r) : !posenc.relation {
^bb0(%x: f64, %d: f64):
  %e = math.exp %x : f64
  %l = math.log1p %e : f64
  posenc.yield %l : f64
}
)" CAUSAL_END},
    {"segments_and_window", R"(
%pi = posenc.position query law(#posenc.position_tensor<name = "segments">)
%pj = posenc.position key law(#posenc.position_tensor<name = "segments">)
%a = posenc.dot %q, %k scale(0.3)
%w = posenc.select %a where(%pi, %pj) : !posenc.coord, !posenc.coord {
^bb0(%x: f64, %y: f64):
  %c = arith.constant 8.0 : f64
  %xf = arith.divf %x, %c : f64
  %yf = arith.divf %y, %c : f64
  %xg = math.floor %xf : f64
  %yg = math.floor %yf : f64
  %same = arith.cmpf oeq, %xg, %yg : f64
  posenc.yield %same : i1
}
%s = posenc.select %w mask(#posenc.window<left = 9>)
)" CAUSAL_END,
     2, 1, true},
    {"masks_of_both_alignments", R"(
%it = posenc.position query law(#posenc.iota<align = top_left>)
%rt = posenc.relation %it, %j law(#posenc.difference<query_minus_key>)
%b = posenc.bias(%rt) : !posenc.relation {
^bb0(%d: f64):
  %c = arith.constant 0.05 : f64
  %x = arith.mulf %d, %c : f64
  posenc.yield %x : f64
}
%a = posenc.dot %q, %k scale(0.3)
%ab = posenc.add %a, %b
%s = posenc.select %ab mask(#posenc.window<left = 20, right = 5, align = top_left>)
)" CAUSAL_END},
    {"chunks", R"(
%a = posenc.dot %q, %k scale(0.3)
%u = posenc.select %a mask(#posenc.chunk<size = 7>)
%p = posenc.normalize softmax %u
%o = posenc.weighted_sum %p, %v
)"},
    {"near_and_far", R"(
%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 12>)
%i1 = posenc.remap %i {
^bb0(%x: f64):
  %c = arith.constant 13.0 : f64
  posenc.yield %c : f64
}
%q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%q2 = posenc.rotate %q by(%i1) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%near = posenc.dot %q1, %k1 scale(0.3)
%far = posenc.dot %q2, %k scale(0.3)
%s = posenc.select %near else(%far) mask(#posenc.window<left = 12>) at(%i, %j)
)" CAUSAL_END},
    {"else_with_masks", R"(
%a = posenc.dot %q, %k scale(0.3)
%m = posenc.select %a mask(#posenc.window<left = 30, right = 30>)
%b = posenc.dot %q, %k scale(0.3) channels([0, 4, 8])
%s = posenc.select %m else(%b) mask(#posenc.causal)
)" FULL_END},
    {"relation_of_two_axes", R"(
%w = posenc.relation_map(%i, %j) : !posenc.coord, !posenc.coord rows(25) {
^bb0(%x: f64, %y: f64):
  %five = arith.constant 5.0 : f64
  %xd = arith.divf %x, %five : f64
  %yd = arith.divf %y, %five : f64
  %xr = math.floor %xd : f64
  %yr = math.floor %yd : f64
  %d = arith.subf %xr, %yr : f64
  %twelve = arith.constant 12.0 : f64
  %z = arith.addf %d, %twelve : f64
  posenc.yield %z : f64
}
%t = posenc.table law(#posenc.operand<"t", rows = 25>) : !posenc.table<row, head>
%b = posenc.bias(%w, %t) : !posenc.relation, !posenc.table<row, head> {
^bb0(%d: f64, %x: f64):
  posenc.yield %x : f64
}
%ak = posenc.table law(#posenc.operand<"keys", rows = 25, channels = 12>) : !posenc.table<row, channel>
%e = posenc.table_dot %q, %ak at(%w) scale(0.2) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
%a = posenc.dot %q, %k scale(0.3)
%ab = posenc.add %a, %b
%s = posenc.add %ab, %e
)" FULL_END},
    {"no_dot", R"(
%s = posenc.bias(%r) : !posenc.relation {
^bb0(%d: f64):
  %c = arith.constant -0.1 : f64
  %x = math.absf %d : f64
  %y = arith.mulf %x, %c : f64
  posenc.yield %y : f64
}
)" CAUSAL_END},

    {"projection_of_tensor", R"(
%pi = posenc.position query law(#posenc.position_tensor)
%pj = posenc.position key law(#posenc.position_tensor)
%pr = posenc.relation %pi, %pj law(#posenc.difference<query_minus_key>)
%t = posenc.table_map channels(6) {
^bb0(%row: f64, %channel: f64):
  %one = arith.constant 1.0 : f64
  %c1 = arith.addf %channel, %one : f64
  %x = arith.divf %row, %c1 : f64
  %y = math.sin %x : f64
  posenc.yield %y : f64
}
%w = posenc.table law(#posenc.operand<"w", rows = 6, channels = 12>) : !posenc.table<row, head, channel>
%pt = posenc.project %t, %w : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
%a = posenc.dot %q, %k scale(0.2)
%b = posenc.table_dot %q, %pt at(%pr) scale(0.2) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
%c = posenc.table_dot %k, %pt at(%pr) scale(0.1) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
%ab = posenc.add %a, %b
%s = posenc.add %ab, %c
)" CAUSAL_END,
     2, 1, true},
    {"keys_of_query_heads", R"(
%w = posenc.table law(#posenc.operand<"u", rows = 0, channels = 12>) : !posenc.table<head, channel>
%k1 = posenc.vadd %k, %w : !posenc.key, !posenc.table<head, channel>
%a = posenc.dot %q, %k1 scale(0.25)
%b = posenc.dot %q, %k scale(0.25)
%s = posenc.add %a, %b
)" CAUSAL_END,
     6, 2},

    //===------------------------------------------------------------------===//
    // Networks over heads
    //===------------------------------------------------------------------===//
    {"network", R"(
%w1 = posenc.table law(#posenc.operand<"w1", rows = 8, channels = 5>) : !posenc.table<row, channel>
%b1 = posenc.table law(#posenc.operand<"b1", channels = 5>) : !posenc.table<channel>
%w2 = posenc.table law(#posenc.operand<"w2", rows = 5>) : !posenc.table<row, head>
%b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
%m = posenc.table law(#posenc.constants<[0.01, 0.02, -0.03, 0.2]>) : !posenc.table<head>
%b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
^bb0(%x: f64, %y: f64):
  %z = arith.mulf %x, %y : f64
  posenc.yield %z : f64
}
%a = posenc.dot %q, %k scale(0.3)
%n = posenc.head_mlp(%a, %b) weights(%w1, %b1, %w2, %b2) taps(1) {
^bb0(%x: f64):
  %zero = arith.constant 0.0 : f64
  %y = arith.maximumf %x, %zero : f64
  posenc.yield %y : f64
}
%s = posenc.add %a, %n
)" CAUSAL_END,
     4, 2},
    {"network_along_keys", R"(
%w1 = posenc.table law(#posenc.operand<"w1", rows = 9, channels = 17>) : !posenc.table<row, channel>
%b1 = posenc.table law(#posenc.operand<"b1", channels = 17>) : !posenc.table<channel>
%w2 = posenc.table law(#posenc.operand<"w2", rows = 51>) : !posenc.table<row, head>
%b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
%a = posenc.dot %q, %k scale(0.3)
%m = posenc.select %a mask(#posenc.window<left = 9, right = 2>)
%n = posenc.head_mlp(%m) weights(%w1, %b1, %w2, %b2) taps(3) {
^bb0(%x: f64):
  %y = math.tanh %x : f64
  posenc.yield %y : f64
}
%s = posenc.add %a, %n
)" FULL_END,
     3, 1},
    {"network_along_hidden_keys", R"(
%w1 = posenc.table law(#posenc.operand<"w1", rows = 6, channels = 4>) : !posenc.table<row, channel>
%b1 = posenc.table law(#posenc.operand<"b1", channels = 4>) : !posenc.table<channel>
%w2 = posenc.table law(#posenc.operand<"w2", rows = 12>) : !posenc.table<row, head>
%b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
%a = posenc.dot %q, %k scale(0.3)
%n = posenc.head_mlp(%a) weights(%w1, %b1, %w2, %b2) taps(3) {
^bb0(%x: f64):
  %e = math.exp %x : f64
  %y = math.log1p %e : f64
  posenc.yield %y : f64
}
%an = posenc.add %a, %n
%s = posenc.head_mlp(%an) weights(%w1, %b1, %w2, %b2) taps(3) {
^bb0(%x: f64):
  %zero = arith.constant 0.0 : f64
  %y = arith.maximumf %x, %zero : f64
  posenc.yield %y : f64
}
)" CAUSAL_END},
    {"network_of_one_head_and_dense_bias", R"(
%w1 = posenc.table law(#posenc.operand<"w1", rows = 1, channels = 1>) : !posenc.table<row, channel>
%b1 = posenc.table law(#posenc.operand<"b1", channels = 1>) : !posenc.table<channel>
%w2 = posenc.table law(#posenc.operand<"w2", rows = 1>) : !posenc.table<row, head>
%b2 = posenc.table law(#posenc.operand<"b2">) : !posenc.table<head>
%t = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
%b = posenc.bias(%t) : !posenc.table<head, query, key> {
^bb0(%x: f64):
  posenc.yield %x : f64
}
%a0 = posenc.dot %q, %k scale(0.3)
%a = posenc.add %a0, %b
%n = posenc.head_mlp(%a) weights(%w1, %b1, %w2, %b2) taps(1) {
^bb0(%x: f64):
  posenc.yield %x : f64
}
%s = posenc.add %a, %n
)" FULL_END,
     1, 1},

    //===------------------------------------------------------------------===//
    // Scans and normalisation
    //===------------------------------------------------------------------===//
    {"stick_breaking", R"(
%a = posenc.dot %q, %k scale(0.3)
%m = posenc.select %a mask(#posenc.causal)
%n = posenc.rowscan %m exclusive {
^bb0(%x: f64):
  %e = math.exp %x : f64
  %l = math.log1p %e : f64
  posenc.yield %l : f64
}
%z = posenc.map %m, %n() {
^bb0(%x: f64, %y: f64):
  %neg = arith.negf %x : f64
  %e = math.exp %neg : f64
  %l = math.log1p %e : f64
  %t = arith.addf %l, %y : f64
  %w = arith.negf %t : f64
  posenc.yield %w : f64
}
%p = posenc.normalize exp %z
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.remainder %p, %v
%o = posenc.add %o1, %o2 : !posenc.output
)",
     2, 1, true},
    {"sink", R"(
%k0 = posenc.table law(#posenc.operand<"sinks">) : !posenc.table<head>
%a = posenc.dot %q, %k scale(0.3)
%u = posenc.select %a mask(#posenc.window<left = 6>)
%p = posenc.normalize softmax %u sink(%k0 : !posenc.table<head>)
%o = posenc.weighted_sum %p, %v
)"},
    {"sink_and_remainder", R"(
%k0 = posenc.table law(#posenc.constants<[0.5, -1.0]>) : !posenc.table<head>
%a = posenc.dot %q, %k scale(0.3)
%u = posenc.select %a mask(#posenc.causal)
%p = posenc.normalize softmax %u sink(%k0 : !posenc.table<head>)
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.remainder %p, %v
%o = posenc.add %o2, %o1 : !posenc.output
)",
     2, 1, true},
    {"retention", R"(
%a = posenc.dot %q, %k scale(0.3)
%d = posenc.map %a(%r) : !posenc.relation {
^bb0(%x: f64, %n: f64):
  %c = arith.constant -0.125 : f64
  %t = arith.mulf %n, %c : f64
  %e = math.exp2 %t : f64
  %y = arith.mulf %x, %e : f64
  posenc.yield %y : f64
}
%u = posenc.select %d mask(#posenc.causal)
%p = posenc.normalize abs_sum %u bounds([1.0, 5.0e4])
%o = posenc.weighted_sum %p, %v
)"},
    {"identity", R"(
%a = posenc.dot %q, %k scale(0.03)
%u = posenc.select %a mask(#posenc.causal)
%p = posenc.normalize identity %u
%o = posenc.weighted_sum %p, %v
)"},
    {"identity_and_remainder", R"(
%a = posenc.dot %q, %k scale(0.03)
%p = posenc.normalize abs_sum %a bounds([0.5, 2.0])
%o1 = posenc.weighted_sum %p, %v
%o2 = posenc.remainder %p, %v
%o = posenc.add %o1, %o2 : !posenc.output
)",
     2, 1, true},
    {"linear", R"(
)" FREQS R"(
%q0 = posenc.vector_map %q : !posenc.query {
^bb0(%x: f64):
  %e = math.exp %x : f64
  posenc.yield %e : f64
}
%k0 = posenc.vector_map %k : !posenc.key {
^bb0(%x: f64):
  %e = math.exp %x : f64
  posenc.yield %e : f64
}
%q1 = posenc.rotate %q0 by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k0 by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%a = posenc.dot %q1, %k1 scale(1.0)
%b = posenc.dot %q0, %k0 scale(1.0)
%am = posenc.select %a mask(#posenc.causal)
%bm = posenc.select %b mask(#posenc.causal)
%p = posenc.normalize linear %am by(%bm)
%o = posenc.weighted_sum %p, %v
)",
     2, 1, false, 0.5},
    //===------------------------------------------------------------------===//
    // Biases of low rank
    //===------------------------------------------------------------------===//
    {"rank_of_tables", R"(
%c = posenc.sum_index extent(12)
%a = posenc.table law(#posenc.operand<"rank.q", rows = 300, channels = 12>) : !posenc.table<row, head, channel>
%b = posenc.table law(#posenc.operand<"rank.k", rows = 300, channels = 12>) : !posenc.table<row, channel>
%t = posenc.bias(%c, %i, %a, %j, %b) : !posenc.relation, !posenc.coord, !posenc.table<row, head, channel>, !posenc.coord, !posenc.table<row, channel> {
^bb0(%n: f64, %p: f64, %x: f64, %g: f64, %y: f64):
  %z = arith.mulf %x, %y : f64
  posenc.yield %z : f64
}
%d = posenc.dot %q, %k scale(0.3)
%s = posenc.add %d, %t
)" CAUSAL_END},
    // Fewer channels than a head, keys that differ by query head, a cap behind
    // and none.
    {"rank_natural_and_not", R"(
%c = posenc.sum_index extent(5)
%a = posenc.table law(#posenc.operand<"rank.q", rows = 40, channels = 7>) : !posenc.table<row, channel>
%b = posenc.table law(#posenc.operand<"rank.k", channels = 5>) : !posenc.table<batch, head, key, channel>
%w = posenc.table law(#posenc.constants<[0.5, -1.0]>) : !posenc.table<head>
%t = posenc.bias(%c, %i, %a, %b, %w) : !posenc.relation, !posenc.coord, !posenc.table<row, channel>, !posenc.table<batch, head, key, channel>, !posenc.table<head> {
^bb0(%n: f64, %p: f64, %x: f64, %y: f64, %h: f64):
  %z = arith.mulf %x, %y : f64
  %m = arith.mulf %z, %h : f64
  posenc.yield %m : f64
}
%d = posenc.dot %q, %k scale(0.3)
%s0 = posenc.add %d, %t
%s1 = posenc.map %s0() {
^bb0(%x: f64):
  %y = math.tanh %x : f64
  posenc.yield %y : f64
}
%s = posenc.add %s1, %t
)" FULL_END},
    {"rank_of_waves", R"(
%pi = posenc.position query law(#posenc.position_tensor)
%pj = posenc.position key law(#posenc.position_tensor)
%e = posenc.relation %pi, %pj law(#posenc.difference<key_minus_query>)
%c = posenc.sum_index extent(5)
%f = posenc.table law(#posenc.constants<[1.0, 0.3, 0.1, 0.03, 0.01]>) : !posenc.table<row>
%w = posenc.table law(#posenc.constants<[4.0, 8.0, 1.0, 0.5]>) : !posenc.table<head>
%t = posenc.bias(%e, %c, %f, %w) : !posenc.relation, !posenc.relation, !posenc.table<row>, !posenc.table<head> {
^bb0(%d: f64, %n: f64, %x: f64, %h: f64):
  %m = math.absf %d : f64
  %a = arith.mulf %m, %x : f64
  %y = math.cos %a : f64
  %one = arith.constant 1.0 : f64
  %z = arith.subf %y, %one : f64
  %l = arith.divf %z, %h : f64
  posenc.yield %l : f64
}
%d = posenc.dot %q, %k scale(0.3)
%s = posenc.add %d, %t
)" CAUSAL_END,
     4, 2, true},
    // Two vectors of channels, and no other product.
    {"rank_above_a_head", R"(
%c = posenc.sum_index extent(9)
%f = posenc.table law(#posenc.operand<"rank.f", rows = 9>) : !posenc.table<row, head>
%pi = posenc.position query law(#posenc.position_tensor)
%pj = posenc.position key law(#posenc.position_tensor)
%e = posenc.relation %pi, %pj law(#posenc.difference<query_minus_key>)
%s = posenc.bias(%c, %f, %e) : !posenc.relation, !posenc.table<row, head>, !posenc.relation {
^bb0(%n: f64, %x: f64, %d: f64):
  %m = arith.mulf %d, %x : f64
  %y = math.sin %m : f64
  %h = arith.constant 0.5 : f64
  %z = arith.mulf %y, %h : f64
  posenc.yield %z : f64
}
)" CAUSAL_END,
     2, 1, true},
    // One row that all keys are multiplied with.
    {"one_row_beside_a_product", R"(
%w = posenc.table law(#posenc.operand<"u", rows = 1, channels = 12>) : !posenc.table<row, head, channel>
%z = posenc.relation_map() rows(1) {
  %zero = arith.constant 0.0 : f64
  posenc.yield %zero : f64
}
%f = posenc.freqs law(#posenc.geometric<base = 100.0, dims = 8>)
%q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
%k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
%a = posenc.dot %q1, %k1 scale(0.3)
%b = posenc.table_dot %k1, %w at(%z) scale(0.3) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
%c = posenc.dot %q1, %k scale(0.3)
%ab = posenc.add %a, %b
%s = posenc.add %c, %ab
)" CAUSAL_END},
};

llvm::ArrayRef<TermSpec> posenc::numerics::getTermSpecs() { return specs; }

std::string posenc::numerics::getText(const TermSpec &spec) {
  return ("posenc.kernel @term heads(" + llvm::Twine(spec.heads) +
          ") kv_heads(" + llvm::Twine(spec.kvHeads) + ") head_dim(" +
          llvm::Twine(termHeadDim) + ") value_dim(" +
          llvm::Twine(termValueDim) + R"() {
^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
%i = posenc.position query law(#posenc.iota)
%j = posenc.position key law(#posenc.iota)
%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
)" + spec.body +
          "posenc.yield %o : !posenc.output\n}\n")
      .str();
}
