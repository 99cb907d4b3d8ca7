// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold between runs of the reference, for every encoding that has the
// property and for random kernels.
#include "RandomSpecs.h"
#include "TestRun.h"

#include "posenc/Analysis/KernelTensors.h"

#include "support/EncodingList.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static constexpr int64_t headDim = 16;

static const std::vector<std::string> &getLines() {
  static const std::vector<std::string> lines =
      readEncodingList(POSENC_NUMERICS_ENCODINGS);
  return lines;
}

static std::string makeText(StringRef clauses) {
  std::string text = "posenc.kernel @k heads(4) head_dim(16) ";
  if (!clauses.contains("kv_heads("))
    text += "kv_heads(2) ";
  if (!clauses.contains("value_dim("))
    text += "value_dim(10) ";
  return text + clauses.str();
}

static ReferenceInputs makeInputs(KernelOp kernel, int64_t queryLen,
                                  int64_t keyLen, unsigned seed) {
  return makeInputs(kernel,
                    {2, int64_t(kernel.getHeads()), kernel.getNumKvHeads(),
                     queryLen, keyLen, int64_t(kernel.getHeadDim()),
                     kernel.getValueSize()},
                    seed, 0.5);
}

static StringRef getMnemonic(StringRef encoding) {
  encoding.consume_front("#posenc.");
  return encoding.take_while([](char c) { return isAlnum(c) || c == '_'; });
}

static bool isOneOf(StringRef encoding, ArrayRef<StringRef> mnemonics) {
  return is_contained(mnemonics, getMnemonic(encoding));
}

//===----------------------------------------------------------------------===//
// Shifted positions
//===----------------------------------------------------------------------===//

/// Whether the encoding sees more of positions than their distances.
static bool seesPositions(StringRef encoding) {
  static constexpr StringRef always[] = {
      "axial_rope", "mixed_rope",   "fope",  "self_extend",
      "fire",       "swin_bias",    "log_n", "query_temperature",
      "beit_bias",  "swin_v2_bias", "tupe"};
  // By what is stated: what is linear in the key's position, tokens of a grid,
  // first positions that are apart, laws of the length up to the last position.
  static constexpr StringRef stated[] = {"<form = key",     "hf-falcon",
                                         "grid_bias<width", "keep_first",
                                         "dynamic_",        "interpolate"};
  return isOneOf(encoding, always) || any_of(stated, [&](StringRef text) {
           return encoding.contains(text);
         });
}

/// Adding a constant to every position changes nothing, or something if the
/// encoding says so.
static void testShiftInvariance(TestRun &run) {
  for (const std::string &line : getLines()) {
    if (!getClause(line, "positions").empty())
      continue;
    run.test("properties/shift/" + line, [&]() -> std::string {
      auto evaluateAt = [&](StringRef offset) {
        StringRef align =
            StringRef(line).contains("top_left") ? ", align = top_left" : "";
        Spec spec(makeText(
            ("positions(#posenc.iota<offset = " + offset + align + ">) " + line)
                .str()));
        return evaluate(spec.getKernel(),
                        ::makeInputs(spec.getKernel(), 33, 65, 2));
      };
      std::string problem =
          compareAll(evaluateAt("206"), evaluateAt("4"), 1e-9);
      if (!any_of(getEncodings(line), seesPositions))
        return problem;
      return problem.empty() ? "nothing changes" : "";
    });
  }
}

//===----------------------------------------------------------------------===//
// Pairs of channels
//===----------------------------------------------------------------------===//

static constexpr StringRef rotations[] = {"rope", "axial_rope", "mixed_rope",
                                          "fope"};
static constexpr StringRef wrappedRotations[] = {"xpos", "mrope", "rerope",
                                                 "leaky_rerope", "self_extend"};
/// Encodings that do not care in which order channels are.
static constexpr StringRef blindEncodings[] = {
    "log_n",   "query_temperature", "alibi",          "t5_bias",
    "kerple",  "softcap",           "attention_sink", "softmax_off_by_one",
    "qk_norm", "linear_attention"};

/// `encoding` with a parameter more.
static std::string state(StringRef encoding, StringRef parameter) {
  size_t end = encoding.find('<');
  if (end == StringRef::npos)
    return (encoding + "<" + parameter + ">").str();
  return (encoding.take_front(end + 1) + parameter + ", " +
          encoding.drop_front(end + 1))
      .str();
}

static std::string setPairing(StringRef encoding, StringRef pairing) {
  std::string stated = ("pairing = " + pairing).str();
  size_t at = encoding.find("pairing = ");
  if (at != StringRef::npos) {
    StringRef rest = encoding.drop_front(at + strlen("pairing = "));
    rest = rest.drop_while([](char c) { return isAlpha(c); });
    return (encoding.take_front(at) + stated + rest).str();
  }
  if (isOneOf(encoding, rotations))
    return state(encoding, stated);
  at = encoding.find("rope = <");
  if (at == StringRef::npos)
    return state(encoding, "rope = <" + stated + ">");
  at += strlen("rope = <");
  return (encoding.take_front(at) + stated + ", " + encoding.drop_front(at))
      .str();
}

