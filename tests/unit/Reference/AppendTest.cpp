// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that append to a cache, against formulas written by hand.
#include "posenc/Reference/Reference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace llvm;
using namespace posenc;

namespace {

constexpr int64_t heads = 2, dim = 4;

RealTensor make(ArrayRef<int64_t> shape, double seed) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i)
    tensor.data.push_back(std::sin(seed + 7.3 * i + 0.1 * i * i));
  return tensor;
}

class Append : public ::testing::Test {
protected:
  Append() {
    context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
  }

  /// Evaluates what fills the cache of a kernel with these clauses.
  Expected<AppendOutputs> run(const std::string &clauses) {
    std::string text =
        "posenc.kernel @k heads(4) kv_heads(2) head_dim(4) " + clauses;
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    expanded = cantFail(cloneExpanded(*module));
    for (KernelOp kernel : expanded->getOps<KernelOp>())
      if (kernel.isAppend())
        return evaluateAppend(kernel, inputs);
    return createStringError("no kernel fills the cache");
  }

  /// Channel c of a key that base 100 turns at a position.
  static double turn(const double *key, int64_t c, double position) {
    double angle = position * std::pow(100.0, -(c % 2) * 2 / 4.0);
    double a = key[c % 2], b = key[c % 2 + 2];
    return c < 2 ? a * std::cos(angle) - b * std::sin(angle)
                 : a * std::sin(angle) + b * std::cos(angle);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module, expanded;
  ReferenceInputs inputs;
};

TEST_F(Append, TurnsKeysWhereTheyAreStored) {
  inputs.k = make({2, heads, 3, dim}, 1);
  inputs.v = make({2, heads, 3, dim}, 2);
  inputs.kCache = make({2, heads, 6, dim}, 3);
  inputs.vCache = make({2, heads, 6, dim}, 4);
  inputs.positions["key_lengths"] = {{2}, {3, 5}};
  for (bool isEncoded : {true, false}) {
    Expected<AppendOutputs> outputs =
        run(std::string("keys(lengths) key_cache(") +
            (isEncoded ? "encoded" : "raw") +
            ") positions(#posenc.iota<offset = 10>) encode "
            "[#posenc.rope<base = 100.0>]");
    ASSERT_TRUE(bool(outputs)) << toString(outputs.takeError());
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t j = 0; j < 6; ++j)
          for (int64_t c = 0; c < dim; ++c) {
            int64_t at = ((b * heads + h) * 6 + j) * dim + c;
            int64_t token = j - (b ? 2 : 0);
            bool isNew = token >= 0 && token < 3;
            int64_t row = ((b * heads + h) * 3 + token) * dim;
            double key = inputs.kCache.data[at], value = inputs.vCache.data[at];
            if (isNew) {
              key = isEncoded ? turn(&inputs.k.data[row], c, 10.0 + j)
                              : inputs.k.data[row + c];
              value = inputs.v.data[row + c];
            }
            EXPECT_NEAR(key, outputs->kCache.data[at], isNew ? 1e-14 : 0);
            EXPECT_EQ(value, outputs->vCache.data[at]);
          }
  }
}

TEST_F(Append, FindsPagesAndPackedTokens) {
  // Sequence 0 appends key 4, in page 2; sequence 1 keys 1 and 2, in pages 3
  // and 0.
  inputs.k = make({4, heads, dim}, 1); // the last is no sequence's
  inputs.v = make({4, heads, dim}, 2);
  inputs.kCache = make({4, 2, heads, dim}, 3);
  inputs.vCache = make({4, 2, heads, dim}, 4);
  inputs.positions["cu_seqlens_q"] = {{3}, {0, 1, 3}};
  inputs.positions["key_lengths"] = {{2}, {5, 3}};
  inputs.positions["page_table"] = {{2, 3}, {1, 1, 2, 3, 0, 9}};
  inputs.positions["positions"] = {{4}, {7, -2, 30, 0}};
  Expected<AppendOutputs> outputs = run(
      "queries(packed) keys(paged) key_cache(encoded) "
      "positions(#posenc.position_tensor) encode [#posenc.rope<base = 100.0>]");
  ASSERT_TRUE(bool(outputs)) << toString(outputs.takeError());
  struct Row {
    int64_t token, page, row, position;
  };
  RealTensor keys = inputs.kCache, values = inputs.vCache;
  for (Row row : {Row{0, 2, 0, 7}, Row{1, 3, 1, -2}, Row{2, 0, 0, 30}})
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t c = 0; c < dim; ++c) {
        int64_t at = ((row.page * 2 + row.row) * heads + h) * dim + c;
        int64_t from = (row.token * heads + h) * dim;
        keys.data[at] =
            turn(&inputs.k.data[from], c, static_cast<double>(row.position));
        values.data[at] = inputs.v.data[from + c];
      }
  for (size_t x = 0; x < keys.data.size(); ++x)
    EXPECT_NEAR(keys.data[x], outputs->kCache.data[x], 1e-14);
  EXPECT_EQ(values.data, outputs->vCache.data);
}

TEST_F(Append, RefusesWhatDoesNotFit) {
  auto reset = [&] {
    inputs.k = make({1, heads, 3, dim}, 1);
    inputs.v = make({1, heads, 3, dim}, 2);
    inputs.kCache = make({1, heads, 6, dim}, 3);
    inputs.vCache = make({1, heads, 6, dim}, 4);
    inputs.positions["key_lengths"] = {{1}, {3}};
  };
  auto expectError = [&](StringRef part) {
    Expected<AppendOutputs> outputs = run("keys(lengths)");
    std::string error = outputs ? "" : toString(outputs.takeError());
    EXPECT_NE(std::string::npos, error.find(part.str())) << error;
  };
  reset();
  inputs.positions["key_lengths"].data[0] = 2;
  expectError("expected 'key_lengths' to count the new tokens of sequence 0, "
              "of which there are 3, but got 2");
  inputs.positions["key_lengths"].data[0] = 7;
  expectError("expected 'key_lengths' to be from 0 to 6");
  reset();
  inputs.vCache = make({1, heads, 5, dim}, 4);
  expectError("expected 'v_cache' to have the shape");
  reset();
  inputs.v = make({1, heads, 2, dim}, 4);
  expectError("expected 'v' to have the shape");
  reset();
  inputs.k = make({1, 3, 3, dim}, 1);
  expectError("expected the heads of 'k' to be among the kernel's 4");
}

TEST_F(Append, IsNoAttention) {
  ASSERT_TRUE(errorToBool(run("keys(lengths)").takeError()));
  for (KernelOp kernel : expanded->getOps<KernelOp>()) {
    std::string error =
        kernel.isAppend()
            ? toString(evaluateReference(kernel, inputs).takeError())
            : toString(evaluateAppend(kernel, inputs).takeError());
    EXPECT_NE(std::string::npos,
              error.find(kernel.isAppend() ? "appends to a cache" : "does not"))
        << error;
  }
}

} // namespace
