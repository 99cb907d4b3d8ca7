// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the reference refuses, and how it says so.
#include "posenc/Reference/Reference.h"

#include "posenc/Analysis/KernelTensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace posenc;

namespace {

RealTensor zeros(ArrayRef<int64_t> shape) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  tensor.data.resize(count);
  return tensor;
}

/// Arbitrary ones of magnitude 1.
RealTensor numbers(ArrayRef<int64_t> shape) {
  RealTensor tensor = zeros(shape);
  for (auto [i, number] : enumerate(tensor.data))
    number = std::sin(1 + 7.3 * i + 0.1 * i * i);
  return tensor;
}

class ReferenceTest : public testing::Test {
protected:
  ReferenceTest() {
    context.loadDialect<PosencDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
    inputs.q = zeros({2, 4, 3, 8});
    inputs.k = zeros({2, 2, 5, 8});
    inputs.v = zeros({2, 2, 5, 6});
  }

  /// What `inputs` are refused with by a kernel of these clauses.
  std::string refusal(StringRef clauses) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        ("posenc.kernel @k heads(4) kv_heads(2) head_dim(8) value_dim(6) " +
         clauses)
            .str(),
        &context);
    auto expanded = cantFail(cloneExpanded(*module));
    auto outputs =
        evaluateReference(*expanded->getOps<KernelOp>().begin(), inputs);
    return outputs ? "accepted" : toString(outputs.takeError());
  }

  mlir::MLIRContext context;
  ReferenceInputs inputs;
};

TEST_F(ReferenceTest, ShapesOfVectors) {
  EXPECT_EQ(refusal(""), "accepted");
  inputs.q = zeros({2, 4, 3, 6});
  EXPECT_EQ(refusal(""), "expected 'q' to have the shape [B, H, Lq, 8] = [any, "
                         "any, any, 8], but got [2, 4, 3, 6]");
  inputs.q = zeros({4, 3, 8});
  EXPECT_EQ(refusal(""), "expected 'q' to have the shape [B, H, Lq, 8] = [any, "
                         "any, any, 8], but got [4, 3, 8]");
  inputs.q = zeros({2, 4, 3, 8});
  inputs.k = zeros({2, 4, 5, 8});
  EXPECT_EQ(refusal(""), "expected 'k' to have the shape [B, Hkv, Lk, 8] = [2, "
                         "2, any, 8], but got [2, 4, 5, 8]");
  inputs.k = zeros({2, 2, 5, 8});
  inputs.v = zeros({2, 2, 4, 6});
  EXPECT_EQ(refusal(""), "expected 'v' to have the shape [B, Hkv, Lk, 6] = [2, "
                         "2, 5, 6], but got [2, 2, 4, 6]");
  inputs.v = zeros({2, 2, 5, 6});
  inputs.v.data.pop_back();
  EXPECT_EQ(refusal(""), "expected 'v' to have 120 elements for the shape [2, "
                         "2, 5, 6], but got 119");
  inputs.v.shape = {-1, 2, 5, 6};
  EXPECT_EQ(refusal(""), "expected 'v' to have the shape [B, Hkv, Lk, 6] = [2, "
                         "2, 5, 6], but got [-1, 2, 5, 6]");
}

TEST_F(ReferenceTest, SizesThatOverflow) {
  inputs.q.shape = {int64_t{1} << 40, 4, int64_t{1} << 30, 8};
  EXPECT_EQ(refusal(""), "expected the size of 'q' to fit in 63 bits, but got "
                         "the shape [1099511627776, 4, 1073741824, 8]");
}

TEST_F(ReferenceTest, Heads) {
  inputs.firstHead = 2;
  EXPECT_EQ(refusal(""), "expected the heads of 'q' to be among the kernel's "
                         "4, but got 4 from head 2");
  inputs.firstHead = -2;
  EXPECT_EQ(refusal(""), "expected the heads of 'q' to be among the kernel's "
                         "4, but got 4 from head -2");
  inputs.firstHead = 1;
  inputs.q = zeros({2, 2, 3, 8});
  inputs.k = zeros({2, 1, 5, 8});
  inputs.v = zeros({2, 1, 5, 6});
  EXPECT_EQ(refusal(""),
            "expected the heads of 'q' and the first head to be multiples of 2 "
            "(heads / kv_heads), but got 2 and 1");
  inputs.firstHead = 2;
  EXPECT_EQ(refusal(""), "accepted");
}

TEST_F(ReferenceTest, Operands) {
  StringRef bias = "encode [#posenc.t5_bias, #posenc.dense_bias]";
  EXPECT_EQ(refusal(bias),
            "expected numbers for the operand 't5_bias.table', but got none");
  inputs.tables["t5_bias.table"] = zeros({32, 4});
  inputs.tables["bias"] = zeros({1, 3, 5});
  EXPECT_EQ(refusal(bias), "accepted");
  inputs.tables["bias"] = zeros({2, 3, 5});
  EXPECT_EQ(refusal(bias), "expected 'bias' to have the shape [H or 1, Lq, Lk] "
                           "= [4 or 1, 3, 5], but got [2, 3, 5]");
  inputs.tables["bias"] = zeros({4, 3, 5});
  inputs.tables["t5_bias.table"] = zeros({4, 32});
  EXPECT_EQ(refusal(bias), "expected 't5_bias.table' to have the shape [32, H "
                           "or 1] = [32, 4 or 1], but got [4, 32]");
}

