// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kind of prepared table and of argument, in kernels of level 2, against
// the reference: odd sizes, batches, heads, layouts, shards, prepared buffers.
#include "Problem.h"

#include <gtest/gtest.h>

using namespace posenc::test;

namespace {

/// A kernel that ends with a softmax of %s and values %v.
std::string softmaxOf(const std::string &terms) {
  return "{\n^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n" +
         terms + R"mlir(
  %p = posenc.normalize softmax %s
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})mlir";
}

/// The same with positions %i and %j and their distance %d.
std::string positionsOf(const std::string &law, const std::string &terms) {
  return "%i = posenc.position query law(" + law +
         ")\n%j = posenc.position key law(" + law +
         ")\n%d = posenc.relation %i, %j law(#posenc.difference<"
         "query_minus_key>)\n" +
         terms;
}

const char *const dot = "\n%s = posenc.dot %q1, %k1 scale(0.5)\n";

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// Rotations of both sides with the operands `by` and a region behind the type.
std::string rotated(const std::string &by, const std::string &modulus = "") {
  auto side = [&](char vector, char position) {
    std::string text = by;
    for (size_t at; (at = text.find('@')) != std::string::npos;)
      text[at] = position;
    return std::string("%") + vector + "1 = posenc.rotate %" + vector + " " +
           text + (vector == 'q' ? " : !posenc.query" : " : !posenc.key") +
           modulus + "\n";
  };
  return side('q', 'i') + side('k', 'j') + dot;
}

// From 1/e to e: products of large numbers that cancel would say nothing about
// a small score.
const char *const modulus = R"mlir( modulus {
  ^bb0(%pair: f64, %position: f64):
    %x = math.cos %position : f64
    %y = arith.negf %pair : f64
    %z = math.exp %y : f64
    %u = arith.mulf %x, %z : f64
    %m = math.exp %u : f64
    posenc.yield %m : f64
  })mlir";

/// Two axes, one of them halved, a modulus, and frequencies of 0.
std::string makeAxes() {
  std::string text;
  for (int axis = 0; axis < 2; ++axis)
    for (const char *side : {"query", "key"})
      text += std::string("%") + (side[0] == 'q' ? "i" : "j") +
              std::to_string(axis) + " = posenc.position " + side +
              " law(#posenc.position_tensor<name = \"grid\", axes = 3, axis "
              "= " +
              std::to_string(axis + 1) + ">)\n";
  for (const char *side : {"i", "j"})
    text += std::string("%h") + side + " = posenc.remap %" + side + R"mlir(1 {
  ^bb0(%x: f64):
    %two = arith.constant 2.0 : f64
    %y = arith.divf %x, %two : f64
    posenc.yield %y : f64
  }
)mlir";
  return text + R"mlir(
  %f0 = posenc.freqs law(#posenc.frequencies<[1.0, 0.3, 0.0]>)
  %f1 = posenc.freqs law(#posenc.frequencies<[0.0, 0.1, 0.7]>)
)mlir" +
         rotated("by(%@0, %h@) freqs(%f0, %f1) pairing(interleaved) "
                 "first_dim(2)",
                 modulus);
}

