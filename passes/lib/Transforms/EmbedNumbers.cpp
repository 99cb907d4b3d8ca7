// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the numbers of one token of an input embedding.
#include "EmbedNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace posenc;

unsigned EmbedProgram::findTensor(StringRef tensor) const {
  const auto *found =
      llvm::find_if(ArrayRef(tensors), [&](const KernelTensor &other) {
        return other.name == tensor;
      });
  return found - tensors.data();
}

unsigned EmbedProgram::findSequence(Operation *op) const {
  return llvm::find(sequences, op) - sequences.begin();
}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value EmbedNumbers::f64(double value) {
  return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
}
Value EmbedNumbers::toF64(Value integer) {
  return arith::SIToFPOp::create(b, b.getF64Type(), integer);
}
Value EmbedNumbers::emitTokenNumber(Value token) {
  return b.add(b.mul(batch, frame.keyLen()), token);
}

Value EmbedNumbers::emitRegion(Region &region, ArrayRef<Value> arguments) {
  Block &block = region.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

Value EmbedNumbers::emitSequenceAddress(Operation *sequence, Value token) {
  Value first = b.mul(b.i64(program.findSequence(sequence)),
                      b.mul(frame.batch(), frame.keyLen()));
  return b.element(frame.shared(), b.add(first, emitTokenNumber(token)),
                   b.getF64Type());
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011): word `number mod 4`
/// of the block `number div 4`.
static func::FuncOp definePhilox(DriverBuilder &b, StringRef name) {
  std::string symbol = (name + "_random").str();
  if (auto function = b.getModule().lookupSymbol<func::FuncOp>(symbol))
    return function;
  OpBuilder::InsertionGuard guard(b);
  Type i64 = b.getI64Type();
  auto function = b.define(symbol, b.getFunctionType({i64, i64, i64}, i64),
                           /*isPublic=*/false);
  Value seed = function.getArgument(0), number = function.getArgument(1);
  // 32-bit words, each in an i64.
  Value mask = b.i64(0xffffffff), half = b.i64(32);
  auto low = [&](Value x) -> Value {
    return arith::AndIOp::create(b, x, mask);
  };
  auto high = [&](Value x) -> Value {
    return arith::ShRUIOp::create(b, x, half);
  };
  auto exclusive = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(b, x, y);
  };
  Value block = arith::ShRUIOp::create(b, number, b.i64(2));
  std::array<Value, 2> key = {low(seed), high(seed)};
  std::array<Value, 4> word = {low(block), high(block),
                               low(function.getArgument(2)), b.i64(0)};
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] = low(b.add(key[0], b.i64(0x9E3779B9)));
      key[1] = low(b.add(key[1], b.i64(0xBB67AE85)));
    }
    Value first = b.mul(word[0], b.i64(0xD2511F53));
    Value second = b.mul(word[2], b.i64(0xCD9E8D57));
    word = {exclusive(exclusive(high(second), word[1]), key[0]), low(second),
            exclusive(exclusive(high(first), word[3]), key[1]), low(first)};
  }
  Value which = arith::AndIOp::create(b, number, b.i64(3));
  Value result = word[3];
  for (int i = 2; i >= 0; --i)
    result = b.select(b.equal(which, b.i64(i)), word[i], result);
  b.ret(result);
  return function;
}

