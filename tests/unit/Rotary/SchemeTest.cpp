// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SchemeTest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

using namespace posenc;

Vector posenc::turn(Vector x, bool half, int first, int pairs,
                    std::function<double(int)> angle,
                    std::function<double(int)> m) {
  for (int k = 0; k < pairs; ++k) {
    double &a = x[first + (half ? k : 2 * k)];
    double &b = x[first + (half ? k + pairs : 2 * k + 1)];
    double c = std::cos(angle(k)), s = std::sin(angle(k)), old = a;
    a = m(k) * (old * c - b * s);
    b = m(k) * (old * s + b * c);
  }
  return x;
}

double posenc::dot(const Vector &a, const Vector &b) {
  double sum = 0;
  for (size_t c = 0; c < a.size(); ++c)
    sum += a[c] * b[c];
  return sum;
}

SchemeTest::SchemeTest() {
  context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
}

RealTensor SchemeTest::makeRandom(std::vector<int64_t> shape) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t n = 0; n < count; ++n)
    tensor.data.push_back(static_cast<int>(random() % 4096) / 1024.0 - 2);
  return tensor;
}

void SchemeTest::make(int batch, int heads, int kvHeads, int queries, int keys,
                      int headDim, int valueDim) {
  B = batch, H = heads, Hkv = kvHeads, Lq = queries, Lk = keys, D = headDim,
  Dv = valueDim;
  inputs = {};
  inputs.q = makeRandom({B, H, Lq, D});
  inputs.k = makeRandom({B, Hkv, Lk, D});
  inputs.v = makeRandom({B, Hkv, Lk, Dv});
}

RealTensor &SchemeTest::table(llvm::StringRef name,
                              std::vector<int64_t> shape) {
  return inputs.tables[name] = makeRandom(std::move(shape));
}

IntTensor &SchemeTest::positions(llvm::StringRef name,
                                 std::vector<int64_t> shape,
                                 std::vector<int64_t> values) {
  IntTensor &tensor = inputs.positions[name];
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.data = std::move(values);
  return tensor;
}

Vector SchemeTest::query(int b, int h, int i) const {
  auto from = inputs.q.data.begin() + ((b * H + h) * Lq + i) * D;
  return Vector(from, from + D);
}
Vector SchemeTest::key(int b, int h, int j) const {
  auto from = inputs.k.data.begin() + ((b * Hkv + h * Hkv / H) * Lk + j) * D;
  return Vector(from, from + D);
}

mlir::OwningOpRef<mlir::ModuleOp> SchemeTest::expand(const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    llvm::report_fatal_error("a test's specification does not parse: " +
                             llvm::Twine(text));
  return llvm::cantFail(cloneExpanded(*module));
}

ReferenceOutputs SchemeTest::evaluate(llvm::StringRef clauses) {
  auto module =
      expand("posenc.kernel @k heads(" + std::to_string(H) + ") kv_heads(" +
             std::to_string(Hkv) + ") head_dim(" + std::to_string(D) +
             ") value_dim(" + std::to_string(Dv) + ") " + clauses.str());
  ReferenceOptions options;
  options.scores = true;
  return llvm::cantFail(
      evaluateReference(*module->getOps<KernelOp>().begin(), inputs, options));
}

static void expectNear(double got, double wanted, double tolerance,
                       const std::string &where) {
  if (std::isinf(wanted) || std::isinf(got)) {
    EXPECT_EQ(got, wanted) << where;
    return;
  }
  EXPECT_NEAR(got, wanted, tolerance * std::max(1.0, std::abs(wanted)))
      << where;
}

void SchemeTest::expectScores(
    llvm::StringRef clauses,
    std::function<double(int, int, int, int)> formula) {
  ReferenceOutputs got = evaluate(clauses);
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < Lq; ++i) {
        int row = (b * H + h) * Lq + i;
        std::string where = clauses.str() + " at [" + std::to_string(b) + ", " +
                            std::to_string(h) + ", " + std::to_string(i) + "]";
        Vector weights(Lk), output(Dv);
        double sum = 0;
        for (int j = 0; j < Lk; ++j) {
          double score = formula(b, h, i, j);
          expectNear(got.scores.data[row * Lk + j], score, 1e-12,
                     where + " key " + std::to_string(j));
          sum += weights[j] = std::exp(score);
        }
        for (int j = 0; j < Lk; ++j)
          for (int c = 0; c < Dv && sum > 0; ++c)
            output[c] +=
                weights[j] / sum *
                inputs.v.data[((b * Hkv + h * Hkv / H) * Lk + j) * Dv + c];
        for (int c = 0; c < Dv; ++c)
          expectNear(got.o.data[row * Dv + c], output[c], 1e-11, where);
        if (HasFailure())
          return; // one row says enough
      }
}

void SchemeTest::expectSame(const ReferenceOutputs &got,
                            const ReferenceOutputs &wanted, double tolerance) {
  ASSERT_EQ(got.scores.data.size(), wanted.scores.data.size());
  for (size_t n = 0; n < got.scores.data.size() && !HasFailure(); ++n)
    expectNear(got.scores.data[n], wanted.scores.data[n], tolerance, "score");
  for (size_t n = 0; n < got.o.data.size() && !HasFailure(); ++n)
    expectNear(got.o.data[n], wanted.o.data[n], tolerance, "output");
}

Vector SchemeTest::frequencies(llvm::StringRef clauses, int headDim) {
  auto module = expand("posenc.kernel @k heads(1) head_dim(" +
                       std::to_string(headDim) + ") " + clauses.str());
  Vector result;
  module->walk([&](FreqsOp op) {
    if (result.empty())
      for (double w : op.getLaw().getFrequencies())
        result.push_back(w);
  });
  return result;
}

double SchemeTest::dotScale(llvm::StringRef clauses, int headDim) {
  auto module = expand("posenc.kernel @k heads(1) head_dim(" +
                       std::to_string(headDim) + ") " + clauses.str());
  double scale = 0;
  module->walk([&](DotOp op) { scale = op.getScale().convertToDouble(); });
  return scale;
}
