// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of golden.json that are rotary, remapped, masked or normalised, and
// numbers of published configurations.
#include "SchemeTest.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace posenc;
using namespace llvm;

namespace {

struct Row {
  const char *name, *clauses;
};

const Row rows[] = {
    {"rope_proportional_half",
     "mask(#posenc.causal) encode [#posenc.rope<scaling = "
     "#posenc.proportional<fraction = 0.5>>]"},
    {"rope_pi2_half", "mask(#posenc.causal) encode [#posenc.rope<scaling = "
                      "#posenc.linear_scaling<factor = 2.0>>]"},
    {"rope_ntk2_half", "mask(#posenc.causal) encode [#posenc.rope<scaling = "
                       "#posenc.ntk<alpha = 2.0>>]"},
    {"rope_yarn_half",
     "mask(#posenc.causal) encode [#posenc.rope<scaling = #posenc.yarn<factor "
     "= 2.0, original_length = 8>>]"},
    {"rope_llama3_half",
     "mask(#posenc.causal) encode [#posenc.rope<base = 100.0, scaling = "
     "#posenc.llama3<original_length = 100>>]"},
    {"rope_longrope_half",
     "mask(#posenc.causal) encode [#posenc.rope<scaling = "
     "#posenc.longrope<long_factor = [1.5, 3.0], factor = 4.0, "
     "original_length = 8, select = long>>]"},
    {"xpos_interleaved",
     "mask(#posenc.causal) encode [#posenc.xpos<scale_base = 4.0>]"},
    {"swa2", "mask(#posenc.window<left = 1>)"},
    {"chunk2", "mask(#posenc.chunk<size = 2>)"},
    {"keynorm", "mask(#posenc.causal) encode [#posenc.key_norm]"},
    {"qknorm_l2_g10",
     "mask(#posenc.causal) scale(10.0) encode [#posenc.qk_norm<kind = l2, "
     "epsilon = 0.0>]"},
    {"llama4_temp",
     "mask(#posenc.causal) encode [#posenc.query_temperature<floor_scale = "
     "2.0>]"},
    {"logn", "mask(#posenc.causal) encode [#posenc.log_n<length = 3>]"},
    {"rerope_w2", "mask(#posenc.causal) encode [#posenc.rerope<window = 2>]"},
    {"leaky_rerope_w2_k2",
     "mask(#posenc.causal) encode [#posenc.leaky_rerope<window = 2, leak = "
     "2.0>]"},
    {"selfextend_g2_w2",
     "mask(#posenc.causal) encode [#posenc.self_extend<group = 2, window = "
     "2>]"},
    {"mrope_sections_1_1_0",
     "mask(#posenc.causal) positions(#posenc.position_tensor<axes = 3>) encode "
     "[#posenc.mrope<sections = [1, 1, 0]>]"},
};

/// [h][n][c] to [1, h, n, c]; null is a masked pair.
RealTensor readArray(const json::Array &heads) {
  RealTensor tensor;
  int64_t count = heads[0].getAsArray()->size();
  for (const json::Value &head : heads)
    for (const json::Value &row : *head.getAsArray()) {
      tensor.shape = {1, static_cast<int64_t>(heads.size()), count,
                      static_cast<int64_t>(row.getAsArray()->size())};
      for (const json::Value &value : *row.getAsArray())
        tensor.data.push_back(value.getAsNumber().value_or(-INFINITY));
    }
  return tensor;
}

class GoldenTest : public SchemeTest {};

TEST_F(GoldenTest, Rows) {
  auto buffer = MemoryBuffer::getFile(POSENC_GOLDEN);
  ASSERT_TRUE(static_cast<bool>(buffer));
  json::Value file = cantFail(json::parse((*buffer)->getBuffer()));
  const json::Object &golden = *file.getAsObject();
  const json::Object &given = *golden.getObject("_inputs");
  H = Hkv = 2, D = Dv = 4, Lq = Lk = 5;
  inputs.q = readArray(*given.getArray("Q"));
  inputs.k = readArray(*given.getArray("K"));
  inputs.v = readArray(*given.getArray("V"));
  for (const Row &row : rows) {
    SCOPED_TRACE(row.name);
    const json::Object *wanted = golden.getObject(row.name);
    ASSERT_NE(wanted, nullptr);
    if (const json::Array *tokens = wanted->getArray("pos_thw")) {
      std::vector<int64_t> values;
      for (int axis = 0; axis < 3; ++axis)
        for (const json::Value &token : *tokens)
          values.push_back(*(*token.getAsArray())[axis].getAsInteger());
      ASSERT_EQ(values.size(), 15u);
      positions("positions", {3, 1, 5}, values);
    }
    ReferenceOutputs got = evaluate(row.clauses), numbers;
    numbers.scores = readArray(*wanted->getArray("logits"));
    numbers.o = readArray(*wanted->getArray("out"));
    expectSame(got, numbers);
  }
}

/// Frequencies of published models (encodings.md D6, D8), by pair.
TEST_F(GoldenTest, PublishedFrequencies) {
  auto expect = [&](const std::string &rope, int headDim,
                    std::initializer_list<std::pair<int, double>> numbers) {
    Vector got = frequencies("encode [#posenc.rope<" + rope + ">]", headDim);
    ASSERT_EQ(got.size(), static_cast<size_t>(headDim / 2));
    for (auto [pair, w] : numbers)
      EXPECT_NEAR(got[pair] / w, 1, 5e-9) << rope << " pair " << pair;
  };
  expect("scaling = #posenc.yarn<factor = 16.0, original_length = 4096>", 128,
         {{20, .0562341325},
          {33, .00460043547},
          {45, 1.51771605e-4},
          {46, 8.33450895e-5}});
  expect("base = 5.0e5, scaling = #posenc.llama3", 128,
         {{28, .00321144599},
          {29, .00216657076},
          {31, 8.56751413e-4},
          {34, 1.78507813e-4},
          {35, 9.55621235e-5}});
  // GPT-OSS, with and without truncation: five digits are published.
  Vector exact = frequencies("encode [#posenc.rope<base = 150000.0, scaling = "
                             "#posenc.yarn<preset = \"gpt-oss\">>]",
                             64);
  EXPECT_NEAR(exact[17], 1.2932e-4, 5e-9);
  Vector truncated =
      frequencies("encode [#posenc.rope<base = 150000.0, scaling = "
                  "#posenc.yarn<factor = 32.0, original_length = 4096>>]",
                  64);
  EXPECT_NEAR(truncated[17], 2.2795e-4, 5e-9);
  // Half of the frequencies of a proportional rotation.
  EXPECT_EQ(frequencies("encode [#posenc.rope<scaling = "
                        "#posenc.proportional<fraction = 0.5>>]",
                        8)[2],
            0);
}

TEST_F(GoldenTest, PublishedFactors) {
  // DeepSeek-V3: heads of 192 channels, 64 of which turn.
  EXPECT_NEAR(dotScale("encode [#posenc.rope<dims = 64, placement = last, "
                       "factor_site = scale, scaling = #posenc.yarn<preset = "
                       "\"deepseek-v3\">>]",
                       192),
              .135233779, 5e-10);
  make(1, 1, 1, 1, 1, 2);
  inputs.q.data = inputs.k.data = {1, 0};
  auto squaredFactor = [&](const std::string &scaling) {
    return evaluate("scale(1.0) encode [#posenc.rope<scaling = #posenc." +
                    scaling + ">]")
        .scores.data[0];
  };
  EXPECT_NEAR(std::sqrt(squaredFactor("yarn<factor = 16.0>")), 1.277259, 5e-7);
  EXPECT_NEAR(std::sqrt(squaredFactor(
                  "longrope<short_factor = [1.0], long_factor = [1.0], factor "
                  "= 32.0, original_length = 4096>")),
              1.190238, 5e-7);
  // Llama 4's temperatures.
  for (auto [position, wanted] : {std::pair(8190, 1.0),
                                  {8191, 1.0693147},
                                  {16383, 1.1098612},
                                  {81919, 1.2397895}}) {
    positions("positions", {1, 1}, {position});
    EXPECT_NEAR(evaluate("scale(1.0) positions(#posenc.position_tensor) encode "
                         "[#posenc.query_temperature]")
                    .scores.data[0],
                wanted, 5e-8);
  }
}

} // namespace
