// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelTest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <cmath>

using namespace llvm;
using namespace posenc;

/// Numbers in (-1, 1) without a pattern that an error could hide in.
static RealTensor makeNumbers(ArrayRef<int64_t> shape, double seed) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i)
    tensor.data.push_back(std::sin(seed + 7.3 * i + 0.1 * i * i));
  return tensor;
}

static double read(const RealTensor &tensor, ArrayRef<int64_t> index) {
  EXPECT_EQ(index.size(), tensor.shape.size());
  int64_t offset = 0;
  for (auto [axis, i] : enumerate(index)) {
    EXPECT_TRUE(i >= 0 && i < tensor.shape[axis]);
    offset = offset * tensor.shape[axis] + i;
  }
  return tensor.data.at(offset);
}

KernelTest::KernelTest() {
  context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
  inputs.q = makeNumbers({batch, heads, queries, headDim}, 1);
  inputs.k = makeNumbers({batch, kvHeads, keys, headDim}, 2);
  inputs.v = makeNumbers({batch, kvHeads, keys, valueDim}, 3);
}

RealTensor &KernelTest::addTable(StringRef name, ArrayRef<int64_t> shape) {
  double seed = 4 + 1.7 * inputs.tables.size();
  return inputs.tables[name] = makeNumbers(shape, seed);
}

double KernelTest::q(int64_t b, int64_t h, int64_t i, int64_t c) const {
  return read(inputs.q, {b, h, i, c});
}
double KernelTest::k(int64_t b, int64_t h, int64_t j, int64_t c) const {
  return read(inputs.k, {b, h / (heads / kvHeads), j, c});
}
double KernelTest::v(int64_t b, int64_t h, int64_t j, int64_t c) const {
  return read(inputs.v, {b, h / (heads / kvHeads), j, c});
}
double KernelTest::table(StringRef name, ArrayRef<int64_t> index) const {
  return read(inputs.tables.find(name)->second, index);
}
double KernelTest::dot(int64_t b, int64_t h, int64_t i, int64_t j) const {
  double sum = 0;
  for (int64_t c = 0; c < headDim; ++c)
    sum += q(b, h, i, c) * k(b, h, j, c);
  return sum;
}

Expected<ReferenceOutputs> KernelTest::evaluate(StringRef operations) {
  std::string text =
      "posenc.kernel @k heads(4) kv_heads(2) head_dim(4) value_dim(3) {\n"
      "^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n" +
      operations.str() + "\nposenc.yield %o : !posenc.output\n}";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return createStringError("a test's kernel does not parse:\n" + text);
  ReferenceOptions options;
  options.scores = true;
  return evaluateReference(*module->getOps<KernelOp>().begin(), inputs,
                           options);
}

ReferenceOutputs KernelTest::evaluateOutput(StringRef operations) {
  Expected<ReferenceOutputs> outputs = evaluate(operations);
  if (outputs)
    return std::move(*outputs);
  ADD_FAILURE() << toString(outputs.takeError());
  return {};
}

ReferenceOutputs KernelTest::evaluateScores(StringRef operations) {
  std::string text = operations.str();
  text += "\n%p = posenc.normalize softmax %s"
          "\n%o = posenc.weighted_sum %p, %v";
  return evaluateOutput(text);
}

/// Compares [B, H, L, n].
static void expectTensor(
    const RealTensor &got,
    const std::function<double(int64_t, int64_t, int64_t, int64_t)> &wanted) {
  ASSERT_EQ(got.shape.size(), 4u);
  size_t element = 0;
  for (int64_t b = 0; b < got.shape[0]; ++b)
    for (int64_t h = 0; h < got.shape[1]; ++h)
      for (int64_t i = 0; i < got.shape[2]; ++i)
        for (int64_t x = 0; x < got.shape[3]; ++x) {
          double actual = got.data[element++], expected = wanted(b, h, i, x);
          if (actual == expected) // infinities too
            continue;
          ASSERT_NEAR(actual, expected, 1e-12)
              << "at [" << b << ", " << h << ", " << i << ", " << x << "]";
        }
}

void KernelTest::expectScores(StringRef operations,
                              const PairFunction &wanted) {
  expectTensor(evaluateScores(operations).scores, wanted);
}

void KernelTest::expectOutput(StringRef operations,
                              const OutputFunction &wanted) {
  expectTensor(evaluateOutput(operations).o, wanted);
}

std::string KernelTest::refusal(StringRef operations) {
  Expected<ReferenceOutputs> outputs = evaluate(operations);
  return outputs ? "accepted" : toString(outputs.takeError());
}
