// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings: the reference with formulas, compiled code with the
// reference.
#include "EmbedCall.h"
#include "TestRun.h"

#include "posenc/Analysis/InstructionSets.h"

#include "posenc/Reference/Accuracy.h"

#include "llvm/ADT/ScopeExit.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static std::string makeText(int64_t dim, StringRef clauses) {
  return ("posenc.embed @e dim(" + Twine(dim) + ") " + clauses).str();
}

/// Bodies by hand: vectors that no named encoding uses.
static const char *const bodies[] = {
    R"(posenc.embed @e dim(10) {
^bb0(%x: !posenc.tokens):
  %p = posenc.position token law(#posenc.iota<offset = -4>)
  %q = posenc.remap %p {
  ^bb0(%a: f64):
    %h = arith.constant 0.5 : f64
    %r = arith.mulf %a, %h : f64
    posenc.yield %r : f64
  }
  %f = posenc.freqs law(#posenc.geometric<base = 1.0e2, dims = 6>)
  %g = posenc.freqs_map() pairs(3) {
  ^bb0(%k: f64, %length: f64):
    %one = arith.constant 1.0 : f64
    %n = arith.addf %k, %one : f64
    %r = arith.divf %n, %length : f64
    posenc.yield %r : f64
  }
  %1 = posenc.rotate %x by(%p, %q) freqs(%f, %g) pairing(half) first_dim(3) : !posenc.tokens modulus {
  ^bb0(%k: f64, %a: f64):
    %m = arith.constant 1.25 : f64
    posenc.yield %m : f64
  }
  %w = posenc.table law(#posenc.operand<"mix.cos", rows = 3, channels = 4>) : !posenc.table<row, channel>
  %v = posenc.table law(#posenc.operand<"mix.sin", rows = 3, channels = 4>) : !posenc.table<row, channel>
  %2 = posenc.rotate %1 by(%p) freqs(%f) mix(%w, %v : !posenc.table<row, channel>, !posenc.table<row, channel>) pairing(interleaved) first_dim(0) : !posenc.tokens
  posenc.yield %2 : !posenc.tokens
})",
    R"(posenc.embed @e dim(7) {
^bb0(%x: !posenc.tokens):
  %p = posenc.position token law(#posenc.position_tensor<axes = 2, axis = 1>)
  %t = posenc.table_map channels(7) {
  ^bb0(%row: f64, %channel: f64):
    %m = arith.mulf %row, %channel : f64
    %s = math.sin %m : f64
    posenc.yield %s : f64
  }
  %g = posenc.table law(#posenc.operand<"gain", channels = 7>) : !posenc.table<channel>
  %c = posenc.table law(#posenc.constants<[0.5, 0.25, 1.0, 2.0, 3.0, 4.0], channels = 3>) : !posenc.table<row, channel>
  %o = posenc.table law(#posenc.operand<"own">) : !posenc.table<batch, key>
  %1 = posenc.vector_norm %x layer over(head) epsilon(1.0e-5) added : !posenc.tokens
  %2 = posenc.channel_scale %1, %g offset(1.0) : !posenc.tokens, !posenc.table<channel>
  %3 = posenc.vadd %2, %t at(%p) : !posenc.tokens, !posenc.table<row, channel>
  %4 = posenc.vector_map %3 : !posenc.tokens {
  ^bb0(%e: f64):
    %r = math.tanh %e : f64
    posenc.yield %r : f64
  }
  %5 = posenc.row_scale %4(%p) : !posenc.tokens, !posenc.coord {
  ^bb0(%a: f64):
    posenc.yield %a : f64
  }
  %6 = posenc.channel_map %5(%p, %c, %t, %o : !posenc.coord, !posenc.table<row, channel>, !posenc.table<row, channel>, !posenc.table<batch, key>) pairing(interleaved) {
  ^bb0(%e: f64, %k: f64, %part: f64, %a: f64, %row: f64, %wave: f64, %own: f64):
    %r1 = arith.mulf %e, %row : f64
    %r2 = arith.addf %r1, %wave : f64
    %r3 = arith.addf %r2, %k : f64
    %r4 = arith.subf %r3, %part : f64
    %r5 = arith.addf %r4, %own : f64
    posenc.yield %r5 : f64
  }
  %7 = posenc.vector_norm %6 l2 over(head) epsilon(1.0e-3) floor : !posenc.tokens
  %8 = posenc.vector_norm %7 rms over(head) epsilon(1.0e-3) added : !posenc.tokens
  posenc.yield %8 : !posenc.tokens
})"};

static void addMissing(EmbedInputs &inputs) {
  // A position that is not there counts as padding.
  auto found = inputs.tables.find("cape.positions");
  if (found != inputs.tables.end() && found->second.data.size() > 3)
    found->second.data[1] = std::numeric_limits<double>::quiet_NaN();
}

static std::string checkFormula(const EmbedCase &test, EmbedExtents extents,
                                const EmbedInputs &inputs,
                                const RealTensor &y) {
  EmbedFormula formula{inputs, extents.length, test.dim};
  RealTensor wanted = y;
  for (int64_t b = 0; b < extents.batch; ++b)
    for (int64_t t = 0; t < extents.length; ++t)
      for (int64_t c = 0; c < test.dim; ++c)
        wanted.data[(b * extents.length + t) * test.dim + c] =
            test.formula(formula, b, t, c);
  // Angles go to 1e5, frequencies differ in their last digit.
  return compare("y", y, wanted, 1e-10);
}

static std::string checkNative(const LoadedEmbed &loaded, EmbedExtents extents,
                               const EmbedInputs &inputs,
                               const RealTensor &reference, posenc_pool *pool) {
  std::vector<float> y, again;
  std::string problem = callEmbed(loaded, inputs, extents, {}, y);
  if (!problem.empty())
    return problem;
  if (Accuracy accuracy = measureEmbed(reference, y); !accuracy.isAccurate())
    return accuracy.describe("y");
  EmbedOptions options;
  options.padded = true;
  options.pool = pool;
  options.ownScratch = true;
  problem = callEmbed(loaded, inputs, extents, options, again);
  if (!problem.empty())
    return "with strides and threads: " + problem;
  if (!y.empty() && std::memcmp(y.data(), again.data(), y.size() * 4))
    return "the bits depend on strides or threads";
  return "";
}

static std::string testText(StringRef text, const std::string &isa,
                            const EmbedCase *test, int64_t longest,
                            int64_t limit, posenc_pool *pool) {
  LoadedEmbed loaded;
  std::string problem = loaded.load(text, isa);
  if (!problem.empty())
    return problem;
  for (EmbedExtents extents :
       {EmbedExtents{1, 1}, {2, 13}, {0, 3}, {2, 0}, {3, 45}, {2, 197}}) {
    extents.length = std::min(extents.length, longest);
    EmbedInputs inputs =
        makeEmbedInputs(loaded.embed, extents, limit, extents.length + 1);
    addMissing(inputs);
    std::string where = ("B = " + Twine(extents.batch) +
                         ", L = " + Twine(extents.length) + ": ")
                            .str();
    Expected<RealTensor> y = evaluateEmbed(loaded.embed, inputs);
    if (!y)
      return where + toString(y.takeError());
    if (test)
      problem = checkFormula(*test, extents, inputs, *y);
    if (problem.empty())
      problem = checkNative(loaded, extents, inputs, *y, pool);
    if (!problem.empty())
      return where + problem;
  }
  return "";
}

static std::string getPlainest() {
  return getTestedPlatform().isas.back().name.str();
}

/// Positions without a row fail both, with the same sentence but for the name.
static std::string testOutOfRange(StringRef clauses, StringRef wanted,
                                  int64_t length) {
  LoadedEmbed loaded;
  std::string problem = loaded.load(makeText(6, clauses), getPlainest());
  if (!problem.empty())
    return problem;
  EmbedExtents extents{2, length};
  EmbedInputs inputs = makeEmbedInputs(loaded.embed, extents, 2, 1);
  Expected<RealTensor> reference = evaluateEmbed(loaded.embed, inputs);
  if (reference)
    return "the reference takes a position out of range";
  std::string sentence = toString(reference.takeError());
  if (!StringRef(sentence).contains(wanted))
    return "the reference says: " + sentence;
  std::vector<float> y;
  problem = callEmbed(loaded, inputs, extents, {}, y);
  if (!StringRef(problem).contains("out of range") ||
      !StringRef(problem).contains(wanted))
    return "the call says: " + problem;
  return "";
}

/// Below n rows a hierarchical table is the table.
static std::string testBelowRows() {
  LoadedEmbed table, hierarchy;
  std::string problem =
      table.load(makeText(24, "encode [#posenc.learned_absolute<rows = 40, "
                              "name = \"t\">]"),
                 getPlainest());
  if (problem.empty())
    problem = hierarchy.load(
        makeText(24, "encode [#posenc.hierarchical<rows = 40, alpha = 0.3, "
                     "name = \"t\">]"),
        getPlainest());
  if (!problem.empty())
    return problem;
  EmbedExtents extents{2, 40};
  EmbedInputs inputs = makeEmbedInputs(table.embed, extents, 1, 7);
  std::vector<float> first, second;
  problem = callEmbed(table, inputs, extents, {}, first);
  if (problem.empty())
    problem = callEmbed(hierarchy, inputs, extents, {}, second);
  if (problem.empty() && first != second)
    return "the results differ";
  return problem;
}

/// Which of 32 elements seed 1234 keeps from offset 5 on, by the definition.
static std::string testMask() {
  LoadedEmbed loaded;
  std::string problem =
      loaded.load(makeText(32, "dropout(0.5)"), getPlainest());
  if (!problem.empty())
    return problem;
  EmbedExtents extents{1, 1};
  EmbedInputs inputs = makeEmbedInputs(loaded.embed, extents, 1, 0);
  inputs.x.data.assign(32, 1.0);
  inputs.seed = 1234;
  inputs.offset = 5;
  std::vector<float> y, rest;
  problem = callEmbed(loaded, inputs, extents, {}, y);
  if (!problem.empty())
    return problem;
  std::string mask;
  for (float element : y)
    mask += element == 0 ? '0' : element == 2 ? '1' : '?';
  if (mask != "01001111001010110111111101110100")
    return "the mask is " + mask;
  // A call that goes on where this one is half way.
  inputs.offset = 5 + 16;
  problem = callEmbed(loaded, inputs, extents, {}, rest);
  if (problem.empty() && !std::equal(y.begin() + 16, y.end(), rest.begin()))
    return "the offset does not go on";
  return problem;
}

void posenc::numerics::testEmbed(TestRun &run, ArrayRef<std::string> isas) {
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    return run.test("embed: pool", [] { return posenc_last_error(); });
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  for (const std::string &isa : isas) {
    for (const EmbedCase &test : getEmbedCases())
      runGuarded(run, "embed: " + test.name + ", " + isa, [&] {
        return testText(makeText(test.dim, test.clauses), isa, &test,
                        test.longest, test.limit, pool);
      });
    for (const char *body : bodies)
      runGuarded(run, "embed: a body by hand, " + isa,
                 [&] { return testText(body, isa, nullptr, 200, 9, pool); });
  }
  run.test("embed: no row of a table", [] {
    return testOutOfRange("encode [#posenc.learned_absolute<rows = 12>]",
                          "token 12 of batch entry 0 is at position 12, but "
                          "learned_absolute.table has the positions 0 .. 11",
                          13);
  });
  run.test("embed: a word that is no row", [] {
    return testOutOfRange(
        "encode [#posenc.complex_order<words = 1, frequency = dimension>]",
        "complex_order.amplitude has the positions 0 .. 0", 13);
  });
  run.test("embed: beyond the square of the rows", [] {
    return testOutOfRange("encode [#posenc.hierarchical<rows = 3>]",
                          "token 9 of batch entry 0 is at position 9", 10);
  });
  run.test("embed: hierarchical below its rows", testBelowRows);
  run.test("embed: a mask of dropout", testMask);
}
