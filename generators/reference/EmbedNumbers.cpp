// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings: shapes, numbers of tokens, tables.
#include "EmbedCall.h"

#include "posenc/Analysis/EmbedBody.h"
#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Reference/Philox.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

llvm::Error EmbedCall::checkShapes() {
  for (const KernelTensor &tensor : getKernelTensors(embed)) {
    if (tensor.isOutput)
      continue;
    ArrayRef<int64_t> shape;
    size_t elements = 0;
    if (tensor.isInteger) {
      auto found = inputs.positions.find(tensor.name);
      if (found == inputs.positions.end())
        return llvm::createStringError("expected integers for the operand '" +
                                       tensor.name + "', but got none");
      shape = found->second.shape;
      elements = found->second.data.size();
    } else {
      auto found = inputs.tables.find(tensor.name);
      bool isInput = tensor.name == "x";
      if (!isInput && found == inputs.tables.end())
        return llvm::createStringError("expected numbers for the operand '" +
                                       tensor.name + "', but got none");
      const RealTensor &given = isInput ? inputs.x : found->second;
      shape = given.shape;
      elements = given.data.size();
    }
    bool fits = shape.size() == tensor.extents.size();
    int64_t count = 1;
    for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
      const Extent &extent = tensor.extents[axis];
      int64_t constant = extent.value;
      int64_t &expected = extent.kind == ExtentKind::Const   ? constant
                          : extent.kind == ExtentKind::Batch ? batch
                                                             : length;
      if (expected < 0)
        expected = shape[axis];
      fits = shape[axis] == expected && expected >= 0;
      count *= shape[axis];
    }
    if (!fits || static_cast<size_t>(count) != elements) {
      std::string got;
      llvm::raw_string_ostream stream(got);
      llvm::interleaveComma(shape, stream);
      return llvm::createStringError(
          "expected '" + tensor.name + "' to be " + tensor.getTypeString() +
          ", with B and L as the tensors before, but got [" + got + "]");
    }
  }
  if (batch < 0 || length < 0)
    return llvm::createStringError(
        "expected a tensor that says how many tokens there are, but nothing of "
        "'@" +
        embed.getSymName() + "' depends on one");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The nearest of the rows; NaN is the lowest.
static int64_t getRow(double row, double low, double high) {
  return std::llround(row > low ? std::min(row, high) : low);
}

double EmbedCall::lookUp(Value table, int64_t token, double row,
                         int64_t channel) {
  if (auto op = table.getDefiningOp<TableMapOp>())
    return evaluateScalar(op.getBody(),
                          {static_cast<double>(getRow(row, -1e15, 1e15)),
                           static_cast<double>(channel)});
  auto op = table.getDefiningOp<TableOp>();
  ArrayRef<double> data;
  if (auto operand = dyn_cast<OperandAttr>(op.getLaw()))
    data = inputs.tables.find(operand.getName())->second.data;
  else
    data = cast<ConstantsAttr>(op.getLaw()).getValues();
  int64_t index = 0;
  for (TableAxis axis : op.getType().getAxes()) {
    switch (axis) {
    case TableAxis::row: {
      int64_t rows = *op.getNumRows();
      index = index * rows + getRow(row, 0, static_cast<double>(rows - 1));
      break;
    }
    case TableAxis::channel: {
      int64_t channels = *op.getNumChannels();
      index = index * channels + std::min(channel, channels - 1);
      break;
    }
    case TableAxis::batch:
      index = index * batch + token / length;
      break;
    default: // key
      index = index * length + token % length;
      break;
    }
  }
  return data[index];
}

