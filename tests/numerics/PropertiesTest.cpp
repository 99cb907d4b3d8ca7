// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold between runs of the reference, and at its border.
#include "Fixture.h"
#include "TestRun.h"

#include "posenc/Reference/Accuracy.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Schemes
//===----------------------------------------------------------------------===//

/// Without positions the order of keys does not matter.
static void testPermutedKeys(TestRun &run) {
  run.test("properties/permuted_keys", [] {
    Spec spec(
        "posenc.kernel @plain heads(2) head_dim(4) encode [#posenc.nope]");
    ReferenceInputs inputs =
        makeInputs(spec.getKernel(), {1, 2, 2, 9, 17, 4, 4}, 4);
    ReferenceInputs permuted = inputs;
    for (auto [from, to] :
         {std::pair(&inputs.k, &permuted.k), std::pair(&inputs.v, &permuted.v)})
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t j = 0; j < 17; ++j)
          for (int64_t c = 0; c < 4; ++c)
            to->data[(h * 17 + (5 * j) % 17) * 4 + c] =
                from->data[(h * 17 + j) * 4 + c];
    ReferenceOutputs got = evaluate(spec.getKernel(), permuted);
    ReferenceOutputs wanted = evaluate(spec.getKernel(), inputs);
    return compare("output", got.o, wanted.o, 1e-13);
  });
}

//===----------------------------------------------------------------------===//
// Parts of a call
//===----------------------------------------------------------------------===//

static constexpr const char *composed =
    "posenc.kernel @composed heads(6) kv_heads(3) head_dim(8) value_dim(5) "
    "mask(#posenc.causal) positions(#posenc.position_tensor) encode "
    "[#posenc.rope<base = 300>, #posenc.alibi, #posenc.t5_bias, "
    "#posenc.toeplitz_bias<max_distance = 11>, #posenc.dense_bias]";

/// A prefix of keys and queries gives the first rows of the whole.
static void testPrefix(TestRun &run) {
  run.test("properties/causal_prefix", [] {
    Spec spec("posenc.kernel @prefix heads(3) head_dim(8) value_dim(5) "
              "mask(#posenc.causal) encode [#posenc.rope, #posenc.alibi]");
    ReferenceInputs inputs =
        makeInputs(spec.getKernel(), {1, 3, 3, 37, 37, 8, 5}, 6);
    ReferenceOutputs whole = evaluate(spec.getKernel(), inputs);
    ReferenceInputs prefix;
    prefix.q = slice(inputs.q, 2, 0, 21);
    prefix.k = slice(inputs.k, 2, 0, 21);
    prefix.v = slice(inputs.v, 2, 0, 21);
    ReferenceOutputs part = evaluate(spec.getKernel(), prefix);
    std::string problem =
        compare("output", part.o, slice(whole.o, 2, 0, 21), 1e-14);
    if (problem.empty())
      problem = compare("lse", part.lse, slice(whole.lse, 2, 0, 21), 1e-14);
    return problem;
  });
}

/// Shards of the heads give the whole.
static void testShards(TestRun &run) {
  for (auto [begin, end] : {std::pair<int64_t, int64_t>{0, 2}, {2, 6}, {4, 6}})
    run.test("properties/heads/" + Twine(begin) + "-" + Twine(end),
             [&, b = begin, e = end] {
               Spec spec(composed);
               ReferenceInputs inputs =
                   makeInputs(spec.getKernel(), {2, 6, 3, 13, 21, 8, 5}, 7);
               ReferenceOutputs whole = evaluate(spec.getKernel(), inputs);
               ReferenceInputs shard = inputs;
               shard.firstHead = b;
               shard.q = slice(inputs.q, 1, b, e);
               shard.k = slice(inputs.k, 1, b / 2, e / 2);
               shard.v = slice(inputs.v, 1, b / 2, e / 2);
               for (auto &entry : shard.tables) // the dense bias is [H, Lq, Lk]
                 entry.second =
                     slice(entry.second, entry.first() == "bias" ? 0 : 1, b, e);
               whole.o = slice(whole.o, 1, b, e);
               whole.lse = slice(whole.lse, 1, b, e);
               whole.scores = slice(whole.scores, 1, b, e);
               return compareAll(evaluate(spec.getKernel(), shard), whole, 0);
             });
}

/// The rows of parts by their log-sum-exps, as posenc_merge does it.
static RealTensor mergeParts(ArrayRef<ReferenceOutputs> parts,
                             const RealTensor &lse) {
  RealTensor merged = parts.front().o;
  int64_t width = merged.shape.back();
  for (auto [at, value] : llvm::enumerate(merged.data)) {
    double largest = lse.data[at / width];
    value = 0;
    for (const ReferenceOutputs &part : parts)
      if (double own = part.lse.data[at / width]; own > -infinity)
        value += std::exp(own - largest) * part.o.data[at];
  }
  return merged;
}

