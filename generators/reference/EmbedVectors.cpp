// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings: what is done to vectors.
#include "EmbedCall.h"

#include "posenc/Reference/Philox.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

void EmbedCall::map(function_ref<double(double, int64_t, int64_t)> function) {
  for (int64_t n = 0; n < batch * length; ++n)
    for (int64_t c = 0; c < dim; ++c)
      vectors[n * dim + c] = function(vectors[n * dim + c], n, c);
}

void EmbedCall::evaluateVector(Operation *op) {
  if (auto rotation = dyn_cast<RotateOp>(op))
    return rotate(rotation);
  if (auto normed = dyn_cast<VectorNormOp>(op))
    return norm(normed);
  if (auto mapped = dyn_cast<ChannelMapOp>(op))
    return channelMap(mapped);
  if (auto added = dyn_cast<VaddOp>(op)) {
    const EmbedNumbers *rows = added.getPosition()
                                   ? &numbers.find(added.getPosition())->second
                                   : nullptr;
    return map([&](double x, int64_t n, int64_t c) {
      return x + lookUp(added.getTable(), n, rows ? (*rows)[n] : 0, c);
    });
  }
  if (auto scaled = dyn_cast<ChannelScaleOp>(op)) {
    double offset = scaled.getOffset().convertToDouble();
    return map([&](double x, int64_t n, int64_t c) {
      return x * (offset + lookUp(scaled.getTable(), n, 0, c));
    });
  }
  if (auto scaled = dyn_cast<RowScaleOp>(op)) {
    EmbedNumbers factors = mapNumbers(scaled.getBody(), scaled.getInputs());
    return map([&](double x, int64_t n, int64_t) { return x * factors[n]; });
  }
  if (auto mapped = dyn_cast<VectorMapOp>(op))
    return map([&](double x, int64_t, int64_t) {
      return evaluateScalar(mapped.getBody(), x);
    });
  auto dropout = cast<DropoutOp>(op);
  double rate = dropout.getProbability().convertToDouble();
  map([&](double x, int64_t n, int64_t c) {
    double uniform = drawUniform(inputs.seed, inputs.offset,
                                 dropout.getStream(), n * dim + c);
    return uniform < rate ? 0 : x * (1 / (1 - rate));
  });
}

void EmbedCall::channelMap(ChannelMapOp op) {
  ValueRange values = op.getInputs();
  int64_t n = dim / 2;
  auto getPlace = [&](int64_t c) -> std::pair<int64_t, int64_t> {
    if (!op.getPairing())
      return {c, 0};
    if (c == 2 * n)
      return {n, 0};
    if (*op.getPairing() == Pairing::half)
      return {c % n, c / n};
    return {c / 2, c % 2};
  };
  for (int64_t token = 0; token < batch * length; ++token)
    for (int64_t c0 = 0; c0 < dim; c0 += RegionLanes::width) {
      double *elements = &vectors[token * dim + c0];
      int64_t count = std::min(RegionLanes::width, dim - c0);
      // Found first: what a table's region computes uses the lanes too.
      std::vector<EmbedNumbers> arguments;
      double row = 0;
      for (Value value : values) {
        bool isTable = isa<TableType>(value.getType());
        if (!isTable)
          row = numbers.find(value)->second[token];
        EmbedNumbers &argument = arguments.emplace_back(count, row);
        for (int64_t i = 0; isTable && i < count; ++i)
          argument[i] = lookUp(value, token, row, getPlace(c0 + i).first);
      }
      lanes.reset(3 + values.size());
      for (int64_t i = 0; i < count; ++i) {
        auto [k, part] = getPlace(c0 + i);
        lanes[0][i] = elements[i];
        lanes[1][i] = static_cast<double>(k);
        lanes[2][i] = static_cast<double>(part);
        for (auto [index, argument] : llvm::enumerate(arguments))
          lanes[3 + index][i] = argument[i];
      }
      std::copy_n(lanes[lanes.run(op.getBody())].begin(), count, elements);
    }
}

void EmbedCall::norm(VectorNormOp op) {
  double epsilon = op.getEpsilon().convertToDouble();
  for (int64_t n = 0; n < batch * length; ++n) {
    MutableArrayRef<double> x(&vectors[n * dim], dim);
    if (op.getKind() == NormKind::layer) {
      double mean = 0;
      for (double element : x)
        mean += element / dim;
      for (double &element : x)
        element -= mean;
    }
    double square = 0;
    for (double element : x)
      square += element * element;
    if (op.getKind() != NormKind::l2)
      square /= dim;
    double root = op.getEpsilonSite() == EpsilonSite::added
                      ? std::sqrt(square + epsilon)
                      : std::max(std::sqrt(square), epsilon);
    for (double &element : x)
      element /= root;
  }
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

EmbedNumbers EmbedCall::getFrequencies(Value freqs, Value position) {
  if (auto op = freqs.getDefiningOp<FreqsOp>()) {
    SmallVector<double> values = op.getLaw().getFrequencies();
    return EmbedNumbers(values.begin(), values.end());
  }
  while (auto remap = position.getDefiningOp<RemapOp>())
    position = remap.getPosition();
  auto origin = position.getDefiningOp<PositionOp>();
  auto iota = origin ? dyn_cast<IotaAttr>(origin.getLaw()) : IotaAttr();
  double extent =
      static_cast<double>(length + (iota ? iota.getOffset() : int64_t{0}));
  auto op = freqs.getDefiningOp<FreqsMapOp>();
  EmbedNumbers result;
  for (int64_t k = 0, e = op.getPairs(); k < e; ++k) {
    SmallVector<double> arguments = {static_cast<double>(k), extent};
    for (Value table : op.getTables())
      arguments.push_back(lookUp(table, 0, static_cast<double>(k), 0));
    result.push_back(evaluateScalar(op.getBody(), arguments));
  }
  return result;
}

void EmbedCall::rotate(RotateOp op) {
  SmallVector<EmbedNumbers> frequencies;
  for (auto [freqs, position] :
       llvm::zip_equal(op.getFreqs(), op.getPositions()))
    frequencies.push_back(getFrequencies(freqs, position));
  int64_t pairs = *op.getNumPairs(), first = op.getFirstDim();
  bool isHalf = op.getPairing() == Pairing::half;
  for (int64_t n = 0; n < batch * length; ++n) {
    EmbedNumbers cosines, sines;
    for (size_t m = 0; m < frequencies.front().size(); ++m) {
      double angle = 0;
      for (auto [position, values] :
           llvm::zip_equal(op.getPositions(), frequencies))
        angle += numbers.find(position)->second[n] * values[m];
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
    for (int64_t k = 0; k < pairs; ++k) {
      double cosine = 0, sine = 0;
      if (op.getMix().empty()) {
        cosine = cosines[k];
        sine = sines[k];
      }
      for (size_t m = 0; !op.getMix().empty() && m < cosines.size(); ++m) {
        double row = static_cast<double>(m);
        cosine += lookUp(op.getMix()[0], n, row, k) * cosines[m];
        sine += lookUp(op.getMix()[1], n, row, k) * sines[m];
      }
      if (!op.getModulus().empty()) {
        double modulus = evaluateScalar(
            op.getModulus(), {static_cast<double>(k),
                              numbers.find(op.getPositions()[0])->second[n]});
        cosine *= modulus;
        sine *= modulus;
      }
      double &a = vectors[n * dim + first + (isHalf ? k : 2 * k)];
      double &b = (&a)[isHalf ? pairs : 1];
      double turned = a * cosine - b * sine;
      b = a * sine + b * cosine;
      a = turned;
    }
  }
}
