// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Vectors.h"

#include "Linear.h"
#include "Lookup.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

HeadBuilder::HeadBuilder(const Call &call, const Tables &sharedTables,
                         int64_t b)
    : call(call), sharedTables(sharedTables), batch(b),
      positions(computePositions(call, b)) {}

Head HeadBuilder::start(int64_t head) {
  const CallShape &shape = call.shape;
  Head result;
  result.batch = batch;
  result.head = head;
  result.kvHead = head / (shape.heads / shape.kvHeads);
  result.tables = makeTables(call, sharedTables, batch, head);
  int64_t query = batch * shape.heads + head;
  int64_t key = batch * shape.kvHeads + result.kvHead;
  const double *inputs[] = {
      call.inputs.q.data.data() + query * shape.queryLen * shape.headDim,
      call.inputs.k.data.data() + key * shape.keyLen * shape.headDim,
      call.inputs.v.data.data() + key * shape.keyLen * shape.valueDim};
  for (auto [argument, data] : llvm::zip(call.body.getArguments(), inputs))
    result.vectors[argument] = {data, nullptr};
  return result;
}

Head HeadBuilder::build(int64_t index, const Head *previous) {
  Head head = start(index);
  if (previous && previous->kvHead == head.kvHead)
    shareKeys(head, *previous);
  for (Operation &op : call.body)
    if (op.getNumResults() == 1 &&
        isa<QueryType, KeyType>(op.getResult(0).getType()))
      getVectors(op.getResult(0), head);
  prepareKeys(head);
  return head;
}

Vectors HeadBuilder::buildVector(int64_t index, Value vector) {
  Head head = start(index);
  return getVectors(vector, head);
}

void HeadBuilder::shareKeys(Head &head, const Head &previous) {
  for (const auto &[value, vectors] : previous.vectors)
    if (isa<KeyType>(value.getType()) && !dependsOnHead(value))
      head.vectors[value] = vectors;
  for (const auto &[value, keys] : previous.transposedKeys)
    if (!dependsOnHead(value))
      head.transposedKeys[value] = keys;
  head.valueMagnitudes = previous.valueMagnitudes;
  head.hasFiniteValues = previous.hasFiniteValues;
}

void HeadBuilder::prepareKeys(Head &head) {
  const CallShape &shape = call.shape;
  for (Operation &op : call.body) {
    if (!isa<DotOp, RecurrenceOp>(op))
      continue;
    for (Value key : op.getOperands()) {
      if (!isa<KeyType>(key.getType()))
        continue;
      std::shared_ptr<const Numbers> &keys = head.transposedKeys[key];
      if (keys)
        continue;
      Numbers transposed(shape.keyLen * shape.headDim);
      transpose(head.vectors[key].data, transposed.data(), shape.keyLen,
                shape.headDim);
      keys = std::make_shared<const Numbers>(std::move(transposed));
    }
  }
  if (head.valueMagnitudes)
    return;
  Numbers magnitudes(shape.keyLen);
  const double *value = head.vectors[call.body.getArgument(2)].data;
  for (double &magnitude : magnitudes)
    for (int64_t c = 0; c < shape.valueDim; ++c, ++value) {
      magnitude = std::max(magnitude, getFiniteMagnitude(*value));
      head.hasFiniteValues &= std::isfinite(*value);
    }
  head.valueMagnitudes = std::make_shared<const Numbers>(std::move(magnitudes));
}

