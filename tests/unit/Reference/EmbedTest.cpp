// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings in the reference: random numbers, published values, and what
// is refused.
#include "posenc/Reference/Embed.h"
#include "posenc/Reference/Philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace posenc;

namespace {

using Words = std::array<uint32_t, 4>;

// kat_vectors of Random123, by the authors of Philox.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, NumbersAreWordsOfBlocks) {
  uint64_t seed = 0x299f31d0a4093822;
  // Block 5 of stream 7, word by word; offsets and numbers add up.
  Words words = philox({5, 0, 7, 0}, {0xa4093822, 0x299f31d0});
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(drawUniform(seed, 0, 7, 20 + i), words[i] * 0x1p-32);
    EXPECT_EQ(drawUniform(seed, 13, 7, 7 + i), words[i] * 0x1p-32);
  }
  // Beyond 2^64 they start again.
  EXPECT_EQ(drawUniform(seed, ~uint64_t{0}, 7, 21), words[0] * 0x1p-32);
}

class EmbedTest : public testing::Test {
protected:
  EmbedTest() {
    context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
  }

  /// y of an embedding of `dim` zeros at L tokens, with `inputs`.
  Expected<RealTensor> evaluate(int64_t dim, int64_t length,
                                const Twine &clauses) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        ("posenc.embed @e dim(" + Twine(dim) + ") " + clauses).str(), &context);
    auto expanded = cantFail(cloneExpanded(*module));
    inputs.x.shape = {1, length, dim};
    inputs.x.data.assign(length * dim, 0.0);
    return evaluateEmbed(*expanded->getOps<EmbedOp>().begin(), inputs);
  }
  std::vector<double> row(const Expected<RealTensor> &y, int64_t token) {
    int64_t dim = y->shape[2];
    return std::vector<double>(y->data.begin() + token * dim,
                               y->data.begin() + (token + 1) * dim);
  }
  void expectNear(ArrayRef<double> got, ArrayRef<double> wanted,
                  double tolerance) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], tolerance) << "element " << i;
  }

  mlir::MLIRContext context;
  EmbedInputs inputs;
};

TEST_F(EmbedTest, OneHotOfTheThirdPosition) {
  auto y = evaluate(4, 4, "encode [#posenc.one_hot]");
  ASSERT_TRUE(static_cast<bool>(y));
  expectNear(row(y, 3), {0, 0, 0, 1}, 0);
}

// Examples of four channels at position 1.
TEST_F(EmbedTest, Sinusoids) {
  auto paper = evaluate(4, 2,
                        "encode [#posenc.sinusoidal<layout = interleaved, "
                        "exponent = over_dim>]");
  ASSERT_TRUE(static_cast<bool>(paper));
  expectNear(row(paper, 1), {0.841471, 0.540302, 0.0099998, 0.99995}, 5e-7);
  auto signal = evaluate(4, 2,
                         "encode [#posenc.sinusoidal<layout = concatenated, "
                         "exponent = over_last>]");
  ASSERT_TRUE(static_cast<bool>(signal));
  expectNear(row(signal, 1), {0.841471, 0.0001, 0.540302, 1.0}, 5e-7);
}

// PE_p . PE_q = sum_k cos((p - q) w_k)
TEST_F(EmbedTest, ProductsOfSinusoidsDependOnDistance) {
  auto y = evaluate(10, 9,
                    "encode [#posenc.sinusoidal<layout = interleaved, "
                    "exponent = over_dim>]");
  ASSERT_TRUE(static_cast<bool>(y));
  auto dot = [&](int64_t p, int64_t q) {
    double sum = 0;
    for (int64_t c = 0; c < 10; ++c)
      sum += y->data[p * 10 + c] * y->data[q * 10 + c];
    return sum;
  };
  double wanted = 0;
  for (int64_t k = 0; k < 5; ++k)
    wanted += std::cos(3 * std::pow(10000.0, -2.0 * k / 10));
  EXPECT_NEAR(dot(5, 2), wanted, 1e-14);
  EXPECT_NEAR(dot(8, 5), wanted, 1e-14);
}

// r = 2, omega = 0.5 at p = pi is 2 exp(i pi / 2); positions are integers, so
// that omega is pi / 2 at p = 1 here.
TEST_F(EmbedTest, ComplexWords) {
  inputs.positions["complex_order.ids"] = {{1, 2}, {0, 0}};
  inputs.tables["complex_order.amplitude"] = {{1, 1}, {2}};
  inputs.tables["complex_order.frequency"] = {{1}, {std::acos(-1.0) / 2}};
  auto y = evaluate(2, 2,
                    "encode [#posenc.complex_order<words = 1, frequency = "
                    "global>]");
  ASSERT_TRUE(static_cast<bool>(y));
  expectNear(row(y, 0), {2, 0}, 0);
  expectNear(row(y, 1), {0, 2}, 1e-15);
}

TEST_F(EmbedTest, HierarchyOfThreeRows) {
  inputs.tables["hierarchical.table"] = {{3, 1}, {1, 2, 4}};
  auto y = evaluate(1, 9, "encode [#posenc.hierarchical<rows = 3>]");
  ASSERT_TRUE(static_cast<bool>(y));
  EXPECT_EQ(y->data[0], 1);
  EXPECT_EQ(y->data[1], 2);
  EXPECT_EQ(y->data[2], 4);
  EXPECT_NEAR(y->data[4], 2.6666667, 5e-8);
}

TEST_F(EmbedTest, PositionsOutsideTables) {
  inputs.tables["learned_absolute.table"] = {{2, 1}, {0, 0}};
  auto y = evaluate(1, 3, "encode [#posenc.learned_absolute<rows = 2>]");
  ASSERT_FALSE(static_cast<bool>(y));
  EXPECT_EQ(toString(y.takeError()),
            "token 2 of batch entry 0 is at position 2, but "
            "learned_absolute.table has the positions 0 .. 1");
}

TEST_F(EmbedTest, Shapes) {
  const char *clauses = "encode [#posenc.learned_absolute<rows = 2>]";
  auto missing = evaluate(3, 2, clauses);
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_EQ(toString(missing.takeError()),
            "expected numbers for the operand 'learned_absolute.table', but "
            "got none");
  inputs.tables["learned_absolute.table"] = {{3, 2}, {0, 0, 0, 0, 0, 0}};
  auto turned = evaluate(3, 2, clauses);
  ASSERT_FALSE(static_cast<bool>(turned));
  EXPECT_EQ(toString(turned.takeError()),
            "expected 'learned_absolute.table' to be f32 [2, 3], with B and L "
            "as the tensors before, but got [3, 2]");
}

} // namespace
