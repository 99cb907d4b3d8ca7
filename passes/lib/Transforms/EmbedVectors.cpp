// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits what an input embedding does to the vector of one token.
#include "EmbedVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

void EmbedVectors::forChannels(int64_t begin, int64_t end,
                               function_ref<void(Value)> body) {
  if (begin < end)
    b.loop(b.i64(begin), b.i64(end), body);
}
Value EmbedVectors::load(Value channel) {
  return b.load(b.getF64Type(), b.element(vector, channel, b.getF64Type()));
}
void EmbedVectors::store(Value value, Value channel) {
  b.store(value, b.element(vector, channel, b.getF64Type()));
}
void EmbedVectors::map(Function function) {
  forChannels(0, dim, [&](Value c) { store(function(load(c), c), c); });
}

Value EmbedVectors::emitSum(Function function) {
  Value sum = b.stack(sizeof(double));
  b.store(numbers.f64(0), sum);
  forChannels(0, dim, [&](Value c) {
    Value before = b.load(b.getF64Type(), sum);
    b.store(arith::AddFOp::create(b, before, function(load(c), c)), sum);
  });
  return b.load(b.getF64Type(), sum);
}

void EmbedVectors::emit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](RotateOp op) { emitRotate(op); })
      .Case([&](VaddOp op) { emitVadd(op); })
      .Case([&](ChannelScaleOp op) { emitChannelScale(op); })
      .Case([&](RowScaleOp op) { emitRowScale(op); })
      .Case([&](VectorNormOp op) { emitNorm(op); })
      .Case([&](VectorMapOp op) { emitVectorMap(op); })
      .Case([&](ChannelMapOp op) { emitChannelMap(op); })
      .Case([&](DropoutOp op) { emitDropout(op); });
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

void EmbedVectors::emitVadd(VaddOp op) {
  Value row = op.getPosition() ? numbers.emit(op.getPosition()) : Value();
  map([&](Value element, Value c) -> Value {
    return arith::AddFOp::create(b, element,
                                 numbers.emitElement(op.getTable(), row, c));
  });
}

void EmbedVectors::emitChannelScale(ChannelScaleOp op) {
  map([&](Value element, Value c) -> Value {
    Value offset = numbers.f64(op.getOffset().convertToDouble());
    Value gain = arith::AddFOp::create(
        b, offset, numbers.emitElement(op.getTable(), Value(), c));
    return arith::MulFOp::create(b, element, gain);
  });
}

void EmbedVectors::emitRowScale(RowScaleOp op) {
  Value factor = numbers.emitRegion(
      op.getBody(), numbers.emitInputs(op.getInputs(), Value(), 0));
  map([&](Value element, Value) -> Value {
    return arith::MulFOp::create(b, element, factor);
  });
}

void EmbedVectors::emitVectorMap(VectorMapOp op) {
  map([&](Value element, Value) {
    return numbers.emitRegion(op.getBody(), element);
  });
}

void EmbedVectors::emitChannelMap(ChannelMapOp op) {
  // The numbers of the token are the same for all channels.
  for (Value input : op.getInputs())
    if (!isa<TableType>(input.getType()))
      numbers.emit(input);
  auto emitRun = [&](int64_t begin, int64_t end, int64_t part, int64_t stride,
                     int64_t offset) {
    forChannels(begin, end, [&](Value k) {
      Value c = b.add(b.mul(k, b.i64(stride)), b.i64(offset));
      SmallVector<Value> arguments = {load(c), numbers.toF64(k),
                                      numbers.f64(static_cast<double>(part))};
      arguments.append(numbers.emitInputs(op.getInputs(), k, end - 1));
      store(numbers.emitRegion(op.getBody(), arguments), c);
    });
  };
  if (!op.getPairing())
    return emitRun(0, dim, 0, 1, 0);
  int64_t n = dim / 2;
  for (int64_t part : {0, 1})
    if (*op.getPairing() == Pairing::half)
      emitRun(0, n, part, 1, part * n);
    else
      emitRun(0, n, part, 2, part);
  emitRun(n, dim - n, 0, 1, n); // the last channel of an odd dim
}

void EmbedVectors::emitDropout(DropoutOp op) {
  double rate = op.getProbability().convertToDouble();
  Value first = b.mul(numbers.emitTokenNumber(), b.i64(dim));
  map([&](Value element, Value c) -> Value {
    Value uniform = numbers.emitUniform(op.getStream(), b.add(first, c));
    Value isDropped = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                            uniform, numbers.f64(rate));
    Value kept = arith::MulFOp::create(b, element, numbers.f64(1 / (1 - rate)));
    return b.select(isDropped, numbers.f64(0), kept);
  });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

