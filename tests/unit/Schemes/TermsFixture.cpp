// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TermsFixture.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

using namespace posenc;

TermsTest::TermsTest() {
  context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
}

void TermsTest::make(const std::string &text, Extents extents) {
  e = extents;
  clauses = text;
  auto number = [](int n) { return "(" + std::to_string(n) + ") "; };
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(
      "posenc.kernel @k heads" + number(e.H) + "kv_heads" + number(e.Hkv) +
          "head_dim" + number(e.D) + "value_dim" + number(e.Dv) + text,
      &context);
  if (!parsed)
    llvm::report_fatal_error("does not parse: " + llvm::Twine(text));
  module = llvm::cantFail(cloneExpanded(*parsed));
  auto fill = [&](RealTensor &tensor, llvm::ArrayRef<int64_t> shape) {
    tensor.shape.assign(shape.begin(), shape.end());
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    tensor.data.clear();
    for (int64_t n = 0; n < count; ++n)
      tensor.data.push_back(static_cast<int>(random() % 2048) / 1024.0 - 1);
  };
  inputs = {};
  fill(inputs.q, {e.B, e.H, e.Lq, e.D});
  fill(inputs.k, {e.B, e.Hkv, e.Lk, e.D});
  fill(inputs.v, {e.B, e.Hkv, e.Lk, e.Dv});
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  for (const OperandTensor &tensor : kernel.getOperandTensors()) {
    if (tensor.isPositions) {
      IntTensor &to = inputs.positions[tensor.name];
      to.shape = {e.B, e.Lk};
      if (tensor.positionAxes > 1)
        to.shape.insert(to.shape.begin(), tensor.positionAxes);
      for (int64_t n = 0; n < tensor.positionAxes * e.B * e.Lk; ++n)
        to.data.push_back(random() % 5);
      continue;
    }
    llvm::SmallVector<int64_t> shape;
    for (TableAxis axis : tensor.axes) {
      const std::pair<TableAxis, int64_t> known[] = {
          {TableAxis::row, tensor.rows},   {TableAxis::head, e.H},
          {TableAxis::query, e.Lq},        {TableAxis::key, e.Lk},
          {TableAxis::batch, e.B},         {TableAxis::channel, tensor.channels}};
      for (auto [which, extent] : known)
        if (which == axis)
          shape.push_back(extent);
    }
    fill(inputs.tables[tensor.name], shape);
  }
}

void TermsTest::evaluate() {
  ReferenceOptions options;
  options.scores = true;
  got = llvm::cantFail(evaluateReference(
      *module->getOps<KernelOp>().begin(), inputs, options));
}

double TermsTest::dot(int b, int h, int i, int j) const {
  double sum = 0;
  for (int c = 0; c < e.D; ++c)
    sum += q(b, h, i, c) * k(b, h, j, c);
  return sum;
}

double TermsTest::t(const std::string &name, int i, int j, int l) const {
  const RealTensor &tensor = inputs.tables.find(name)->second;
  int64_t index = i;
  if (j >= 0)
    index = index * tensor.shape[1] + j;
  if (l >= 0)
    index = index * tensor.shape[2] + l;
  return tensor.data.at(index);
}

static void expectNear(double got, double wanted, const std::string &where) {
  if (std::isinf(wanted) || std::isinf(got))
    EXPECT_EQ(got, wanted) << where;
  else
    EXPECT_NEAR(got, wanted, 1e-12 * std::max(1.0, std::abs(wanted))) << where;
}

void TermsTest::expectPairs(const Score &score) {
  for (int b = 0; b < e.B; ++b)
    for (int h = 0; h < e.H; ++h)
      for (int i = 0; i < e.Lq; ++i)
        for (int j = 0; j < e.Lk && !HasFailure(); ++j)
          expectNear(got.scores.data[((b * e.H + h) * e.Lq + i) * e.Lk + j],
                     score(b, h, i, j),
                     clauses + ": score at " + std::to_string(b) + " " +
                         std::to_string(h) + " " + std::to_string(i) + " " +
                         std::to_string(j));
}

void TermsTest::expectOutput(const Output &output) {
  for (int b = 0; b < e.B; ++b)
    for (int h = 0; h < e.H; ++h)
      for (int i = 0; i < e.Lq; ++i)
        for (int c = 0; c < e.Dv && !HasFailure(); ++c)
          expectNear(got.o.data[((b * e.H + h) * e.Lq + i) * e.Dv + c],
                     output(b, h, i, c),
                     clauses + ": output at " + std::to_string(b) + " " +
                         std::to_string(h) + " " + std::to_string(i) + " " +
                         std::to_string(c));
}

TermsTest::Output TermsTest::softmax(const Score &score,
                                     std::function<double(int)> sink) {
  return [this, score, sink](int b, int h, int i, int c) {
    double sum = sink ? std::exp(sink(h)) : 0, output = 0;
    for (int j = 0; j < e.Lk; ++j) {
      double weight = std::exp(score(b, h, i, j));
      sum += weight;
      output += weight * v(b, h, j, c);
    }
    return sum == 0 ? 0 : output / sum;
  };
}

void TermsTest::expectScores(const Score &score) {
  evaluate();
  expectPairs(score);
  // Each score would be computed for each channel.
  std::vector<double> known(got.scores.data);
  expectOutput(softmax([&](int b, int h, int i, int j) {
    return known[((b * e.H + h) * e.Lq + i) * e.Lk + j];
  }));
}