Value EmbedNumbers::emitUniform(int64_t stream, Value index) {
  func::FuncOp philox = definePhilox(b, program.name);
  Value number = b.add(frame.offset(), index);
  Value word = func::CallOp::create(
                   b, philox, ValueRange{frame.seed(), number, b.i64(stream)})
                   .getResult(0);
  return arith::MulFOp::create(b, toF64(word), f64(0x1p-32));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value EmbedNumbers::emitPosition(PositionOp op) {
  if (auto iota = dyn_cast<IotaAttr>(op.getLaw()))
    return toF64(b.add(token, b.i64(iota.getOffset())));
  auto law = cast<PositionTensorAttr>(op.getLaw());
  SmallVector<Value> indices;
  if (law.getAxes() > 1)
    indices.push_back(b.i64(law.getAxis()));
  indices.append({batch, token});
  Value address = frame.element(program.findTensor(law.getName()), indices);
  return toF64(b.load(b.getI32Type(), address));
}

Value EmbedNumbers::emit(Value number) {
  if (Value known = numbers.lookup(number))
    return known;
  Operation *def = number.getDefiningOp();
  Value result =
      llvm::TypeSwitch<Operation *, Value>(def)
          .Case([&](PositionOp op) { return emitPosition(op); })
          .Case([&](RemapOp op) {
            return emitRegion(op.getBody(), emit(op.getPosition()));
          })
          .Case([&](CoordMapOp op) {
            return emitRegion(op.getBody(),
                              emitInputs(op.getInputs(), Value(), 0));
          })
          .Case([&](CoordSumOp op) {
            return b.load(b.getF64Type(), emitSequenceAddress(op, token));
          })
          .Case([&](CoordMeanOp op) {
            return b.load(b.getF64Type(), emitSequenceAddress(op, b.i64(0)));
          })
          .Case([&](LengthOp) { return toF64(frame.keyLen()); })
          .Case([&](BoundedOp op) { return emit(op.getPosition()); })
          .Case([&](RandomOp op) {
            bool isToken = op.getScope() == RandomScope::token;
            return emitUniform(op.getStream(),
                               isToken ? emitTokenNumber(token) : batch);
          });
  numbers[number] = result;
  return result;
}

SmallVector<Value> EmbedNumbers::emitInputs(ValueRange inputs, Value channel,
                                            int64_t largestChannel) {
  SmallVector<Value> arguments;
  Value row;
  for (Value input : inputs) {
    auto type = dyn_cast<TableType>(input.getType());
    if (!type) {
      row = emit(input);
      arguments.push_back(row);
      continue;
    }
    Value index = type.hasAxis(TableAxis::channel)
                      ? clampChannel(input, channel, largestChannel)
                      : Value();
    arguments.push_back(emitElement(
        input, type.hasAxis(TableAxis::row) ? row : Value(), index));
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The nearest row, as an index; NaN is the lowest.
Value EmbedNumbers::emitRow(Value row, double low, double high) {
  Value isAbove =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, row, f64(low));
  Value clamped =
      b.select(isAbove, arith::MinimumFOp::create(b, row, f64(high)), f64(low));
  return arith::FPToSIOp::create(b, b.getI64Type(),
                                 math::RoundOp::create(b, clamped));
}

static std::optional<int64_t> getNumChannels(Value table) {
  if (auto op = table.getDefiningOp<TableOp>())
    return op.getNumChannels();
  return table.getDefiningOp<TableMapOp>().getChannels();
}

Value EmbedNumbers::clampChannel(Value table, Value channel, int64_t largest) {
  int64_t last = *getNumChannels(table) - 1;
  return largest <= last ? channel : b.min(channel, b.i64(last));
}

Value EmbedNumbers::emitConstant(TableOp op, ConstantsAttr constants, Value row,
                                 Value channel) {
  ArrayRef<double> values = constants.getValues();
  // Numbered, since a module may hold several tables.
  unsigned number = 0;
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    number += isa<TableOp>(other);
  }
  Value base = b.constantArray(
      program.name + "_table" + Twine(number),
      DenseElementsAttr::get(
          RankedTensorType::get({int64_t(values.size())}, b.getF64Type()),
          values));
  Value index = b.i64(0);
  int64_t stride = 1;
  for (TableAxis axis : llvm::reverse(op.getType().getAxes())) {
    bool isRow = axis == TableAxis::row;
    index = b.add(index, b.mul(isRow ? row : channel, b.i64(stride)));
    stride *= isRow ? *op.getNumRows() : *op.getNumChannels();
  }
  return b.load(b.getF64Type(), b.element(base, index, b.getF64Type()));
}

Value EmbedNumbers::emitOperand(TableOp op, OperandAttr operand, Value row,
                                Value channel) {
  SmallVector<Value> indices;
  for (TableAxis axis : op.getType().getAxes())
    indices.push_back(axis == TableAxis::row       ? row
                      : axis == TableAxis::channel ? channel
                      : axis == TableAxis::batch   ? batch
                                                   : token);
  Type storage = operand.getDtype();
  Value address =
      frame.element(program.findTensor(operand.getName()), indices, storage);
  return b.loadReal(storage, address);
}

Value EmbedNumbers::emitElement(Value table, Value row, Value channel) {
  if (auto op = table.getDefiningOp<TableMapOp>()) {
    constexpr double limit = 1e15;
    Value index = emitRow(row, -limit, limit);
    return emitRegion(op.getBody(), {toF64(index), toF64(channel)});
  }
  auto op = table.getDefiningOp<TableOp>();
  if (row)
    row = emitRow(row, 0, static_cast<double>(*op.getNumRows() - 1));
  if (auto operand = dyn_cast<OperandAttr>(op.getLaw()))
    return emitOperand(op, operand, row, channel);
  return emitConstant(op, cast<ConstantsAttr>(op.getLaw()), row, channel);
}
