// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights and outputs, and what bounds their errors.
#include "Linear.h"
#include "RowBlock.h"

#include "posenc/Reference/Philox.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// One row of scores on its way to weights.
struct Row {
  llvm::MutableArrayRef<double> scores;
  double sink = maskedScore;
  // Results
  double lse = maskedScore, maxScore = 0, mass = 0;

  double getMaxAbs() const {
    double maximum = 0;
    for (double score : scores)
      if (score != maskedScore)
        maximum = std::max(maximum, std::abs(score));
    return maximum;
  }
  bool isEmpty() const {
    return llvm::all_of(scores, [](double x) { return x == maskedScore; });
  }
};
} // namespace

static double sumOf(llvm::ArrayRef<double> numbers) {
  double sum = 0;
  for (double x : numbers)
    sum += x;
  return sum;
}

static double sumOfAbs(llvm::ArrayRef<double> numbers) {
  double sum = 0;
  for (double x : numbers)
    sum += std::abs(x);
  return sum;
}

/// Sets the log-sum-exp, and the scores to their exponentials relative to the
/// greatest; returns the sum of these and of the sink's.
static double exponentiate(Row &row) {
  double maximum = row.sink;
  for (double score : row.scores)
    maximum = std::max(maximum, score);
  double sum = row.sink == maskedScore ? 0.0 : std::exp(row.sink - maximum);
  for (double &score : row.scores) {
    score = score == maskedScore ? 0.0 : std::exp(score - maximum);
    sum += score;
  }
  row.lse = sum == 0 ? maskedScore : maximum + std::log(sum);
  return sum;
}

static void normalizeSoftmax(Row &row) {
  row.maxScore = row.getMaxAbs();
  if (row.sink != maskedScore)
    row.maxScore = std::max(row.maxScore, std::abs(row.sink));
  row.mass = row.isEmpty() ? 0.0 : 1.0;
  double sum = exponentiate(row);
  for (double &weight : row.scores)
    weight = sum == 0 ? 0.0 : weight / sum;
}

static void normalizeExp(Row &row) {
  row.maxScore = row.getMaxAbs();
  Numbers weights;
  for (double score : row.scores)
    weights.push_back(std::exp(score)); // 0 where masked
  exponentiate(row);
  llvm::copy(weights, row.scores.begin());
  row.mass = sumOf(row.scores);
}

double posenc::getCondition(llvm::ArrayRef<double> scores, double sum) {
  double maximum = 0, count = 0;
  for (double score : scores)
    if (score != maskedScore) {
      maximum = std::max(maximum, std::abs(score));
      ++count;
    }
  return sum == 0 ? 0.0 : count * maximum / std::abs(sum);
}

/// Weights that are scores over a denominator.
static void divide(Row &row, double denominator) {
  for (double &score : row.scores)
    score =
        score == maskedScore || denominator == 0 ? 0.0 : score / denominator;
  row.mass = sumOfAbs(row.scores);
}

static double sumOfAbsScores(llvm::ArrayRef<double> scores) {
  double sum = 0;
  for (double score : scores)
    sum += score == maskedScore ? 0.0 : std::abs(score);
  return sum;
}

static void normalizeByScores(Row &row,
                              std::optional<ArrayRef<double>> bounds) {
  double sum = sumOfAbsScores(row.scores);
  row.maxScore = getCondition(row.scores, sum);
  divide(row, bounds ? std::clamp(sum, (*bounds)[0], (*bounds)[1]) : 1.0);
}

/// A pair that is masked in either of the scores counts in neither sum.
static void normalizeLinear(Row &row, Numbers by) {
  double denominator = 0;
  for (auto [score, other] : llvm::zip_equal(row.scores, by)) {
    if (score == maskedScore || other == maskedScore)
      score = other = maskedScore;
    else
      denominator += other;
  }
  row.maxScore = getCondition(row.scores, sumOfAbsScores(row.scores)) +
                 getCondition(by, denominator);
  divide(row, denominator);
}

