// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small network over the scores of all heads.
#include "Lookup.h"
#include "RowBlock.h"

using namespace mlir;
using namespace posenc;

/// One row of every score and head, [n H, Lk].
Numbers RowBlock::gatherScores(HeadMlpOp op, int64_t row) const {
  Numbers scores;
  for (Value score : op.getScores())
    for (const HeadValues &values : heads) {
      const double *first =
          values.pairs.find(score)->second.data() + row * keys;
      scores.insert(scores.end(), first, first + keys);
    }
  return scores;
}

/// The hidden units, [hidden, Lk]. Keys beyond the ends and masked pairs count
/// as 0; a unit belongs to all heads and is 0 where all of them are masked.
Numbers RowBlock::computeHidden(HeadMlpOp op, const Numbers &scores) const {
  const Tables &tables = heads.front().head->tables;
  const Table &weights = tables.find(op.getWeightsIn())->second;
  const Table &bias = tables.find(op.getBiasIn())->second;
  int64_t taps = op.getTaps(), hidden = bias.channels;
  Numbers result(hidden * keys);
  for (int64_t m = 0; m < hidden; ++m)
    for (int64_t j = 0; j < keys; ++j) {
      double sum = bias.at(0, 0, 0, m);
      for (int64_t g = 0, e = scores.size() / keys; g < e; ++g)
        for (int64_t t = 0; t < taps; ++t) {
          int64_t key = j + t - taps / 2;
          if (key < 0 || key >= keys || scores[g * keys + key] == maskedScore)
            continue;
          sum += weights.at(static_cast<double>(g * taps + t), 0, 0, m) *
                 scores[g * keys + key];
        }
      result[m * keys + j] = sum;
    }
  result = mapNumbers(op.getBody(), result);
  for (int64_t j = 0; j < keys; ++j) {
    bool isMasked = true;
    for (size_t p = j; p < scores.size(); p += keys)
      isMasked &= scores[p] == maskedScore;
    for (int64_t m = 0; isMasked && m < hidden; ++m)
      result[m * keys + j] = 0;
  }
  return result;
}

void RowBlock::writeScores(HeadMlpOp op, int64_t row, const Numbers &scores,
                           const Numbers &hidden) {
  int64_t taps = op.getTaps(), units = keys ? hidden.size() / keys : 0;
  for (auto [h, values] : llvm::enumerate(heads)) {
    const Table &weights = values.head->tables.find(op.getWeightsOut())->second;
    const Table &bias = values.head->tables.find(op.getBiasOut())->second;
    double *result = values.pairs[op].data() + row * keys;
    for (int64_t j = 0; j < keys; ++j) {
      double sum = bias.at(0, 0, 0, 0);
      for (int64_t m = 0; m < units; ++m)
        for (int64_t t = 0; t < taps; ++t)
          if (int64_t key = j + t - taps / 2; key >= 0 && key < keys)
            sum += weights.at(static_cast<double>(m * taps + t), 0, 0, 0) *
                   hidden[m * keys + key];
      // Masked in any of the head's own scores.
      for (size_t s = 0; s < op.getScores().size(); ++s)
        if (scores[(s * heads.size() + h) * keys + j] == maskedScore)
          sum = maskedScore;
      result[j] = sum;
    }
  }
}

void RowBlock::mixHeads(HeadMlpOp op) {
  for (HeadValues &values : heads)
    values.pairs[op].resize(getNumRows() * keys);
  for (int64_t row = 0; row < getNumRows(); ++row) {
    Numbers scores = gatherScores(op, row);
    writeScores(op, row, scores, computeHidden(op, scores));
  }
}