/// Frequencies of each head that depend on the length of the call.
const char *const headFrequencies = R"mlir(
  %w = posenc.table law(#posenc.operand<"w", rows = 5>) : !posenc.table<head, row>
  %f = posenc.freqs_map(%w) : !posenc.table<head, row> pairs(4) {
  ^bb0(%pair: f64, %length: f64, %x: f64):
    %y = arith.divf %x, %length : f64
    %z = arith.mulf %y, %pair : f64
    posenc.yield %z : f64
  }
)mlir";
const char *const constantFrequencies = R"mlir(
  %w = posenc.table law(#posenc.constants<[1.0, 0.1, 0.2, 0.5, 0.3, 0.6, 0.9, 0.05]>) : !posenc.table<row, head>
  %f = posenc.freqs_map(%w) : !posenc.table<row, head> pairs(2) {
  ^bb0(%pair: f64, %length: f64, %x: f64):
    posenc.yield %x : f64
  }
)mlir";
const char *const mixes = R"mlir(
  %f = posenc.freqs law(#posenc.frequencies<[1.0, 0.3, 0.1, 0.01, 0.5]>)
  %m0 = posenc.table law(#posenc.operand<"mix.cos", rows = 5, channels = 3>) : !posenc.table<row, head, channel>
  %m1 = posenc.table law(#posenc.constants<[1.0, 0.0, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, -1.0, -0.5, 0.25], channels = 3>) : !posenc.table<row, channel>
)mlir";

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// A running sum over keys, read at keys and at queries.
std::string makeForget(const char *axes, const char *atQuery,
                       const char *alignment) {
  std::string type = std::string("!posenc.table<") + axes + ">";
  std::string queryType = std::string("!posenc.table<") + atQuery + ">";
  return R"mlir(
  %g = posenc.table law(#posenc.operand<"gates">) : )mlir" +
         type + "\n%c = posenc.prefix_sum %g : " + type + R"mlir( {
  ^bb0(%x: f64):
    %y = arith.mulf %x, %x : f64
    %z = arith.negf %y : f64
    posenc.yield %z : f64
  }
  %ci = posenc.at_query %c )mlir" +
         alignment + " : " + type + " -> " + queryType + "\n" +
         "%b = posenc.bias(%ci, %c) : " + queryType + ", " + type + R"mlir( {
  ^bb0(%x: f64, %y: f64):
    %z = arith.subf %x, %y : f64
    posenc.yield %z : f64
  }
  %t = posenc.dot %q, %k scale(0.5)
  %u = posenc.add %t, %b
  %s = posenc.select %u mask(#posenc.causal<)mlir" +
         alignment + ">)\n";
}

const char *const waves = R"mlir(
  %w = posenc.table_map channels(6) {
  ^bb0(%row: f64, %channel: f64):
    %c = arith.constant 0.3 : f64
    %x = arith.mulf %row, %c : f64
    %y = arith.addf %x, %channel : f64
    %z = math.sin %y : f64
    posenc.yield %z : f64
  }
  %pm = posenc.table law(#posenc.operand<"project", rows = 6, channels = 8>) : !posenc.table<row, head, channel>
  %r = posenc.project %w, %pm : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
)mlir";

/// Projected positions, looked up by `index`, from queries or keys.
std::string makeProjected(const char *index, bool isOfKeys) {
  std::string vector = isOfKeys ? "%k" : "%q";
  return std::string(waves) + "%t = posenc.table_dot " + vector + ", %r at(" +
         index + ") scale(0.25) : !posenc." + (isOfKeys ? "key" : "query") +
         ", !posenc.table<row, head, channel>, !posenc.relation\n"
         "%u = posenc.dot %q, %k scale(0.5)\n%s = posenc.add %t, %u\n";
}

/// Rows of tables over all axes, for queries, keys and values.
std::string makeRows(const char *relation) {
  return std::string(relation) + R"mlir(
  %a = posenc.table law(#posenc.operand<"a.keys", rows = 7, channels = 8>) : !posenc.table<row, channel>
  %c = posenc.table law(#posenc.operand<"a.values", rows = 7, channels = 6>) : !posenc.table<channel, head, row>
  %e = posenc.table law(#posenc.operand<"a.queries", rows = 7, channels = 8>) : !posenc.table<head, row, channel>
  %t = posenc.table_dot %q, %a at(%r) scale(0.25) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
  %t1 = posenc.table_dot %k, %e at(%r) scale(0.5) : !posenc.key, !posenc.table<head, row, channel>, !posenc.relation
  %t2 = posenc.dot %q, %k scale(0.5)
  %t3 = posenc.add %t, %t1
  %s = posenc.add %t3, %t2
  %p = posenc.normalize softmax %s
  %o1 = posenc.weighted_sum %p, %v
  %o2 = posenc.value_table %p, %c at(%r) : !posenc.table<channel, head, row>
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
})mlir";
}

const char *const clipped =
    "%r = posenc.relation %i, %j law(#posenc.clipped_distance<key_minus_query, "
    "max = 3>)\n";
const char *const mapped = R"mlir(
  %r = posenc.relation_map(%d, %i) : !posenc.relation, !posenc.coord rows(7) {
  ^bb0(%x: f64, %y: f64):
    %c = arith.constant 0.1 : f64
    %z = arith.mulf %y, %c : f64
    %u = arith.addf %x, %z : f64
    %w = math.floor %u : f64
    posenc.yield %w : f64
  }
)mlir";

std::string makeKernel(const std::string &body) {
  return "{\n^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n" +
         body;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Two queries, three keys of which one is the caller's.
const char *const severalVectors = R"mlir(
  %u = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %g = posenc.table law(#posenc.constants<[0.5, 0.25, 1.0, 1.5, -1.0, 0.1, 0.2, 0.3]>) : !posenc.table<channel>
  %l = posenc.table law(#posenc.operand<"l">) : !posenc.table<batch, key>
  %q1 = posenc.vadd %q, %u : !posenc.query, !posenc.table<head, channel>
  %k1 = posenc.channel_scale %k, %g offset(1.0) : !posenc.key, !posenc.table<channel>
  %k2 = posenc.vector_norm %k rms over(head) epsilon(0.01) added : !posenc.key
  %k3 = posenc.row_scale %k2(%j, %l) : !posenc.key, !posenc.coord, !posenc.table<batch, key> {
  ^bb0(%x: f64, %y: f64):
    %c = arith.constant 0.01 : f64
    %z = arith.mulf %x, %c : f64
    %w = arith.addf %z, %y : f64
    posenc.yield %w : f64
  }
  %s0 = posenc.dot %q, %k scale(0.5)
  %s1 = posenc.dot %q1, %k1 scale(0.25)
  %s2 = posenc.dot %q, %k3 scale(1.0)
  %s3 = posenc.add %s0, %s1
  %s = posenc.add %s3, %s2
)mlir";

/// Keys that differ between the query heads of a group, and others.
const char *const scaledKeys = R"mlir(
  %u = posenc.table law(#posenc.operand<"u", channels = 8>) : !posenc.table<head, channel>
  %g = posenc.table law(#posenc.constants<[0.5, 0.25, 1.0, 1.5, -1.0, 0.1, 0.2, 0.3]>) : !posenc.table<channel>
  %k1 = posenc.vadd %k, %u : !posenc.key, !posenc.table<head, channel>
  %k2 = posenc.channel_scale %k, %g offset(1.0) : !posenc.key, !posenc.table<channel>
  %s0 = posenc.dot %q, %k1 scale(0.5)
  %s1 = posenc.dot %q, %k2 scale(0.25)
  %s2 = posenc.dot %q, %k scale(0.25)
  %s3 = posenc.add %s0, %s1
  %s = posenc.add %s2, %s3
)mlir";

const char *const allHeads = R"mlir(
  %q1 = posenc.vector_norm %q rms over(all_heads) epsilon(0.01) added : !posenc.query
  %k1 = posenc.vector_norm %k layer over(all_heads) epsilon(0.01) floor : !posenc.key
  %s = posenc.dot %q1, %k1 scale(0.5)
)mlir";

/// Rows of a table at the tokens' positions.
const char *const addedRows = R"mlir(
  %t = posenc.table law(#posenc.operand<"learned", rows = 30, channels = 8>) : !posenc.table<row, channel>
  %q1 = posenc.vadd %q, %t at(%i) : !posenc.query, !posenc.table<row, channel>
  %k1 = posenc.vadd %k, %t at(%j) : !posenc.key, !posenc.table<row, channel>
  %s = posenc.dot %q1, %k1 scale(0.5)
)mlir";

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

/// A network with hidden units, per head.
const char *const network = R"mlir(
  %h = posenc.sum_index extent(5)
  %w1 = posenc.table law(#posenc.operand<"w1", rows = 5>) : !posenc.table<row>
  %w2 = posenc.table law(#posenc.operand<"w2", rows = 5>) : !posenc.table<row, head>
  %b = posenc.bias(%d, %h, %w1, %w2) : !posenc.relation, !posenc.relation, !posenc.table<row>, !posenc.table<row, head> {
  ^bb0(%x: f64, %m: f64, %y: f64, %z: f64):
    %c = arith.constant 0.1 : f64
    %a = arith.mulf %x, %c : f64
    %e = arith.mulf %a, %y : f64
    %f = math.tanh %e : f64
    %g = arith.mulf %f, %z : f64
    posenc.yield %g : f64
  }
  %t = posenc.dot %q, %k scale(0.5)
  %s = posenc.add %t, %b
)mlir";

/// Buckets, waves summed over channels, and a map of a relation.
const char *const strips = R"mlir(
  %n = posenc.relation %i, %j law(#posenc.threshold_bucket<[1, 2, 4, 9], future_offset = 5>)
  %t0 = posenc.table law(#posenc.operand<"buckets", rows = 10>) : !posenc.table<head, row>
  %b0 = posenc.bias(%n, %t0) : !posenc.relation, !posenc.table<head, row> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %h = posenc.sum_index extent(6)
  %b1 = posenc.bias(%d, %h, %w) : !posenc.relation, !posenc.relation, !posenc.table<row, channel> {
  ^bb0(%x: f64, %m: f64, %y: f64):
    %c = arith.constant 0.1 : f64
    %z = arith.mulf %y, %c : f64
    posenc.yield %z : f64
  }
  %g = posenc.relation_map(%d) : !posenc.relation rows(4) {
  ^bb0(%x: f64):
    %y = math.absf %x : f64
    posenc.yield %y : f64
  }
  %t1 = posenc.table law(#posenc.constants<[1.0, 0.5, -0.5, 0.1]>) : !posenc.table<row>
  %b2 = posenc.bias(%g, %t1) : !posenc.relation, !posenc.table<row> {
  ^bb0(%x: f64, %y: f64):
    posenc.yield %y : f64
  }
  %u0 = posenc.dot %q, %k scale(0.5)
  %u1 = posenc.add %u0, %b0
  %u2 = posenc.add %u1, %b1
  %s = posenc.add %u2, %b2
)mlir";

//===----------------------------------------------------------------------===//
// Networks over heads
//===----------------------------------------------------------------------===//

/// A network over `scores`; its tables end in `name`. What it makes of scores
/// is not much larger than they are: otherwise their rounding would show.
std::string makeNetwork(const std::string &result, const std::string &name,
                        const std::vector<std::string> &scores, int taps) {
  auto number = [](size_t value) { return std::to_string(value); };
  std::string inputs = scores[0];
  for (size_t s = 1; s < scores.size(); ++s)
    inputs += ", " + scores[s];
  return "%win" + name + " = posenc.table law(#posenc.operand<\"w" + name +
         "\", rows = " + number(4 * scores.size() * taps) +
         ", channels = 3>) : !posenc.table<row, channel>\n%bin" + name +
         " = posenc.table law(#posenc.constants<[0.5, -1.0, 0.25]>) : "
         "!posenc.table<channel>\n%wout" +
         name + " = posenc.table law(#posenc.operand<\"x" + name +
         "\", rows = " + number(3 * taps) +
         ">) : !posenc.table<row, head>\n%bout" + name +
         " = posenc.table law(#posenc.operand<\"y" + name +
         "\">) : !posenc.table<head>\n" + result + " = posenc.head_mlp(" +
         inputs + ") weights(%win" + name + ", %bin" + name + ", %wout" + name +
         ", %bout" + name + ") taps(" + number(taps) + R"mlir() {
  ^bb0(%x: f64):
    %c = arith.constant 0.0 : f64
    %z = arith.maximumf %x, %c : f64
    %part = arith.constant 0.25 : f64
    %unit = arith.mulf %z, %part : f64
    posenc.yield %unit : f64
  }
)mlir";
}

/// Scores with a bias of each head, added to what a network makes of them. The
/// mask comes before it or behind it.
std::string makeMixed(int taps, bool isMaskedBefore, const char *mask) {
  std::string cut = std::string(" mask(") + mask + ")\n";
  std::string text = R"mlir(
  %slope = posenc.table law(#posenc.constants<[0.01, -0.02, 0.1, 0.3]>) : !posenc.table<head>
  %bias = posenc.bias(%d, %slope) : !posenc.relation, !posenc.table<head> {
  ^bb0(%x: f64, %y: f64):
    %z = arith.mulf %x, %y : f64
    posenc.yield %z : f64
  }
  %dots = posenc.dot %q, %k scale(0.3)
)mlir";
  std::string scores = "%dots", biases = "%bias";
  if (isMaskedBefore) {
    text += "%seen = posenc.select %dots" + cut +
            "%seen_bias = posenc.select %bias" + cut;
    scores = "%seen";
    biases = "%seen_bias";
  }
  text += makeNetwork("%mixed", "", {scores, biases}, taps);
  text += "%sum = posenc.add " + scores + ", %mixed\n";
  if (isMaskedBefore)
    return text + "%s = posenc.add %sum, " + biases + "\n";
  return text + "%s = posenc.select %sum" + cut;
}

/// One network behind another.
std::string makeTwoNetworks() {
  return "%dots = posenc.dot %q, %k scale(0.3)\n" +
         makeNetwork("%m0", "0", {"%dots"}, 3) +
         "%t0 = posenc.add %dots, %m0\n" + makeNetwork("%m1", "1", {"%t0"}, 3) +
         "%t1 = posenc.add %dots, %m1\n"
         "%s = posenc.select %t1 mask(#posenc.causal)\n";
}

//===----------------------------------------------------------------------===//
// Masks, scans, normalisers
//===----------------------------------------------------------------------===//

const char *const sinks = R"mlir(
  %z = posenc.table law(#posenc.operand<"sink">) : !posenc.table<head>
  %t = posenc.dot %q, %k scale(0.5)
  %near = posenc.dot %q, %k scale(0.25)
  %m = posenc.select %t else(%near) mask(#posenc.window<left = 5, right = 3>)
  %s = posenc.select %m where(%i, %j) : !posenc.coord, !posenc.coord {
  ^bb0(%x: f64, %y: f64):
    %c = arith.cmpf oge, %x, %y : f64
    posenc.yield %c : i1
  }
  %p = posenc.normalize softmax %s sink(%z : !posenc.table<head>)
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})mlir";

/// Stick-breaking.
const char *const sticks = R"mlir(
  %t = posenc.dot %q, %k scale(0.5)
  %m = posenc.select %t mask(#posenc.causal)
  %n = posenc.rowscan %m exclusive {
  ^bb0(%x: f64):
    %e = math.exp %x : f64
    %l = math.log1p %e : f64
    posenc.yield %l : f64
  }
  %s = posenc.map %m, %n() {
  ^bb0(%x: f64, %y: f64):
    %e = math.exp %x : f64
    %l = math.log1p %e : f64
    %z = arith.subf %x, %l : f64
    %w = arith.subf %z, %y : f64
    posenc.yield %w : f64
  }
  %p = posenc.normalize exp %s
  %o1 = posenc.weighted_sum %p, %v
  %o2 = posenc.remainder %p, %v
  %o = posenc.add %o1, %o2 : !posenc.output
  posenc.yield %o : !posenc.output
})mlir";

const char *const linear = R"mlir(
  %q1 = posenc.vector_map %q : !posenc.query {
  ^bb0(%x: f64):
    %e = math.exp %x : f64
    posenc.yield %e : f64
  }
  %k1 = posenc.vector_map %k : !posenc.key {
  ^bb0(%x: f64):
    %e = math.exp %x : f64
    posenc.yield %e : f64
  }
  %t = posenc.dot %q1, %k1 scale(1.0)
  %s = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize linear %s by(%s)
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})mlir";

const char *const absolute = R"mlir(
  %t = posenc.dot %q, %k scale(0.5)
  %s = posenc.select %t mask(#posenc.causal)
  %p = posenc.normalize abs_sum %s bounds([1.0, 50000.0])
  %o = posenc.weighted_sum %p, %v
  posenc.yield %o : !posenc.output
})mlir";