/// Shards of the keys that say where they stand, merged, give the whole.
static void testKeyShards(TestRun &run) {
  run.test("properties/key_shards", [] {
    Spec spec("posenc.kernel @keys heads(4) kv_heads(2) head_dim(8) "
              "value_dim(5) mask(#posenc.window<left = 19, right = 0, by = "
              "position>) positions(#posenc.position_tensor<queries = "
              "\"query_positions\">) encode [#posenc.rope<base = 300>, "
              "#posenc.alibi, #posenc.t5_bias, #posenc.shaw<max_distance = 3, "
              "values = off>]");
    // More queries than keys of any shard, some of which see none of it.
    ReferenceInputs inputs =
        makeInputs(spec.getKernel(), {2, 4, 2, 33, 40, 8, 5}, 12);
    ReferenceOutputs whole = evaluate(spec.getKernel(), inputs);
    std::vector<ReferenceOutputs> parts;
    for (auto [begin, end] :
         {std::pair<int64_t, int64_t>{0, 7}, {7, 31}, {31, 40}}) {
      ReferenceInputs shard = inputs;
      shard.k = slice(inputs.k, 2, begin, end);
      shard.v = slice(inputs.v, 2, begin, end);
      shard.positions["positions"] =
          slice(inputs.positions["positions"], 1, begin, end);
      parts.push_back(evaluate(spec.getKernel(), shard));
    }
    return compare("output", mergeParts(parts, whole.lse), whole.o, 1e-13);
  });
}

/// Alignments are the same when there are as many queries as keys.
static void testAlignments(TestRun &run) {
  run.test("properties/alignments", [] {
    auto evaluateAligned = [](StringRef alignment) {
      Spec spec(("posenc.kernel @aligned heads(2) head_dim(4) "
                 "mask(#posenc.causal<" +
                 alignment + ">) encode [#posenc.rope, #posenc.alibi]")
                    .str());
      return evaluate(spec.getKernel(),
                      makeInputs(spec.getKernel(), {1, 2, 2, 33, 33, 4, 4}, 8));
    };
    return compareAll(evaluateAligned("top_left"),
                      evaluateAligned("bottom_right"), 0);
  });
}

//===----------------------------------------------------------------------===//
// The border
//===----------------------------------------------------------------------===//

/// Equal values pass through, and scores too large for exp() do no harm.
static void testExtremes(TestRun &run) {
  run.test("properties/equal_values", [] {
    Spec spec("posenc.kernel @ones heads(2) head_dim(4) mask(#posenc.causal) "
              "scale(300.0)");
    ReferenceInputs inputs =
        makeInputs(spec.getKernel(), {1, 2, 2, 23, 23, 4, 4}, 9, 10);
    for (double &value : inputs.v.data)
      value = 1;
    RealTensor wanted = inputs.q;
    for (double &value : wanted.data)
      value = 1;
    return compare("output", evaluate(spec.getKernel(), inputs).o, wanted,
                   1e-14);
  });
}

/// A window that is passed is the window that is compiled.
static void testOperandWindow(TestRun &run) {
  for (int64_t left : {-1, 0, 7, 100})
    for (int64_t right : {-1, 0, 4})
      run.test(
          "properties/operand_window/" + Twine(left) + "," + Twine(right),
          [&]() -> std::string {
            auto parse = [&](const Twine &mask) {
              return Spec(("posenc.kernel @window heads(2) head_dim(8) "
                           "mask(#posenc." +
                           mask + ", right = " + Twine(right) +
                           ">) encode [#posenc.alibi<form = symmetric>]")
                              .str());
            };
            Spec compiled = parse("window<left = " + Twine(left));
            Spec passed = parse("operand_window<name = \"w\"");
            ReferenceInputs inputs =
                makeInputs(compiled.getKernel(), {2, 2, 2, 19, 40, 8, 8}, 3);
            ReferenceOutputs wanted = evaluate(compiled.getKernel(), inputs);
            inputs.tables["w"] = {{1}, {double(left)}};
            return compareAll(evaluate(passed.getKernel(), inputs), wanted, 0);
          });
}

/// Rows without keys are 0 and -inf, exactly.
static void testEmptyRows(TestRun &run) {
  run.test("properties/rows_without_keys", []() -> std::string {
    Spec spec("posenc.kernel @empty heads(1) head_dim(2) mask(#posenc.causal)");
    ReferenceOutputs got =
        evaluate(spec.getKernel(),
                 makeInputs(spec.getKernel(), {1, 1, 1, 5, 2, 2, 2}, 10));
    for (int64_t i = 0; i < 5; ++i) {
      bool isEmpty = i < 3;
      if ((got.lse.data[i] == -infinity) != isEmpty ||
          (got.o.data[2 * i] == 0) != isEmpty ||
          (got.maxValue.data[i] == 0) != isEmpty)
        return "row " + std::to_string(i) + " of 5 with 2 keys is wrong";
    }
    return "";
  });
}