/// Moves the channels of half pairing to where interleaved pairing has them.
static RealTensor interleave(const RealTensor &from, int64_t first,
                             int64_t dims) {
  RealTensor to = from;
  for (size_t x = 0; x < from.data.size(); ++x) {
    int64_t c = static_cast<int64_t>(x % headDim) - first;
    if (c >= 0 && c < dims)
      to.data[x - c + (c < dims / 2 ? 2 * c : 2 * c - dims + 1)] = from.data[x];
  }
  return to;
}

/// Half pairing is interleaved pairing with the channels in another order.
static void testPairings(TestRun &run) {
  for (const std::string &line : getLines()) {
    std::vector<std::string> encodings = getEncodings(line);
    auto rotation = find_if(encodings, [](StringRef encoding) {
      return isOneOf(encoding, rotations) ||
             isOneOf(encoding, wrappedRotations);
    });
    // Gains and presets fix an order.
    bool isBlind = !StringRef(line).contains("preset") &&
                   !StringRef(line).contains("gain =");
    for (auto &encoding : encodings)
      isBlind &= &encoding == &*rotation || isOneOf(encoding, blindEncodings);
    if (rotation == encodings.end() || !isBlind)
      continue;
    run.test("properties/pairings/" + line, [&] {
      auto makeSpec = [&](StringRef pairing) {
        std::string text = line;
        text.replace(text.find(*rotation), rotation->size(),
                     setPairing(*rotation, pairing));
        return Spec(makeText(text));
      };
      StringRef stated = *rotation;
      auto dims = stated.split("dims = ").second.take_while(isDigit);
      int64_t count = headDim;
      dims.getAsInteger(10, count);
      int64_t first = stated.contains("placement = last") ? headDim - count : 0;
      Spec half = makeSpec("half"), interleaved = makeSpec("interleaved");
      ReferenceInputs inputs = ::makeInputs(half.getKernel(), 19, 31, 3);
      ReferenceInputs permuted = inputs;
      permuted.q = interleave(inputs.q, first, count);
      permuted.k = interleave(inputs.k, first, count);
      return compareAll(evaluate(interleaved.getKernel(), permuted),
                        evaluate(half.getKernel(), inputs), 1e-12);
    });
  }
}

//===----------------------------------------------------------------------===//
// Rows by themselves
//===----------------------------------------------------------------------===//

/// The call with one query and the first `keys` keys.
static ReferenceInputs takeRow(KernelOp kernel, const ReferenceInputs &inputs,
                               int64_t row, int64_t keys) {
  ReferenceInputs part = inputs;
  for (const KernelTensor &tensor : getKernelTensors(kernel)) {
    if (tensor.isOutput)
      continue;
    for (auto [axis, extent] : enumerate(tensor.extents)) {
      bool isQuery = extent.kind == ExtentKind::QueryLen;
      bool isKey =
          extent.kind == ExtentKind::KeyLen || extent.kind == ExtentKind::Len;
      if (!isQuery && !isKey)
        continue;
      int64_t begin = isQuery ? row : 0, end = isQuery ? row + 1 : keys;
      if (tensor.isInteger) {
        IntTensor &numbers = part.positions[tensor.name];
        numbers = slice(numbers, axis, begin, end);
        continue;
      }
      RealTensor &numbers = tensor.name == "q"   ? part.q
                            : tensor.name == "k" ? part.k
                            : tensor.name == "v" ? part.v
                                                 : part.tables[tensor.name];
      numbers = slice(numbers, axis, begin, end);
    }
  }
  return part;
}

/// Rows of a prefill are what decode steps give: rows whose place does not
/// depend on what is left out.
static std::string checkRows(StringRef text) {
  constexpr int64_t queryLen = 29, keyLen = 40;
  Spec spec(text);
  KernelOp kernel = spec.getKernel();
  ReferenceInputs inputs = ::makeInputs(kernel, queryLen, keyLen, 5);
  ReferenceOutputs prefill = evaluate(kernel, inputs);
  // A query sees nothing behind it, and the length of the call does not count.
  bool isCausal = text.contains("mask(#posenc.causal)") &&
                  !text.contains("top_left") && !text.contains("dynamic_") &&
                  !text.contains("longrope") && !text.contains("queries = ");
  std::vector<int64_t> rows = {text.contains("top_left") ? 0 : queryLen - 1};
  if (isCausal)
    rows = {0, 13, queryLen - 1};
  for (int64_t row : rows) {
    int64_t keys = isCausal ? row + 1 + keyLen - queryLen : keyLen;
    ReferenceOutputs decode =
        evaluate(kernel, takeRow(kernel, inputs, row, keys));
    ReferenceOutputs wanted;
    wanted.o = slice(prefill.o, 2, row, row + 1);
    wanted.scores = slice(slice(prefill.scores, 2, row, row + 1), 3, 0, keys);
    if (!prefill.lse.shape.empty())
      wanted.lse = slice(prefill.lse, 2, row, row + 1);
    std::string problem = compareAll(decode, wanted, 1e-13);
    if (!problem.empty())
      return ("row " + Twine(row) + ": " + problem).str();
  }
  return "";
}

