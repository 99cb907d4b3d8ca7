// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that the native tests compile.
#include "NativeSpecs.h"

#include "Fixture.h"
#include "Pairwise.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace posenc::numerics;

namespace {
struct Encoding {
  const char *name;
  /// Clauses of a kernel; or, if it makes %t of %s, lines of a body. HALF is
  /// an even half of the head size, ALIGN the alignment of the mask, SCALE a
  /// scale that suits the head size.
  const char *text;
  bool needsCausalMask = false;
};
} // namespace

static const Encoding encodings[] = {
    {"none", ""},
    {"negative_scale", "scale(-0.25)"},
    {"rope_half", "encode [#posenc.rope]"},
    {"rope_interleaved",
     "encode [#posenc.rope<base = 5.0e5, pairing = interleaved>]"},
    {"rope_partial_first", "encode [#posenc.rope<dims = HALF>]"},
    {"rope_partial_last",
     "encode [#posenc.rope<dims = HALF, placement = last, pairing = "
     "interleaved>]"},
    {"rope_twice",
     "encode [#posenc.rope<base = 100, dims = HALF, pairing = interleaved>, "
     "#posenc.rope<name = \"second\", base = 1000, pairing = interleaved>]"},
    {"rope_positions",
     "positions(#posenc.position_tensor<align = ALIGN>) encode [#posenc.rope]"},
    {"rope_own_queries",
     "positions(#posenc.position_tensor<align = ALIGN, queries = "
     "\"query_positions\">) encode [#posenc.rope, #posenc.t5_bias<direction "
     "= bidirectional>]"},
    {"rope_offset",
     "positions(#posenc.iota<offset = 1000003, align = ALIGN>) encode "
     "[#posenc.rope<base = 100>]"},
    {"alibi_causal", "encode [#posenc.alibi]", true},
    {"alibi_causal_no_lse", "no_lse encode [#posenc.alibi]", true},
    {"alibi_symmetric", "encode [#posenc.alibi<form = symmetric>]"},
    {"alibi_positions",
     "positions(#posenc.position_tensor<align = ALIGN>) encode "
     "[#posenc.alibi<form = symmetric>]"},
    {"t5_causal",
     "scale(1.0) encode [#posenc.t5_bias<buckets = 32, max_distance = 128>]"},
    {"t5_bidirectional",
     "scale(1.0) encode [#posenc.t5_bias<direction = bidirectional>]"},
    {"t5_positions", "positions(#posenc.position_tensor<align = ALIGN>) encode "
                     "[#posenc.t5_bias<direction = bidirectional>]"},
    {"toeplitz_key_minus_query",
     "encode [#posenc.toeplitz_bias<max_distance = 40>]"},
    {"toeplitz_query_minus_key",
     "encode [#posenc.toeplitz_bias<max_distance = 600, orientation = "
     "query_minus_key>]"},
    {"dense_heads", "encode [#posenc.dense_bias]"},
    {"dense_one_head", "encode [#posenc.dense_bias<name = \"one\">]"},
    {"dense_batches", "encode [#posenc.dense_bias<batch = on>]"},
    {"alibi_slopes",
     "encode [#posenc.alibi<form = symmetric, slopes = operands>]"},
    {"rope_alibi_dense",
     "encode [#posenc.rope, #posenc.alibi<form = symmetric>, "
     "#posenc.dense_bias]"},
    {"rope_t5_toeplitz",
     "encode [#posenc.rope<pairing = interleaved>, #posenc.t5_bias, "
     "#posenc.toeplitz_bias<max_distance = 63>]"},
    {"log_bias", R"(
    %b = posenc.bias(%r) : !posenc.relation {
    ^bb0(%d: f64):
      %e = math.absf %d : f64
      %x = math.log1p %e : f64
      %y = arith.negf %x : f64
      posenc.yield %y : f64
    }
    %t = posenc.add %s, %b)"},
    {"row_dependent_bias", R"(
    %b = posenc.bias(%r, %i) : !posenc.relation, !posenc.coord {
    ^bb0(%d: f64, %p: f64):
      %e = math.absf %d : f64
      %f = math.absf %p : f64
      %one = arith.constant 1.0 : f64
      %g = arith.addf %f, %one : f64
      %x = arith.divf %e, %g : f64
      %limit = arith.constant 3.0 : f64
      %y = arith.minimumf %x, %limit : f64
      posenc.yield %y : f64
    }
    %t = posenc.add %s, %b)"},
    {"windowed_bias", R"(
    %b = posenc.bias(%r) : !posenc.relation {
    ^bb0(%d: f64):
      %low = arith.constant -1.0 : f64
      %high = arith.constant 20.0 : f64
      %zero = arith.constant 0.0 : f64
      %far = arith.constant -2.5 : f64
      %a = arith.cmpf ogt, %d, %low : f64
      %c = arith.cmpf olt, %d, %high : f64
      %near = arith.andi %a, %c : i1
      %y = arith.select %near, %zero, %far : f64
      posenc.yield %y : f64
    }
    %t = posenc.add %s, %b)"},
    {"row_and_column_tables", R"(
    %m = posenc.table law(#posenc.operand<"rows">) : !posenc.table<head, query>
    %n = posenc.table law(#posenc.operand<"columns">) : !posenc.table<key>
    %b = posenc.bias(%m, %n) : !posenc.table<head, query>, !posenc.table<key> {
    ^bb0(%x: f64, %y: f64):
      %z = arith.addf %x, %y : f64
      posenc.yield %z : f64
    }
    %t = posenc.add %s, %b)"},
    {"softcap", R"(
    %t = posenc.map %s() {
    ^bb0(%x: f64):
      %cap = arith.constant 5.0 : f64
      %y = arith.divf %x, %cap : f64
      %z = math.tanh %y : f64
      %w = arith.mulf %z, %cap : f64
      posenc.yield %w : f64
    })"},
    // The score is small beside the cap: all of it must be left.
    {"wide_softcap", R"(
    %t = posenc.map %s() {
    ^bb0(%x: f64):
      %cap = arith.constant 1.0e10 : f64
      %y = arith.divf %x, %cap : f64
      %z = math.tanh %y : f64
      %w = arith.mulf %z, %cap : f64
      posenc.yield %w : f64
    })"},
    {"rope_softcap_bias", R"(
    %f = posenc.freqs law(#posenc.geometric<base = 1.0e4, dims = HALF>)
    %q1 = posenc.rotate %q by(%i) freqs(%f) pairing(half) first_dim(0) : !posenc.query
    %k1 = posenc.rotate %k by(%j) freqs(%f) pairing(half) first_dim(0) : !posenc.key
    %s1 = posenc.dot %q1, %k1 scale(SCALE)
    %c = posenc.map %s1(%r) : !posenc.relation {
    ^bb0(%x: f64, %d: f64):
      %cap = arith.constant 0.125 : f64
      %y = arith.mulf %x, %cap : f64
      %z = math.tanh %y : f64
      %w = arith.divf %z, %cap : f64
      posenc.yield %w : f64
    }
    %table = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
    %b = posenc.bias(%table) : !posenc.table<head, query, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %t = posenc.add %c, %b)"},
    {"map_of_masked", R"(
    %table = posenc.table law(#posenc.operand<"bias">) : !posenc.table<query, key>
    %b = posenc.bias(%table) : !posenc.table<query, key> {
    ^bb0(%x: f64):
      posenc.yield %x : f64
    }
    %a = posenc.add %s, %b
    %t = posenc.map %a() {
    ^bb0(%x: f64):
      %y = math.tanh %x : f64
      posenc.yield %y : f64
    })"},
};

static const char *const body = R"({
  ^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
    %i = posenc.position query law(#posenc.iota<align = ALIGN>)
    %j = posenc.position key law(#posenc.iota<align = ALIGN>)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %s = posenc.dot %q, %k scale(SCALE)LINES
    %u = posenc.select %t mask(MASK)
    %p = posenc.normalize softmax %u
    %o = posenc.weighted_sum %p, %v
    posenc.yield %o : !posenc.output
  })";

std::vector<NativeSpec>
posenc::numerics::makeNativeSpecs(ArrayRef<std::string> isas, bool full) {
  constexpr std::pair<int64_t, int64_t> heads[] = {
      {1, 1}, {4, 4}, {4, 2}, {6, 1}};
  constexpr int64_t headDims[] = {2, 6, 16, 64, 80, 128, 256};
  constexpr int64_t valueDims[] = {0, 1, 24, 130}; // 0: as the head
  constexpr const char *masks[] = {"#posenc.full", "#posenc.causal",
                                   "#posenc.causal<top_left>"};
  enum { Heads, HeadDim, ValueDim, Mask, Name, Isa };
  size_t counts[] = {std::size(heads),     std::size(headDims),
                     std::size(valueDims), std::size(masks),
                     std::size(encodings), isas.size()};
  auto isValid = [](ArrayRef<size_t> row) {
    return row[Mask] != 0 || !encodings[row[Name]].needsCausalMask;
  };
  std::vector<std::vector<size_t>> rows = coverPairs(counts, isValid);
  if (full)
    for (size_t name = 0; name < counts[Name]; ++name)
      for (size_t dim = 0; dim < counts[HeadDim]; ++dim)
        for (size_t mask = 0; mask < counts[Mask]; ++mask) {
          size_t x = rows.size(); // the other choices take turns
          std::vector<size_t> row = {
              x % counts[Heads],  dim, x / 2 % counts[ValueDim], mask, name,
              x / 3 % counts[Isa]};
          if (isValid(row))
            rows.push_back(row);
        }

  std::vector<NativeSpec> specs;
  for (const std::vector<size_t> &row : rows) {
    NativeSpec spec;
    const Encoding &encoding = encodings[row[Name]];
    std::tie(spec.heads, spec.kvHeads) = heads[row[Heads]];
    spec.headDim = headDims[row[HeadDim]];
    spec.valueDim = row[ValueDim] ? valueDims[row[ValueDim]] : spec.headDim;
    spec.isa = isas[row[Isa]];
    StringRef mask = masks[row[Mask]];
    spec.hasPositions = StringRef(encoding.text).contains("position_tensor") &&
                        !StringRef(encoding.text).contains("queries = ");
    spec.name = (Twine(encoding.name) + "/" + mask.substr(8) +
                 "/H=" + Twine(spec.heads) + "/Hkv=" + Twine(spec.kvHeads) +
                 "/D=" + Twine(spec.headDim) + "/Dv=" + Twine(spec.valueDim) +
                 "/" + spec.isa)
                    .str();
    std::string text =
        ("posenc.kernel @kernel heads(" + Twine(spec.heads) + ") kv_heads(" +
         Twine(spec.kvHeads) + ") head_dim(" + Twine(spec.headDim) +
         ") value_dim(" + Twine(spec.valueDim) + ") ")
            .str();
    if (StringRef(encoding.text).contains("%t ="))
      text += replaceAll(body, "LINES", encoding.text);
    else
      text += std::string("mask(MASK) ") + encoding.text;
    int64_t half = std::max<int64_t>(2, spec.headDim / 4 * 2);
    text = replaceAll(text, "HALF", std::to_string(half));
    text = replaceAll(text, "SCALE", spec.headDim > 100 ? "0.09" : "0.3");
    text = replaceAll(text, "MASK", mask);
    text = replaceAll(text, "ALIGN",
                      mask.contains("top_left") ? "top_left" : "bottom_right");
    spec.text = std::move(text);
    specs.push_back(std::move(spec));
  }
  return specs;
}