/// A masked pair stays masked, whatever is added to it or mapped; a NaN behind
/// it does not show.
static void testStickyMask(TestRun &run) {
  run.test("properties/masked_stays_masked", [] {
    auto makeSpec =
        [](StringRef order) {
          return Spec((R"(posenc.kernel @sticky heads(2) head_dim(4) {
        ^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
          %table = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
          %b = posenc.bias(%table) : !posenc.table<head, query, key> {
          ^bb0(%x: f64):
            posenc.yield %x : f64
          }
          %s = posenc.dot %q, %k scale(0.5)
          )" + order + R"(
          %p = posenc.normalize softmax %u
          %o = posenc.weighted_sum %p, %v
          posenc.yield %o : !posenc.output
        })")
                          .str());
        };
    std::string map = R"( {
          ^bb0(%x: f64):
            %y = math.tanh %x : f64
            posenc.yield %y : f64
          })";
    // The mask and the table come before the map, or after what the map made.
    Spec before = makeSpec("%a = posenc.add %s, %b\n"
                           "%c = posenc.select %a mask(#posenc.causal)\n"
                           "%u = posenc.map %c()" +
                           map);
    Spec after = makeSpec("%a = posenc.add %s, %b\n"
                          "%c = posenc.map %a()" +
                          map + "\n%u = posenc.select %c mask(#posenc.causal)");
    ReferenceInputs inputs =
        makeInputs(before.getKernel(), {1, 2, 2, 11, 11, 4, 4}, 11);
    std::vector<double> &bias = inputs.tables["bias"].data;
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < 11; ++i)
        bias[(h * 11 + i) * 11 + 4] = i % 2 ? -infinity : -1e30;
    for (int64_t c = 0; c < 4; ++c) { // key 4 is seen by nobody
      inputs.v.data[4 * 4 + c] = std::nan("");
      inputs.v.data[(11 + 4) * 4 + c] = infinity;
    }
    ReferenceOutputs got = evaluate(before.getKernel(), inputs);
    ReferenceOutputs wanted = evaluate(after.getKernel(), inputs);
    for (double value : wanted.o.data)
      if (!std::isfinite(value))
        return std::string("a masked NaN shows in the output");
    for (int64_t i = 0; i < 11; ++i)
      if (got.scores.data[i * 11 + 4] != -infinity)
        return std::string("a masked pair has a score");
    return compareAll(got, wanted, 0);
  });
}

/// The accuracy rule accepts the reference rounded to f32, and an error of
/// twice what it allows is found, where it is. The formula is written again
/// here, and only here, so that the rule cannot change unseen.
static void testAccuracyRule(TestRun &run) {
  run.test("properties/accuracy_rule", []() -> std::string {
    Spec spec("posenc.kernel @rule heads(2) head_dim(4) mask(#posenc.causal)");
    ReferenceOutputs reference =
        evaluate(spec.getKernel(),
                 makeInputs(spec.getKernel(), {1, 2, 2, 9, 7, 4, 4}, 12));
    std::vector<float> o(reference.o.data.begin(), reference.o.data.end());
    std::vector<float> lse(reference.lse.data.begin(),
                           reference.lse.data.end());
    Accuracy rounded = measureOutput(reference, o);
    if (!rounded.isAccurate() || rounded.ratio == 0)
      return rounded.describe("rounded o");
    if (Accuracy accuracy = measureLse(reference, lse); !accuracy.isAccurate())
      return accuracy.describe("rounded lse");
    size_t at = (1 * 9 + 6) * 4 + 2;
    double allowed = (2e-6 + std::ldexp(8, -24) * reference.maxScore.data[15]) *
                     reference.maxValue.data[15];
    o[at] += 2 * allowed;
    Accuracy wrong = measureOutput(reference, o);
    if (std::abs(wrong.ratio - 2) > 0.2 ||
        wrong.index != SmallVector<int64_t, 4>{0, 1, 6, 2})
      return wrong.describe("o with an error");
    o = {reference.o.data.begin(), reference.o.data.end()};
    o[0] = 1e-30f; // a row without keys must be exact
    if (measureOutput(reference, o).isAccurate())
      return "a row without keys may be inexact";
    o[0] = std::nanf("");
    if (measureOutput(reference, o).isAccurate())
      return "NaN is accepted";
    lse[0] = -1e30f;
    if (measureLse(reference, lse).isAccurate())
      return "a finite lse is accepted where there is no key";
    return "";
  });
}

void posenc::numerics::testProperties(TestRun &run) {
  testPermutedKeys(run);
  testPrefix(run);
  testShards(run);
  testKeyShards(run);
  testAlignments(run);
  testExtremes(run);
  testOperandWindow(run);
  testEmptyRows(run);
  testStickyMask(run);
  testAccuracyRule(run);
}