static void testRows(TestRun &run) {
  for (const std::string &line : getLines())
    run.test("properties/rows/" + line,
             [&] { return checkRows(makeText(line)); });
  for (unsigned seed = 1; seed <= 60; ++seed)
    run.test("properties/rows/random/" + Twine(seed), [&] {
      SpecGenerator generator(seed);
      std::string text = generator.makeText();
      // Dropout counts queries from the last key, whatever the alignment.
      auto differs = [](StringRef text) {
        return Spec(text).getKernel().hasSequences() ||
               (text.contains("dropout") && text.contains("top_left"));
      };
      while (differs(text))
        text = generator.makeText();
      std::string problem = checkRows(text);
      return problem.empty() ? "" : problem + "\nof\n" + text;
    });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Encodings that add to scores are added in any order.
static void testSums(TestRun &run) {
  static constexpr StringRef sums[] = {
      "alibi",        "t5_bias",   "toeplitz_bias",  "dense_bias",
      "kerple",       "fire",      "sandwich",       "swin_bias",
      "swin_v2_bias", "beit_bias", "grid_bias",      "region_bias",
      "shaw",         "nezha",     "mtf_contextual", "fox"};
  std::vector<std::string> pieces;
  for (const std::string &line : getLines())
    for (std::string &encoding : getEncodings(line))
      if (isOneOf(encoding, sums) &&
          !StringRef(encoding).contains("weight = on"))
        pieces.push_back(std::move(encoding));
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SpecGenerator generator(seed);
    std::vector<std::string> list;
    auto makeSum = [&] {
      return makeText("value_dim(16) mask(#posenc.causal) encode [" +
                      join(list, ", ") + "]");
    };
    do {
      list.clear();
      for (int64_t count = 2 + generator.number(4); count > 0; --count)
        list.push_back(generator.choose<std::string>(pieces));
    } while (!isValid(makeSum()));
    run.test("properties/sums/" + join(list, ", "), [&] {
      Spec spec(makeSum());
      ReferenceInputs inputs = ::makeInputs(spec.getKernel(), 21, 34, seed);
      std::shuffle(list.begin(), list.end(), std::mt19937(seed));
      std::rotate(list.begin(), list.begin() + 1, list.end());
      return compareAll(evaluate(Spec(makeSum()).getKernel(), inputs),
                        evaluate(spec.getKernel(), inputs), 1e-12);
    });
  }
}

/// ALiBi at interpolated positions is ALiBi with smaller slopes (arXiv
/// 2310.13017).
static void testInterpolatedAlibi(TestRun &run) {
  run.test("properties/interpolated_alibi", [] {
    Spec remapped(R"(posenc.kernel @k heads(4) head_dim(16) {
    ^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
      %i = posenc.position query law(#posenc.iota)
      %j = posenc.position key law(#posenc.iota)
      %a = posenc.remap %i {
      ^bb0(%p: f64):
        %c = arith.constant 0.375 : f64
        %x = arith.mulf %p, %c : f64
        posenc.yield %x : f64
      }
      %b = posenc.remap %j {
      ^bb0(%p: f64):
        %c = arith.constant 0.375 : f64
        %x = arith.mulf %p, %c : f64
        posenc.yield %x : f64
      }
      %r = posenc.relation %a, %b law(#posenc.difference<query_minus_key>)
      %m = posenc.table law(#posenc.constants<[0.25, 0.0625, 0.015625, 0.00390625]>) : !posenc.table<head>
      %t = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
      ^bb0(%d: f64, %slope: f64):
        %x = arith.mulf %d, %slope : f64
        %y = arith.negf %x : f64
        posenc.yield %y : f64
      }
      %s = posenc.dot %q, %k scale(0.25)
      %u = posenc.add %s, %t
      %w = posenc.select %u mask(#posenc.causal)
      %p = posenc.normalize softmax %w
      %o = posenc.weighted_sum %p, %v
      posenc.yield %o : !posenc.output
    })");
    Spec scaled("posenc.kernel @k heads(4) head_dim(16) mask(#posenc.causal) "
                "encode [#posenc.alibi<slope_scale = 0.375>]");
    ReferenceInputs inputs = ::makeInputs(scaled.getKernel(), 33, 70, 6);
    return compareAll(evaluate(remapped.getKernel(), inputs),
                      evaluate(scaled.getKernel(), inputs), 1e-13);
  });
}

void posenc::numerics::testEncodingProperties(TestRun &run) {
  testShiftInvariance(run);
  testPairings(run);
  testRows(run);
  testSums(run);
  testInterpolatedAlibi(run);
}