TEST_F(ReferenceTest, Positions) {
  StringRef clauses =
      "positions(#posenc.position_tensor) encode [#posenc.rope]";
  EXPECT_EQ(refusal(clauses),
            "expected integers for the operand 'positions', but got none");
  IntTensor &positions = inputs.positions["positions"];
  positions = {{2, 3}, std::vector<int64_t>(6)};
  EXPECT_EQ(refusal(clauses), "expected 'positions' to have the shape [B, Lk] "
                              "= [2, 5], but got [2, 3]");
  positions = {{2, 5}, std::vector<int64_t>(10)};
  EXPECT_EQ(refusal(clauses), "accepted");
  positions.data[3] = int64_t{1} << 31;
  EXPECT_EQ(refusal(clauses), "expected the positions in 'positions' to be "
                              "32-bit integers, but got 2147483648");
  positions.data[3] = 0;
  inputs.q = zeros({2, 4, 6, 8});
  EXPECT_EQ(refusal(clauses), "expected at most as many queries as positions "
                              "in 'positions' (5), but got 6");
}

/// Only slots count, however long a sequence is; who asks for the scores of all
/// pairs has those of forgotten keys evaluated, too.
TEST_F(ReferenceTest, ForgottenKeys) {
  for (const char *scheme :
       {"", "encode [#posenc.rope<base = 100.0>, #posenc.alibi]",
        "positions(#posenc.iota<offset = 7>) encode [#posenc.t5_bias]",
        "encode [#posenc.shaw<max_distance = 4>]", "dropout(0.25)",
        "encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0, "
        "original_length = 16>>]",
        "encode [#posenc.query_temperature]",
        "encode [#posenc.cope<positions = 4>]"}) {
    SCOPED_TRACE(scheme);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        (Twine("posenc.kernel @k heads(4) kv_heads(2) head_dim(8) value_dim(6) "
               "keys(ring) mask(#posenc.window<left = 4>) ") +
         scheme)
            .str(),
        &context);
    auto expanded = cantFail(cloneExpanded(*module));
    KernelOp kernel = *expanded->getOps<KernelOp>().begin();
    inputs.q = numbers({2, 4, 3, 8});
    inputs.k = numbers({2, 2, 9, 8});
    inputs.v = numbers({2, 2, 9, 6});
    inputs.tables.clear();
    for (const KernelTensor &tensor : getKernelTensors(kernel))
      if (!tensor.isOutput && !tensor.isInteger &&
          !is_contained({"q", "k", "v"}, tensor.name)) {
        SmallVector<int64_t> shape;
        for (const Extent &extent : tensor.extents)
          shape.push_back(extent.kind == ExtentKind::Const ? extent.value : 4);
        inputs.tables[tensor.name] = numbers(shape);
      }
    IntTensor &lengths = inputs.positions["key_lengths"];
    lengths.shape = {2};
    ReferenceOptions all;
    all.scores = true;
    for (int64_t length : {2, 9, 10, 400}) {
      lengths.data = {length, length + 3};
      ReferenceOutputs whole = cantFail(evaluateReference(kernel, inputs, all));
      ReferenceOutputs held = cantFail(evaluateReference(kernel, inputs));
      EXPECT_EQ(held.o.data, whole.o.data) << length;
      EXPECT_EQ(held.lse.data, whole.lse.data) << length;
      EXPECT_EQ(whole.scores.shape[3], length + 3);
    }
    lengths.data = {int64_t{1} << 30, 1 << 20};
    EXPECT_TRUE(bool(evaluateReference(kernel, inputs)));
  }
}

/// Nothing is from 0 to -1.
TEST_F(ReferenceTest, NothingToChooseFrom) {
  inputs.q = zeros({1, 4, 3, 8});
  inputs.k = zeros({0, 16, 2, 8});
  inputs.v = zeros({0, 16, 2, 6});
  inputs.positions["page_table"] = {{1, 1}, {0}};
  inputs.positions["key_lengths"] = {{1}, {0}};
  EXPECT_EQ(refusal("keys(paged)"), "accepted");
  inputs.positions["key_lengths"].data = {5};
  EXPECT_EQ(refusal("keys(paged)"), "expected pages for the 5 keys of sequence "
                                    "0, but there are none");
  inputs.k = zeros({1, 2, 0, 8});
  inputs.v = zeros({1, 2, 0, 6});
  inputs.positions["blocks.offsets"] = {{1, 1, 2}, {0, 0}};
  inputs.positions["blocks.indices"] = {{0}, {}};
  const char *listed = "blocks(#posenc.block_list<queries = 4, keys = 4>)";
  EXPECT_EQ(refusal(listed), "accepted");
  inputs.positions["blocks.offsets"].data = {0, 1};
  inputs.positions["blocks.indices"] = {{1}, {0}};
  EXPECT_EQ(refusal(listed), "expected 'blocks.indices' to list no block, "
                             "since there are no keys, but got 0");
}

TEST_F(ReferenceTest, NeedsABody) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "posenc.kernel @k heads(4) kv_heads(2) head_dim(8) value_dim(6)",
      &context);
  auto outputs = evaluateReference(*module->getOps<KernelOp>().begin(), inputs);
  ASSERT_FALSE(static_cast<bool>(outputs));
  EXPECT_EQ(toString(outputs.takeError()),
            "expected a kernel with a body, but '@k' has named encodings: run "
            "posenc-expand-encodings first");
}

/// Expanding a copy leaves the module as it was.
TEST_F(ReferenceTest, ExpandsACopy) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "posenc.kernel @a heads(1) head_dim(2) encode [#posenc.rope]\n"
      "posenc.kernel @b heads(1) head_dim(2)",
      &context);
  auto expanded = cantFail(cloneExpanded(*module));
  for (KernelOp kernel : module->getOps<KernelOp>())
    EXPECT_FALSE(kernel.isExpanded());
  for (KernelOp kernel : expanded->getOps<KernelOp>())
    EXPECT_TRUE(kernel.isExpanded());
}

} // namespace
