// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of published configurations.
#include "SchemeTest.h"

using namespace posenc;
using namespace llvm;

namespace {

class PublishedTest : public SchemeTest {};

/// Frequencies of published models (encodings.md D6, D8), by pair.
TEST_F(PublishedTest, PublishedFrequencies) {
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

TEST_F(PublishedTest, PublishedFactors) {
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