/// Masks the pairs that the call's lists of blocks leave out.
void RowBlock::hideUnlisted(Value score, HeadValues &values) const {
  if (!call.blocks)
    return;
  Numbers &scores = values.pairs.find(score)->second;
  for (int64_t r = 0; r < getNumRows(); ++r)
    for (int64_t j = 0; j < keys; ++j)
      if (!call.blocks->shows(values.head->batch, values.head->head, begin + r,
                              call.shape.forgotten + j))
        scores[r * keys + j] = maskedScore;
}

void RowBlock::normalize(NormalizeOp op, HeadValues &values) const {
  hideUnlisted(op.getScore(), values);
  Numbers weights = values.pairs.find(op.getScore())->second;
  Rows &result = values.rows[op];
  for (int64_t r = 0; r < getNumRows(); ++r) {
    Row row;
    row.scores = llvm::MutableArrayRef(weights).slice(r * keys, keys);
    if (op.getSink())
      row.sink = values.head->tables.find(op.getSink())->second.at(0, 0, 0, 0);
    switch (op.getKind()) {
    case NormalizeKind::softmax:
      normalizeSoftmax(row);
      break;
    case NormalizeKind::exp:
      normalizeExp(row);
      break;
    case NormalizeKind::identity:
    case NormalizeKind::abs_sum:
      normalizeByScores(row, op.getBounds());
      break;
    case NormalizeKind::linear: {
      auto by = values.pairs.find(op.getDenominator())->second.begin();
      normalizeLinear(row, Numbers(by + r * keys, by + (r + 1) * keys));
      break;
    }
    }
    result.lse.push_back(row.lse);
    result.maxScore.push_back(row.maxScore);
    result.mass.push_back(row.mass);
    result.sum.push_back(sumOf(row.scores));
  }
  values.pairs[op] = std::move(weights);
}