/// Whether keys differ between the query heads of a group: a table of heads
/// takes part.
bool HeadBuilder::dependsOnHead(Value value) {
  if (auto type = dyn_cast<TableType>(value.getType()))
    if (type.hasAxis(TableAxis::head))
      return true;
  auto found = headDependence.find(value);
  if (found != headDependence.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool result = op && llvm::any_of(op->getOperands(), [&](Value operand) {
                  return dependsOnHead(operand);
                });
  headDependence[value] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Vectors HeadBuilder::getVectors(Value value, Head &head) {
  auto found = head.vectors.find(value);
  if (found != head.vectors.end())
    return found->second;
  auto storage =
      std::make_shared<const Numbers>(compute(value.getDefiningOp(), head));
  Vectors result{storage->data(), storage};
  head.vectors[value] = result;
  return result;
}

Numbers HeadBuilder::compute(Operation *op, Head &head) {
  Value input = op->getOperand(0);
  const double *from = getVectors(input, head).data;
  int64_t tokens = call.shape.getLength(getSideOfVector(input));
  Numbers result(from, from + tokens * call.shape.headDim);
  llvm::TypeSwitch<Operation *>(op)
      .Case<RotateOp>([&](RotateOp op) { rotate(op, result, head); })
      .Case<VaddOp>([&](VaddOp op) { addRows(op, result, head); })
      .Case<ChannelScaleOp>(
          [&](ChannelScaleOp op) { scaleChannels(op, result, head); })
      .Case<RowScaleOp>([&](RowScaleOp op) { scaleRows(op, result, head); })
      .Case<VectorNormOp>([&](VectorNormOp op) { normalize(op, result); })
      .Case<VectorMapOp>(
          [&](VectorMapOp op) { result = mapNumbers(op.getBody(), result); });
  return result;
}

void HeadBuilder::rotate(RotateOp op, Numbers &vectors, const Head &head) {
  Angles own;
  const Angles *angles = &own;
  bool isShared = llvm::none_of(op->getOperands().drop_front(),
                                [&](Value x) { return dependsOnHead(x); });
  if (!isShared) {
    own = computeAngles(op, call, positions, head.tables);
  } else {
    auto [it, inserted] = sharedAngles.try_emplace(op);
    if (inserted)
      it->second = computeAngles(op, call, positions, head.tables);
    angles = &it->second;
  }
  int64_t pairs = angles->pairs, headDim = call.shape.headDim;
  bool half = op.getPairing() == Pairing::half;
  for (int64_t t = 0, e = vectors.size() / headDim; t < e; ++t) {
    double *channels = &vectors[t * headDim + op.getFirstDim()];
    for (int64_t p = 0; p < pairs; ++p) {
      double &a = channels[half ? p : 2 * p];
      double &b = channels[half ? p + pairs : 2 * p + 1];
      double cos = angles->cos[t * pairs + p], sin = angles->sin[t * pairs + p];
      double turned = a * cos - b * sin;
      b = a * sin + b * cos;
      a = turned;
    }
  }
}

void HeadBuilder::addRows(VaddOp op, Numbers &vectors, const Head &head) const {
  const Table &table = head.tables.find(op.getTable())->second;
  const Numbers *places =
      op.getPosition() ? &positions.find(op.getPosition())->second : nullptr;
  int64_t headDim = call.shape.headDim;
  Numbers scratch;
  for (int64_t t = 0, e = vectors.size() / headDim; t < e; ++t) {
    int64_t row = places ? table.getRow((*places)[t]) : 0;
    const double *added = table.getChannels(row, scratch);
    for (int64_t c = 0; c < headDim; ++c)
      vectors[t * headDim + c] += added[c];
  }
}

void HeadBuilder::scaleChannels(ChannelScaleOp op, Numbers &vectors,
                                const Head &head) const {
  Numbers scratch;
  const double *factors =
      head.tables.find(op.getTable())->second.getChannels(0, scratch);
  double offset = op.getOffset().convertToDouble();
  int64_t headDim = call.shape.headDim;
  for (int64_t i = 0, e = vectors.size(); i < e; ++i)
    vectors[i] *= offset + factors[i % headDim];
}

void HeadBuilder::scaleRows(RowScaleOp op, Numbers &vectors,
                            const Head &head) const {
  RegionEvaluator evaluator(op.getBody(), op.getInputs(), 0, positions,
                            head.tables);
  bool isOfQuery = getSideOfVector(op.getInput()) == Side::query;
  int64_t headDim = call.shape.headDim, tokens = vectors.size() / headDim;
  for (int64_t t0 = 0; t0 < tokens; t0 += RegionLanes::width) {
    Place place;
    place.count = std::min(RegionLanes::width, tokens - t0);
    (isOfQuery ? place.query : place.key) = t0;
    (isOfQuery ? place.queryStep : place.keyStep) = 1;
    double factors[RegionLanes::width];
    bool masked[RegionLanes::width] = {};
    evaluator.run(place, [](Value) { return nullptr; }, factors, masked);
    for (int64_t i = 0; i < place.count * headDim; ++i)
      vectors[t0 * headDim + i] *= factors[i / headDim];
  }
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// What a vector is multiplied by, given the sum of the squares of its
/// elements.
static double getNormFactor(VectorNormOp op, double squares, int64_t channels) {
  if (op.getKind() != NormKind::l2)
    squares /= static_cast<double>(channels);
  double epsilon = op.getEpsilon().convertToDouble();
  return 1 / (op.getEpsilonSite() == EpsilonSite::added
                  ? std::sqrt(squares + epsilon)
                  : std::max(std::sqrt(squares), epsilon));
}

void HeadBuilder::normalize(VectorNormOp op, Numbers &vectors) {
  int64_t headDim = call.shape.headDim;
  const Norm *shared =
      op.getOver() == NormAxis::all_heads ? &getNormOverHeads(op) : nullptr;
  for (int64_t t = 0, e = vectors.size() / headDim; t < e; ++t) {
    llvm::MutableArrayRef<double> vector(&vectors[t * headDim], headDim);
    double mean = shared ? shared->mean[t] : 0, factor, squares = 0;
    if (!shared && op.getKind() == NormKind::layer) {
      for (double x : vector)
        mean += x;
      mean /= static_cast<double>(headDim);
    }
    for (double x : vector)
      squares += (x - mean) * (x - mean);
    factor = shared ? shared->factor[t] : getNormFactor(op, squares, headDim);
    for (double &x : vector)
      x = (x - mean) * factor;
  }
}

/// The sum of `term(element, token)` over the channels of all heads, for each
/// token. One head is held at a time.
Numbers HeadBuilder::sumOverHeads(VectorNormOp op,
                                  function_ref<double(double, size_t)> term) {
  const CallShape &shape = call.shape;
  Side side = getSideOfVector(op.getInput());
  int64_t step = side == Side::query ? 1 : shape.heads / shape.kvHeads;
  Numbers sums(shape.getLength(side));
  for (int64_t h = 0; h < shape.heads; h += step) {
    Head head = start(h);
    Vectors vectors = getVectors(op.getInput(), head);
    const double *element = vectors.data;
    for (auto [t, sum] : llvm::enumerate(sums))
      for (int64_t c = 0; c < shape.headDim; ++c)
        sum += term(*element++, t);
  }
  return sums;
}

const HeadBuilder::Norm &HeadBuilder::getNormOverHeads(VectorNormOp op) {
  auto found = norms.find(op);
  if (found != norms.end())
    return found->second;
  const CallShape &shape = call.shape;
  bool isOfQuery = getSideOfVector(op.getInput()) == Side::query;
  int64_t channels = (isOfQuery ? shape.heads : shape.kvHeads) * shape.headDim;
  Norm norm;
  norm.mean.resize(shape.getLength(getSideOfVector(op.getInput())));
  if (op.getKind() == NormKind::layer) {
    norm.mean = sumOverHeads(op, [](double x, size_t) { return x; });
    for (double &mean : norm.mean)
      mean /= static_cast<double>(channels);
  }
  norm.factor = sumOverHeads(op, [&](double x, size_t t) {
    return (x - norm.mean[t]) * (x - norm.mean[t]);
  });
  for (double &factor : norm.factor)
    factor = getNormFactor(op, factor, channels);
  return norms[op] = std::move(norm);
}