void EmbedVectors::emitNorm(VectorNormOp op) {
  Value count = numbers.f64(static_cast<double>(dim));
  if (op.getKind() == NormKind::layer) {
    Value sum = emitSum([](Value element, Value) { return element; });
    Value mean = arith::DivFOp::create(b, sum, count);
    map([&](Value element, Value) -> Value {
      return arith::SubFOp::create(b, element, mean);
    });
  }
  Value square = emitSum([&](Value element, Value) -> Value {
    return arith::MulFOp::create(b, element, element);
  });
  if (op.getKind() != NormKind::l2)
    square = arith::DivFOp::create(b, square, count);
  Value epsilon = numbers.f64(op.getEpsilon().convertToDouble());
  Value norm;
  if (op.getEpsilonSite() == EpsilonSite::added)
    norm = math::SqrtOp::create(b, arith::AddFOp::create(b, square, epsilon));
  else
    norm =
        arith::MaximumFOp::create(b, math::SqrtOp::create(b, square), epsilon);
  map([&](Value element, Value) -> Value {
    return arith::DivFOp::create(b, element, norm);
  });
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// The offset of positions that are counted from the storage index.
static int64_t getIotaOffset(Value position) {
  while (auto remap = position.getDefiningOp<RemapOp>())
    position = remap.getPosition();
  auto op = position.getDefiningOp<PositionOp>();
  auto iota = op ? dyn_cast<IotaAttr>(op.getLaw()) : IotaAttr();
  return iota ? iota.getOffset() : 0;
}

Value EmbedVectors::emitFrequency(Value freqs, Value position, Value index,
                                  const Twine &name) {
  if (auto op = freqs.getDefiningOp<FreqsOp>()) {
    SmallVector<double> values = op.getLaw().getFrequencies();
    Value base = b.constantArray(
        name,
        DenseElementsAttr::get(
            RankedTensorType::get({int64_t(values.size())}, b.getF64Type()),
            ArrayRef<double>(values)));
    return b.load(b.getF64Type(), b.element(base, index, b.getF64Type()));
  }
  auto op = freqs.getDefiningOp<FreqsMapOp>();
  Value k = numbers.toF64(index);
  Value length = numbers.toF64(
      b.add(numbers.getFrame().keyLen(), b.i64(getIotaOffset(position))));
  SmallVector<Value> arguments = {k, length};
  for (Value table : op.getTables())
    arguments.push_back(numbers.emitElement(table, k, Value()));
  return numbers.emitRegion(op.getBody(), arguments);
}

Value EmbedVectors::emitAngle(RotateOp op, Value index) {
  Value angle;
  for (auto [axis, position] : llvm::enumerate(op.getPositions())) {
    // Named by the operation that has them: constants are made once.
    Value freqs = op.getFreqs()[axis];
    Operation *def = freqs.getDefiningOp();
    unsigned number =
        std::distance(def->getBlock()->begin(), Block::iterator(def));
    StringRef kernel = op->getParentOfType<EmbedOp>().getSymName();
    Value term = arith::MulFOp::create(
        b, numbers.emit(position),
        emitFrequency(freqs, position, index,
                      kernel + "_frequencies" + Twine(number)));
    angle = angle ? arith::AddFOp::create(b, angle, term).getResult() : term;
  }
  return angle;
}

std::pair<Value, Value> EmbedVectors::emitTurn(RotateOp op, Value pair) {
  if (op.getMix().empty()) {
    Value angle = emitAngle(op, pair);
    return {math::CosOp::create(b, angle), math::SinOp::create(b, angle)};
  }
  Value sums[] = {b.stack(sizeof(double)), b.stack(sizeof(double))};
  for (Value sum : sums)
    b.store(numbers.f64(0), sum);
  int64_t count = *op.getMix()[0].getDefiningOp<TableOp>().getNumRows();
  b.loop(b.i64(0), b.i64(count), [&](Value m) {
    Value angle = emitAngle(op, m), row = numbers.toF64(m);
    Value parts[] = {math::CosOp::create(b, angle),
                     math::SinOp::create(b, angle)};
    for (unsigned i : {0, 1}) {
      Value weight = numbers.emitElement(op.getMix()[i], row, pair);
      Value term = arith::MulFOp::create(b, weight, parts[i]);
      Value before = b.load(b.getF64Type(), sums[i]);
      b.store(arith::AddFOp::create(b, before, term), sums[i]);
    }
  });
  return {b.load(b.getF64Type(), sums[0]), b.load(b.getF64Type(), sums[1])};
}

void EmbedVectors::emitRotate(RotateOp op) {
  for (Value position : op.getPositions())
    numbers.emit(position);
  int64_t pairs = *op.getNumPairs(), first = op.getFirstDim();
  bool isHalf = op.getPairing() == Pairing::half;
  b.loop(b.i64(0), b.i64(pairs), [&](Value k) {
    auto [cosine, sine] = emitTurn(op, k);
    if (!op.getModulus().empty()) {
      Value modulus = numbers.emitRegion(
          op.getModulus(),
          {numbers.toF64(k), numbers.emit(op.getPositions()[0])});
      cosine = arith::MulFOp::create(b, cosine, modulus);
      sine = arith::MulFOp::create(b, sine, modulus);
    }
    Value even = b.add(isHalf ? k : b.mul(k, b.i64(2)), b.i64(first));
    Value odd = b.add(even, b.i64(isHalf ? pairs : 1));
    Value x = load(even), y = load(odd);
    auto times = [&](Value u, Value v) -> Value {
      return arith::MulFOp::create(b, u, v);
    };
    store(arith::SubFOp::create(b, times(x, cosine), times(y, sine)), even);
    store(arith::AddFOp::create(b, times(x, sine), times(y, cosine)), odd);
  });
}