/// What is dropped leaves the row's log-sum-exp and condition as they are.
void RowBlock::drop(DropWeightsOp op, HeadValues &values,
                    ReferenceOutputs &outputs) const {
  const ReferenceInputs &inputs = call.inputs;
  double rate = op.getProbability().convertToDouble();
  PairDraws draws(inputs.seed, inputs.offset,
                  inputs.firstBatch + values.head->batch,
                  inputs.firstHead + values.head->head);
  Numbers weights = values.pairs.find(op.getWeights())->second;
  Rows rows = values.rows.find(op.getWeights())->second;
  int64_t shift = call.shape.getFirstPlace(Alignment::bottom_right);
  for (int64_t r = 0; r < getNumRows(); ++r) {
    auto row = llvm::MutableArrayRef(weights).slice(r * keys, keys);
    for (auto [j, weight] : llvm::enumerate(row)) {
      bool isKept =
          draws.draw(begin + r + shift, call.shape.forgotten + j) >= rate;
      weight = isKept ? weight / (1 - rate) : 0;
      if (!outputs.kept.data.empty())
        outputs.kept.data[(getFirstRow(values) + r) * keys + j] = isKept;
    }
    rows.mass[r] = sumOfAbs(row);
    rows.sum[r] = sumOf(row);
  }
  values.pairs[op] = std::move(weights);
  values.rows[op] = std::move(rows);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The scores that weights were made of.
static Value getScore(Value weights) {
  if (auto drop = weights.getDefiningOp<DropWeightsOp>())
    weights = drop.getWeights();
  return weights.getDefiningOp<NormalizeOp>().getScore();
}

RowBlock::Output RowBlock::sumValues(WeightedSumOp op,
                                     const HeadValues &values) const {
  const Numbers &weights = values.pairs.find(op.getWeights())->second;
  const Numbers &scores = values.pairs.find(getScore(op.getWeights()))->second;
  const Rows &rows = values.rows.find(op.getWeights())->second;
  const Numbers &magnitudes = *values.head->valueMagnitudes;
  int64_t valueDim = call.shape.valueDim;
  Output result{Numbers(getNumRows() * valueDim), Numbers(getNumRows())};
  auto multiply =
      values.head->hasFiniteValues ? multiplyAdd : multiplyAddNonzeros;
  multiply(weights.data(),
           values.head->vectors.find(op.getValue())->second.data,
           result.data.data(), getNumRows(), keys, valueDim);
  for (int64_t r = 0; r < getNumRows(); ++r) {
    for (int64_t j = 0; j < keys; ++j)
      if (scores[r * keys + j] != maskedScore)
        result.bound[r] = std::max(result.bound[r], magnitudes[j]);
    result.bound[r] *= rows.mass[r];
  }
  return result;
}

RowBlock::Output RowBlock::sumTable(ValueTableOp op,
                                    const HeadValues &values) const {
  const Numbers &weights = values.pairs.find(op.getWeights())->second;
  const Numbers &scores = values.pairs.find(getScore(op.getWeights()))->second;
  const Numbers &relation = values.pairs.find(op.getRelation())->second;
  const Rows &rows = values.rows.find(op.getWeights())->second;
  const Table &table = values.head->tables.find(op.getTable())->second;
  int64_t valueDim = call.shape.valueDim;
  Output result{Numbers(getNumRows() * valueDim), Numbers(getNumRows())};
  Numbers scratch;
  for (int64_t p = 0, e = weights.size(); p < e; ++p) {
    if (scores[p] == maskedScore)
      continue;
    int64_t r = p / keys;
    const double *row = table.getChannels(table.getRow(relation[p]), scratch);
    for (int64_t c = 0; c < valueDim; ++c) {
      result.bound[r] = std::max(result.bound[r], getFiniteMagnitude(row[c]));
      if (weights[p] != 0)
        result.data[r * valueDim + c] += weights[p] * row[c];
    }
  }
  for (int64_t r = 0; r < getNumRows(); ++r)
    result.bound[r] *= rows.mass[r];
  return result;
}

RowBlock::Output RowBlock::addRemainder(RemainderOp op,
                                        const HeadValues &values) const {
  const Rows &rows = values.rows.find(op.getWeights())->second;
  int64_t valueDim = call.shape.valueDim;
  int64_t first = begin + call.shape.getFirstIndex(Alignment::bottom_right);
  const double *value = values.head->vectors.find(op.getValue())->second.data;
  Output result{Numbers(getNumRows() * valueDim), Numbers(getNumRows())};
  for (int64_t r = 0; r < getNumRows(); ++r) {
    double rest = 1 - rows.sum[r];
    for (int64_t c = 0; rest != 0 && c < valueDim; ++c)
      result.data[r * valueDim + c] = rest * value[(first + r) * valueDim + c];
    // Its error is also that of the weights which are taken off.
    result.bound[r] = (std::abs(rest) + rows.mass[r]) *
                      (*values.head->valueMagnitudes)[first + r];
  }
  return result;
}

RowBlock::Output RowBlock::addOutputs(AddOp op,
                                      const HeadValues &values) const {
  Output result = values.outputs.find(op.getLhs())->second;
  const Output &other = values.outputs.find(op.getRhs())->second;
  for (auto [x, y] : llvm::zip_equal(result.data, other.data))
    x += y;
  for (auto [x, y] : llvm::zip_equal(result.bound, other.bound))
    x += y;
  return result;
}

void RowBlock::write(const HeadValues &values, YieldOp yield,
                     ReferenceOutputs &outputs) const {
  const CallShape &shape = call.shape;
  int64_t firstRow = getFirstRow(values);
  const Output &output = values.outputs.find(yield.getOperand(0))->second;
  llvm::copy(output.data, outputs.o.data.begin() + firstRow * shape.valueDim);
  llvm::copy(output.bound, outputs.maxValue.data.begin() + firstRow);
  bool isFirst = true;
  for (RecurrenceOp op : call.body.getOps<RecurrenceOp>())
    llvm::copy(values.rows.find(op)->second.maxScore,
               outputs.maxScore.data.begin() + firstRow);
  for (NormalizeOp op : call.body.getOps<NormalizeOp>()) {
    const Rows &rows = values.rows.find(op)->second;
    for (int64_t r = 0; r < getNumRows(); ++r) {
      double &maxScore = outputs.maxScore.data[firstRow + r];
      maxScore = std::max(maxScore, rows.maxScore[r]);
    }
    if (isFirst && !outputs.lse.data.empty())
      llvm::copy(rows.lse, outputs.lse.data.begin() + firstRow);
    if (isFirst && !outputs.scores.data.empty())
      llvm::copy(values.pairs.find(op.getScore())->second,
                 outputs.scores.data.begin() + firstRow * shape.keyLen);
    isFirst = false;
  }
}