/// A kernel whose sums and value tables see weights of which some are dropped.
std::string dropped(std::string body) {
  for (const std::string user : {"weighted_sum %p", "value_table %p"})
    for (size_t at = 0; (at = body.find(user, at)) != std::string::npos; ++at)
      body.insert(at + user.size(), "_kept");
  size_t line = body.find('\n', body.find("%p = posenc.normalize"));
  return body.insert(line,
                     "\n%p_kept = posenc.drop_weights %p probability(0.25)");
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

struct Spec {
  const char *name;
  const char *clauses;
  std::string body;
  bool needsKeysForQueries = false; // Lq <= Lk
  bool needsAllHeads = false;
};

void PrintTo(const Spec &spec, std::ostream *stream) { *stream << spec.name; }

const char *const grouped = "heads(4) kv_heads(2) head_dim(8) value_dim(6)";
const char *const single = "heads(4) head_dim(8) value_dim(6)";
const char *const iota = "#posenc.iota<offset = 3>";
const char *const topLeft = "#posenc.iota<offset = -2, align = top_left>";
const char *const tensor = "#posenc.position_tensor";

const Spec specs[] = {
    {"Axes", grouped, softmaxOf(makeAxes()), true},
    {"HeadFrequencies", single,
     softmaxOf(positionsOf(
         iota, std::string(headFrequencies) +
                   rotated("by(%@) freqs(%f) pairing(half) first_dim(0)")))},
    {"HeadFrequenciesOfTensor", single,
     softmaxOf(positionsOf(
         tensor, std::string(headFrequencies) +
                     rotated("by(%@) freqs(%f) pairing(half) first_dim(0)"))),
     true},
    {"ConstantFrequencies", single,
     softmaxOf(positionsOf(
         topLeft,
         std::string(constantFrequencies) +
             rotated("by(%@) freqs(%f) pairing(half) first_dim(3)", modulus)))},
    {"Mixes", single,
     softmaxOf(positionsOf(
         iota, std::string(mixes) +
                   rotated("by(%@) freqs(%f) mix(%m0, %m1 : "
                           "!posenc.table<row, head, channel>, "
                           "!posenc.table<row, channel>) pairing(half) "
                           "first_dim(1)",
                           modulus)))},
    {"Forget", grouped,
     softmaxOf(
         makeForget("batch, head, key", "batch, head, query", "bottom_right")),
     true},
    {"ForgetTopLeft", grouped,
     softmaxOf(makeForget("key, batch", "query, batch", "top_left")), true},
    {"Projected", grouped,
     softmaxOf(positionsOf(iota, makeProjected("%d", false)))},
    {"ProjectedKeys", single,
     softmaxOf(positionsOf(topLeft, makeProjected("%d", true)))},
    {"ProjectedReversed", grouped,
     softmaxOf(
         positionsOf(iota, "%e = posenc.relation %i, %j law(#posenc.difference<"
                           "key_minus_query>)\n" +
                               makeProjected("%e", false)))},
    {"ProjectedClipped", grouped,
     softmaxOf(positionsOf(
         iota, "%e = posenc.relation %i, %j law(#posenc.clipped_distance<"
               "query_minus_key, max = 5>)\n" +
                   makeProjected("%e", false)))},
    {"Rows", grouped, makeKernel(positionsOf(iota, makeRows(clipped)))},
    {"RowsOfTensor", grouped, makeKernel(positionsOf(tensor, makeRows(mapped))),
     true},
    {"SeveralVectors", single, softmaxOf(positionsOf(iota, severalVectors))},
    {"SeveralVectorsOfTensor", grouped,
     softmaxOf(positionsOf(tensor, severalVectors)), true},
    {"AllHeads", grouped, softmaxOf(allHeads), false, true},
    {"AddedRows", grouped, softmaxOf(positionsOf(topLeft, addedRows))},
    {"Network", grouped, softmaxOf(positionsOf(iota, network))},
    {"Strips", grouped,
     softmaxOf(positionsOf(topLeft, std::string(waves) + strips))},
    {"Sinks", grouped, makeKernel(positionsOf(tensor, sinks)), true},
    {"Sticks", grouped, makeKernel(sticks), true},
    {"HeadFrequenciesOfGroups", grouped,
     softmaxOf(positionsOf(
         tensor, std::string(headFrequencies) +
                     rotated("by(%@) freqs(%f) pairing(half) first_dim(0)"))),
     true},
    {"ConstantFrequenciesOfGroups", grouped,
     softmaxOf(positionsOf(
         topLeft,
         std::string(constantFrequencies) +
             rotated("by(%@) freqs(%f) pairing(half) first_dim(3)", modulus)))},
    {"ScaledKeysOfGroups", grouped, softmaxOf(positionsOf(iota, scaledKeys))},
    {"ProjectedOfTensor", grouped,
     softmaxOf(positionsOf(tensor, makeProjected("%d", false))), true},
    {"ProjectedKeysOfTensor", grouped,
     softmaxOf(positionsOf(tensor, makeProjected("%d", true))), true},
    {"Mixed", grouped,
     softmaxOf(positionsOf(iota, makeMixed(1, false, "#posenc.causal"))), false,
     true},
    {"MixedWindow", single,
     softmaxOf(positionsOf(
         topLeft, makeMixed(1, true, "#posenc.window<left = 5, right = 2>"))),
     false, true},
    {"MixedAlongKeys", grouped,
     softmaxOf(positionsOf(tensor, makeMixed(3, true, "#posenc.causal"))), true,
     true},
    {"MixedAlongHiddenKeys", grouped,
     softmaxOf(positionsOf(iota, makeMixed(3, false, "#posenc.causal"))), false,
     true},
    {"MixedTwice", grouped, softmaxOf(makeTwoNetworks()), false, true},
    {"Linear", grouped, makeKernel(linear)},
    {"Absolute", grouped, makeKernel(absolute)},
    {"DroppedRows", grouped,
     dropped(makeKernel(positionsOf(iota, makeRows(clipped))))},
    {"DroppedSinks", grouped, dropped(makeKernel(positionsOf(tensor, sinks))),
     true},
    {"DroppedSticks", grouped, dropped(makeKernel(sticks)), true},
    {"DroppedMixed", grouped,
     dropped(
         softmaxOf(positionsOf(iota, makeMixed(1, false, "#posenc.causal")))),
     false, true},
    {"DroppedLinear", grouped, dropped(makeKernel(linear))},
    {"DroppedAbsolute", grouped, dropped(makeKernel(absolute))},
};

class Terms : public ::testing::TestWithParam<Spec> {
protected:
  HostProgram &getProgram() {
    static std::map<std::string, std::unique_ptr<HostProgram>> programs;
    auto &program = programs[GetParam().name];
    if (!program)
      program = std::make_unique<HostProgram>(
          std::string("posenc.kernel @k ") + GetParam().clauses + " " +
              GetParam().body,
          std::vector<std::string>{"x86-64"});
    return *program;
  }

  void expect(Shape shape, const CallOptions &options = {}) {
    if (GetParam().needsKeysForQueries)
      shape.keyLen = std::max(shape.keyLen, shape.queryLen);
    if (GetParam().needsAllHeads && shape.heads)
      return;
    EXPECT_EQ(check(getProgram(), shape, options), "")
        << "B " << shape.batch << ", H " << shape.heads << ", Lq "
        << shape.queryLen << ", Lk " << shape.keyLen;
  }

  void SetUp() override { setenv("POSENC_ISA", "x86-64", 1); }
  void TearDown() override { unsetenv("POSENC_ISA"); }
};

TEST_P(Terms, Lengths) {
  for (int64_t queryLen : {0, 1, 5, 49, 100})
    for (int64_t keyLen : {0, 1, 33, 49})
      expect({1, 0, queryLen, keyLen});
}

// Few rows against many keys: parts of the keys are merged where they can be.
TEST_P(Terms, LongKeys) { expect({1, 0, 1, 2100}); }

TEST_P(Terms, Batches) {
  expect({3, 0, 50, 40});
  expect({2, 0, 7, 150});
  expect({0, 0, 50, 40});
}

TEST_P(Terms, Threads) {
  CallOptions options;
  options.threads = 3;
  expect({2, 0, 100, 130}, options);
}

TEST_P(Terms, Strides) {
  CallOptions options;
  options.isStrided = true;
  expect({2, 0, 49, 37}, options);
}

TEST_P(Terms, Shard) {
  CallOptions options;
  options.firstHead = 2;
  expect({2, 2, 49, 37}, options);
  options.sharesHeads = true;
  expect({2, 2, 49, 37}, options);
}

TEST_P(Terms, PreparedBuffer) {
  CallOptions options;
  options.usesPrepared = true;
  expect({2, 0, 49, 37}, options);
  expect({1, 0, 3, 70}, options);
  options.firstHead = 2;
  options.threads = 3;
  expect({2, 2, 49, 37}, options);
}

TEST_P(Terms, CallersScratch) {
  CallOptions options;
  options.bringsScratch = true;
  options.threads = 2;
  expect({2, 0, 49, 37}, options);
  options.usesPrepared = true;
  expect({2, 0, 49, 37}, options);
}

// Offsets beyond 2^31 elements.
TEST_P(Terms, LongStrides) {
  CallOptions options;
  options.keyStride = (int64_t(1) << 24) - 5;
  std::string error = check(getProgram(), {1, 4, 3, 53}, options);
  if (error == "not enough address space")
    GTEST_SKIP() << error;
  EXPECT_EQ(error, "");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Terms, ::testing::ValuesIn(specs),
                         [](const auto &info) { return info.param.name; });

} // namespace
