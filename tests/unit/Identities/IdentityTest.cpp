// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IdentityTest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

IdentityTest::IdentityTest() {
  context.loadDialect<PosencDialect, arith::ArithDialect, math::MathDialect>();
}

OwningOpRef<ModuleOp> IdentityTest::parse(const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    llvm::report_fatal_error("a test's kernel does not parse:\n" +
                             llvm::Twine(text));
  return llvm::cantFail(cloneExpanded(*module));
}

std::string IdentityTest::withSoftmax(const std::string &operations,
                                      const std::string &clauses) {
  return "posenc.kernel @k heads(2) head_dim(8) value_dim(3) " + clauses +
         " {\n^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):\n" +
         operations +
         "\n%p = posenc.normalize softmax %s\n"
         "%o = posenc.weighted_sum %p, %v\n"
         "posenc.yield %o : !posenc.output\n}";
}

RealTensor IdentityTest::makeTensor(std::vector<int64_t> shape) {
  RealTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t n = 0; n < count; ++n)
    tensor.data.push_back(static_cast<int>(random() % 4096) / 2048.0 - 1);
  return tensor;
}

ReferenceInputs IdentityTest::makeInputs(KernelOp kernel, Lengths lengths) {
  ReferenceInputs inputs;
  int64_t dim = kernel.getHeadDim(), count = kernel.getHeads();
  inputs.q = makeTensor({batch, count, lengths.queries, dim});
  inputs.k = makeTensor({batch, kernel.getNumKvHeads(), lengths.keys, dim});
  inputs.v = makeTensor(
      {batch, kernel.getNumKvHeads(), lengths.keys, kernel.getValueSize()});
  for (const OperandTensor &operand : kernel.getOperandTensors()) {
    if (operand.isPositions) {
      IntTensor &tensor = inputs.positions[operand.name];
      int64_t length = operand.isOfQueries ? lengths.queries : lengths.keys;
      tensor.shape = {batch, length};
      if (operand.positionAxes > 1)
        tensor.shape.insert(tensor.shape.begin(), operand.positionAxes);
      int64_t numbers = operand.positionAxes * batch * length;
      for (int64_t n = 0; n < numbers; ++n)
        tensor.data.push_back(random() % 40);
      continue;
    }
    std::vector<int64_t> shape;
    for (TableAxis axis : operand.axes)
      shape.push_back(axis == TableAxis::row       ? operand.rows
                      : axis == TableAxis::channel ? operand.channels
                      : axis == TableAxis::head    ? count
                      : axis == TableAxis::query   ? lengths.queries
                      : axis == TableAxis::key     ? lengths.keys
                                                   : batch);
    RealTensor &table = inputs.tables[operand.name] = makeTensor(shape);
    if (llvm::StringRef(operand.name).ends_with(".gamma"))
      for (double &value : table.data) // a decay
        value = (value + 2) / 4;
  }
  return inputs;
}

ReferenceOutputs IdentityTest::evaluate(KernelOp kernel,
                                        const ReferenceInputs &inputs) {
  ReferenceOptions options;
  options.scores = true;
  return llvm::cantFail(evaluateReference(kernel, inputs, options));
}

ReferenceOutputs IdentityTest::evaluate(const std::string &text,
                                        const ReferenceInputs &inputs) {
  return evaluate(getKernel(*parse(text)), inputs);
}

double posenc::getDifference(const RealTensor &got, const RealTensor &wanted) {
  EXPECT_EQ(got.data.size(), wanted.data.size());
  double worst = 0;
  for (auto [a, b] : llvm::zip(got.data, wanted.data)) {
    if (a == b)
      continue;
    double difference = std::abs(a - b) / std::max(1.0, std::abs(b));
    worst = std::max(worst, std::isnan(difference) ? INFINITY : difference);
  }
  return worst;
}