double EmbedCall::evaluateScalar(Region &region, ArrayRef<double> arguments) {
  lanes.reset(arguments.size());
  for (auto [index, argument] : llvm::enumerate(arguments))
    lanes[index][0] = argument;
  return lanes[lanes.run(region)][0];
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

EmbedNumbers EmbedCall::readPositions(PositionOp op) {
  EmbedNumbers result(batch * length);
  if (auto iota = dyn_cast<IotaAttr>(op.getLaw())) {
    for (int64_t n = 0; n < batch * length; ++n)
      result[n] = static_cast<double>(n % length + iota.getOffset());
    return result;
  }
  auto law = cast<PositionTensorAttr>(op.getLaw());
  const IntTensor &given = inputs.positions.find(law.getName())->second;
  for (int64_t n = 0; n < batch * length; ++n)
    result[n] =
        static_cast<double>(given.data[law.getAxis() * batch * length + n]);
  return result;
}

EmbedNumbers EmbedCall::mapNumbers(Region &region, ValueRange values) {
  EmbedNumbers result(batch * length);
  for (int64_t n = 0; n < batch * length; ++n) {
    SmallVector<double> arguments;
    double row = 0;
    for (Value value : values) {
      if (isa<TableType>(value.getType())) {
        arguments.push_back(lookUp(value, n, row, 0));
        continue;
      }
      row = numbers.find(value)->second[n];
      arguments.push_back(row);
    }
    result[n] = evaluateScalar(region, arguments);
  }
  return result;
}

EmbedNumbers EmbedCall::sum(const EmbedNumbers &values) {
  EmbedNumbers result = values;
  for (int64_t n = 0; n < batch * length; ++n)
    if (n % length)
      result[n] += result[n - 1];
  return result;
}

EmbedNumbers EmbedCall::mean(const EmbedNumbers &values) {
  EmbedNumbers result(batch * length);
  for (int64_t b = 0; b < batch; ++b) {
    double total = 0, count = 0;
    for (int64_t t = 0; t < length; ++t)
      if (double value = values[b * length + t]; !std::isnan(value)) {
        total += value;
        ++count;
      }
    std::fill_n(&result[b * length], length, total / count);
  }
  return result;
}

EmbedNumbers EmbedCall::draw(RandomOp op) {
  EmbedNumbers result(batch * length);
  bool isToken = op.getScope() == RandomScope::token;
  for (int64_t n = 0; n < batch * length; ++n)
    result[n] = drawUniform(inputs.seed, inputs.offset, op.getStream(),
                            isToken ? n : n / length);
  return result;
}

llvm::Error EmbedCall::checkBound(BoundedOp op) {
  const EmbedNumbers &positions = numbers.find(op.getPosition())->second;
  for (auto [n, position] : llvm::enumerate(positions)) {
    bool isRow = position >= 0 &&
                 position <= static_cast<double>(op.getRows() - 1) &&
                 std::floor(position) == position;
    if (isRow)
      continue;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "token " << n % length << " of batch entry " << n / length
           << " is at position " << llvm::format("%.17g", position) << ", but "
           << op.getWhat() << " has the positions 0 .. " << op.getRows() - 1;
    return llvm::createStringError(text);
  }
  return llvm::Error::success();
}

llvm::Error EmbedCall::evaluateNumber(Operation *op) {
  EmbedNumbers result;
  if (auto position = dyn_cast<PositionOp>(op))
    result = readPositions(position);
  else if (auto remap = dyn_cast<RemapOp>(op))
    result = mapNumbers(remap.getBody(), remap.getPosition());
  else if (auto coords = dyn_cast<CoordMapOp>(op))
    result = mapNumbers(coords.getBody(), coords.getInputs());
  else if (auto total = dyn_cast<CoordSumOp>(op))
    result = sum(numbers.find(total.getInput())->second);
  else if (auto average = dyn_cast<CoordMeanOp>(op))
    result = mean(numbers.find(average.getInput())->second);
  else if (isa<LengthOp>(op))
    result.assign(batch * length, static_cast<double>(length));
  else if (auto random = dyn_cast<RandomOp>(op))
    result = draw(random);
  else if (auto bounded = dyn_cast<BoundedOp>(op)) {
    if (llvm::Error error = checkBound(bounded))
      return error;
    result = numbers.find(bounded.getPosition())->second;
  } else {
    return llvm::Error::success();
  }
  numbers[op->getResult(0)] = std::move(result);
  return llvm::Error::success();
}

llvm::Expected<RealTensor> EmbedCall::evaluate() {
  if (llvm::Error error = checkEmbedBody(embed))
    return error;
  if (llvm::Error error = checkShapes())
    return error;
  for (Operation &op : embed.getBody().front())
    if (llvm::Error error = evaluateNumber(&op))
      return error;
  vectors = inputs.x.data;
  vectors.resize(batch * length * dim);
  for (Operation *op : getVectorOps(embed))
    evaluateVector(op);
  RealTensor y;
  y.shape = {batch, length, dim};
  y.data = std::move(vectors);
  return y;
}

llvm::Expected<RealTensor> posenc::evaluateEmbed(EmbedOp embed,
                                                 const EmbedInputs &inputs) {
  return EmbedCall(embed, inputs).evaluate();
}
