// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cosines and sines of rotations.
#include "Lookup.h"
#include "Vectors.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

/// The offset of positions that are counted from the storage index.
static int64_t getIotaOffset(Value position) {
  while (auto remap = position.getDefiningOp<RemapOp>())
    position = remap.getPosition();
  auto iota = dyn_cast<IotaAttr>(position.getDefiningOp<PositionOp>().getLaw());
  return iota ? iota.getOffset() : 0;
}

static Numbers mapFrequencies(FreqsMapOp op, double length,
                              const Tables &tables) {
  Numbers result(op.getPairs());
  RegionLanes lanes;
  unsigned numTables = op.getTables().size();
  for (int64_t k0 = 0, e = result.size(); k0 < e; k0 += RegionLanes::width) {
    int64_t count = std::min(RegionLanes::width, e - k0);
    lanes.reset(2 + numTables);
    for (int64_t x = 0; x < count; ++x) {
      lanes[0][x] = static_cast<double>(k0 + x);
      lanes[1][x] = length;
      for (unsigned t = 0; t < numTables; ++t)
        lanes[2 + t][x] =
            tables.find(op.getTables()[t])->second.at(lanes[0][x], 0, 0, 0);
    }
    std::copy_n(lanes[lanes.run(op.getBody())].begin(), count, &result[k0]);
  }
  return result;
}

/// Frequencies by which `position` turns.
static Numbers getFrequencies(Value freqs, Value position, const Call &call,
                              const Tables &tables) {
  if (auto op = freqs.getDefiningOp<FreqsOp>()) {
    llvm::SmallVector<double> values = op.getLaw().getFrequencies();
    return Numbers(values.begin(), values.end());
  }
  int64_t length = call.shape.getSequenceLen() + getIotaOffset(position);
  return mapFrequencies(freqs.getDefiningOp<FreqsMapOp>(),
                        static_cast<double>(length), tables);
}

/// parts[tokens, frequencies] mixed to [tokens, pairs].
static Numbers mix(const Numbers &parts, int64_t tokens, const Table &weights) {
  int64_t pairs = weights.channels, n = weights.numRows;
  Numbers result(tokens * pairs);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t k = 0; k < pairs; ++k)
      for (int64_t m = 0; m < n; ++m)
        result[t * pairs + k] +=
            weights.at(static_cast<double>(m), 0, 0, k) * parts[t * n + m];
  return result;
}

/// Cosines and sines times region(pair, position).
static void applyModulus(Region &region, const Numbers &positions,
                         Angles &angles) {
  RegionLanes lanes;
  for (int64_t i = 0, e = angles.cos.size(); i < e; i += RegionLanes::width) {
    int64_t count = std::min(RegionLanes::width, e - i);
    lanes.reset(2);
    for (int64_t x = 0; x < count; ++x) {
      lanes[0][x] = static_cast<double>((i + x) % angles.pairs);
      lanes[1][x] = positions[(i + x) / angles.pairs];
    }
    const RegionLanes::Register &modulus = lanes[lanes.run(region)];
    for (int64_t x = 0; x < count; ++x) {
      angles.cos[i + x] *= modulus[x];
      angles.sin[i + x] *= modulus[x];
    }
  }
}

Angles posenc::computeAngles(RotateOp op, const Call &call,
                             const Positions &positions, const Tables &tables) {
  int64_t tokens = call.shape.getLength(getSideOfVector(op.getInput()));
  Numbers turns;
  for (auto [position, freqs] :
       llvm::zip_equal(op.getPositions(), op.getFreqs())) {
    Numbers frequencies = getFrequencies(freqs, position, call, tables);
    const Numbers &places = positions.find(position)->second;
    size_t n = frequencies.size();
    turns.resize(tokens * n);
    for (int64_t t = 0; t < tokens; ++t)
      for (size_t k = 0; k < n; ++k)
        turns[t * n + k] += places[t] * frequencies[k];
  }
  Angles angles;
  for (double turn : turns) {
    angles.cos.push_back(std::cos(turn));
    angles.sin.push_back(std::sin(turn));
  }
  if (!op.getMix().empty()) {
    angles.cos = mix(angles.cos, tokens, tables.find(op.getMix()[0])->second);
    angles.sin = mix(angles.sin, tokens, tables.find(op.getMix()[1])->second);
  }
  angles.pairs = tokens ? angles.cos.size() / tokens : 0;
  if (!op.getModulus().empty())
    applyModulus(op.getModulus(), positions.find(op.getPositions()[0])->second,
                 angles);
  return angles;
}
