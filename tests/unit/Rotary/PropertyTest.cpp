// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold between schemes, whatever the numbers are.
#include "SchemeTest.h"

using namespace posenc;

namespace {

class PropertyTest : public SchemeTest {
protected:
  void expectEqual(const std::string &a, const std::string &b,
                   double tolerance = 1e-11) {
    SCOPED_TRACE(a + " and " + b);
    expectSame(evaluate(a), evaluate(b), tolerance);
  }
};

const char *const shiftInvariant[] = {
    "#posenc.rope",
    "#posenc.rope<scaling = #posenc.yarn<factor = 4.0>>",
    "#posenc.rope<dims = 4, pairing = interleaved, placement = last>",
    "#posenc.xpos<scale_base = 64.0>",
    "#posenc.mrope<sections = [1, 2, 1]>",
    "#posenc.rerope<window = 5>",
    "#posenc.leaky_rerope<window = 5, leak = 3.0>",
    "#posenc.rope_bias<form = outside>",
};

TEST_F(PropertyTest, ShiftsOfAllPositionsChangeNothing) {
  make(1, 2, 1, 17, 23, 8);
  for (const char *name :
       {"query_first", "query_second", "key_first", "key_second"})
    table(std::string("rope_bias.") + name, {2, 4});
  for (std::string encoding : shiftInvariant) {
    std::string rest = "encode [" + encoding + "]";
    expectEqual("mask(#posenc.causal) " + rest,
                "mask(#posenc.causal) positions(#posenc.iota<offset = 37>) " +
                    rest);
  }
}

/// Half pairing of permuted channels is interleaved pairing.
TEST_F(PropertyTest, HalfIsPermutedInterleaved) {
  for (const char *rest : {"", ", scaling = #posenc.yarn<factor = 4.0>"}) {
    make(2, 2, 1, 13, 19, 12);
    ReferenceOutputs half = evaluate(
        std::string("encode [#posenc.rope<pairing = half") + rest + ">]");
    for (RealTensor *tensor : {&inputs.q, &inputs.k}) {
      RealTensor old = *tensor;
      for (size_t row = 0; row < old.data.size(); row += 12)
        for (int k = 0; k < 6; ++k)
          for (int s = 0; s < 2; ++s)
            tensor->data[row + 2 * k + s] = old.data[row + 6 * s + k];
    }
    expectSame(evaluate(std::string("encode [#posenc.rope<pairing = "
                                    "interleaved") +
                        rest + ">]"),
               half, 1e-11);
  }
}

TEST_F(PropertyTest, MultimodalTextIsPlain) {
  make(2, 2, 1, 13, 19, 16);
  std::vector<int64_t> text;
  for (int n = 0; n < 3 * 2 * 19; ++n)
    text.push_back(n % 19);
  positions("positions", {3, 2, 19}, text);
  for (const char *layout : {"contiguous", "interleaved"}) {
    std::string rest = std::string("encode [#posenc.mrope<sections = [2, 3, "
                                   "3], layout = ") +
                       layout +
                       ", rope = <base = 1.0e6, scaling = "
                       "#posenc.linear_scaling<factor = 3.0>>>]";
    std::string plain = "encode [#posenc.rope<base = 1.0e6, scaling = "
                        "#posenc.linear_scaling<factor = 3.0>>]";
    expectEqual("positions(#posenc.position_tensor<axes = 3>) " + rest, plain);
    expectEqual(rest, plain);
  }
}

TEST_F(PropertyTest, XposDoesNotDependOnItsCentre) {
  make(1, 2, 2, 21, 30, 8);
  for (const char *centre : {"-7.5", "15.0", "100.0"})
    expectEqual("mask(#posenc.causal) encode [#posenc.xpos<scale_base = 64.0>]",
                std::string("mask(#posenc.causal) encode [#posenc.xpos<"
                            "scale_base = 64.0, centre = ") +
                    centre + ">]");
}

TEST_F(PropertyTest, RemapsAreRotationsInsideTheWindow) {
  make(1, 2, 1, 20, 24, 8);
  for (const char *remap :
       {"rerope<window = 24>", "leaky_rerope<window = 24>",
        "self_extend<window = 24>",
        "rerope<window = 24, rope = <scaling = #posenc.ntk<alpha = 4.0>>>"}) {
    std::string scaling = std::string(remap).find("ntk") == std::string::npos
                              ? ""
                              : "<scaling = #posenc.ntk<alpha = 4.0>>";
    expectEqual("mask(#posenc.causal) encode [#posenc." + std::string(remap) +
                    "]",
                "mask(#posenc.causal) encode [#posenc.rope" + scaling + "]");
  }
  // A leak of 1 counts every distance in full, groups of 1 too.
  for (const char *remap : {"leaky_rerope<window = 5, leak = 1.0>",
                            "self_extend<window = 5, group = 1>"})
    expectEqual("mask(#posenc.causal) encode [#posenc." + std::string(remap) +
                    "]",
                "mask(#posenc.causal) encode [#posenc.rope]");
}

/// p / s and w / s are the same: positions that are multiples of s.
TEST_F(PropertyTest, InterpolationScalesPositions) {
  make(1, 2, 1, 15, 15, 8);
  std::vector<int64_t> far;
  for (int n = 0; n < 15; ++n)
    far.push_back(4 * n);
  positions("positions", {1, 15}, far);
  expectEqual("positions(#posenc.position_tensor) encode [#posenc.rope<scaling "
              "= #posenc.linear_scaling<factor = 4.0>>]",
              "encode [#posenc.rope]");
}

/// The last row is that of a call with one query.
TEST_F(PropertyTest, DecodingIsTheLastRow) {
  for (const char *encoding :
       {"#posenc.rope<scaling = #posenc.dynamic_ntk<original_length = 9>>",
        "#posenc.self_extend<group = 3, window = 7>",
        "#posenc.log_n<length = 8>", "#posenc.xpos", "#posenc.qk_norm"}) {
    make(1, 2, 1, 19, 19, 8);
    std::string spec =
        std::string("mask(#posenc.causal) encode [") + encoding + "]";
    ReferenceOutputs all = evaluate(spec), last;
    RealTensor q = inputs.q;
    inputs.q.data.clear();
    for (int h = 0; h < 2; ++h) {
      auto row = q.data.begin() + (h * 19 + 18) * 8;
      inputs.q.data.insert(inputs.q.data.end(), row, row + 8);
      auto scores = all.scores.data.begin() + (h * 19 + 18) * 19;
      last.scores.data.insert(last.scores.data.end(), scores, scores + 19);
      auto output = all.o.data.begin() + (h * 19 + 18) * 3;
      last.o.data.insert(last.o.data.end(), output, output + 3);
    }
    inputs.q.shape[2] = Lq = 1;
    SCOPED_TRACE(encoding);
    expectSame(evaluate(spec), last);
  }
}

} // namespace
