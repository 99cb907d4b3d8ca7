// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relations and scores of pairs.
#include "Linear.h"
#include "Lookup.h"
#include "RowBlock.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

Numbers RowBlock::relate(RelationOp op) const {
  const Numbers &queries = positions.find(op.getQuery())->second;
  const Numbers &others = positions.find(op.getKey())->second;
  RelationLawAttrInterface law = op.getLaw();
  auto difference = dyn_cast<DifferenceAttr>(law);
  bool isFlipped =
      difference && difference.getOrientation() == Orientation::key_minus_query;
  Numbers result;
  result.reserve(getNumRows() * keys);
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      double distance = queries[i] - others[j];
      // Differences alone may be of real numbers.
      result.push_back(!difference ? static_cast<double>(law.apply(
                                         static_cast<int64_t>(distance)))
                       : isFlipped ? -distance
                                   : distance);
    }
  return result;
}

Numbers RowBlock::relate(RelationMapOp op, const HeadValues &values) const {
  Numbers result = evaluateRegion(op.getBody(), {}, op.getInputs(), values);
  if (std::optional<int64_t> rows = op.getRows())
    for (double &x : result)
      x = x > 0 ? std::min(x, static_cast<double>(*rows - 1)) : 0.0;
  return result;
}

//===----------------------------------------------------------------------===//
// Content
//===----------------------------------------------------------------------===//

Numbers RowBlock::dot(DotOp op, const HeadValues &values) const {
  int64_t headDim = call.shape.headDim, firstKey = 0, channels = headDim;
  const double *queries =
      values.head->vectors.find(op.getQuery())->second.data + begin * headDim;
  Numbers part;
  if (!op.isWhole()) {
    ArrayRef<int64_t> range = *op.getChannels();
    firstKey = range[1];
    channels = range[2];
    for (int64_t r = 0; r < getNumRows(); ++r) {
      const double *first = queries + r * headDim + range[0];
      part.insert(part.end(), first, first + channels);
    }
    queries = part.data();
  }
  const Numbers &transposed =
      *values.head->transposedKeys.find(op.getKey())->second;
  Numbers result(getNumRows() * keys);
  multiplyAdd(queries, transposed.data() + firstKey * keys, result.data(),
              getNumRows(), channels, keys);
  double scale = op.getScale().convertToDouble();
  for (double &score : result)
    score *= scale;
  return result;
}

Numbers RowBlock::dotTable(TableDotOp op, const HeadValues &values) const {
  int64_t headDim = call.shape.headDim;
  const double *vectors =
      values.head->vectors.find(op.getVector())->second.data;
  bool isOfQuery = getSideOfVector(op.getVector()) == Side::query;
  bool interpolates = isa<ScoreType>(op.getIndex().getType());
  const Table &table = values.head->tables.find(op.getTable())->second;
  const Numbers &index = values.pairs.find(op.getIndex())->second;
  double scale = op.getScale().convertToDouble();
  Numbers scratch;
  auto dotRow = [&](const double *vector, double row) {
    const double *entries = table.getChannels(table.getRow(row), scratch);
    double sum = 0;
    for (int64_t c = 0; c < headDim; ++c)
      sum += vector[c] * entries[c];
    return sum;
  };
  Numbers result(index.size());
  for (int64_t p = 0, e = result.size(); p < e; ++p) {
    const double *vector =
        vectors + (isOfQuery ? begin + p / keys : p % keys) * headDim;
    double at = index[p], low = interpolates ? std::floor(at) : at;
    if (interpolates && at == maskedScore) {
      result[p] = maskedScore;
      continue;
    }
    double sum = dotRow(vector, low);
    if (low != at)
      sum += (at - low) * (dotRow(vector, low + 1) - sum);
    result[p] = scale * sum;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// `masked` gets 1 for each pair that a score or a table of pairs masks.
Numbers RowBlock::evaluateRegion(Region &region, ValueRange scores,
                                 ValueRange inputs, const HeadValues &values,
                                 Numbers *maskedPairs) const {
  RegionEvaluator evaluator(region, inputs, scores.size(), positions,
                            values.head->tables);
  Numbers result(getNumRows() * keys);
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < keys; j += RegionLanes::width) {
      Place place{i, 0, j, 1, std::min(RegionLanes::width, keys - j)};
      int64_t first = (i - begin) * keys + j;
      bool masked[RegionLanes::width] = {};
      for (auto [index, score] : llvm::enumerate(scores)) {
        const double *numbers = &values.pairs.find(score)->second[first];
        std::copy_n(numbers, place.count, evaluator.getScore(index).begin());
        for (int64_t x = 0; x < place.count; ++x)
          masked[x] |= numbers[x] == maskedScore;
      }
      evaluator.run(
          place,
          [&](Value relation) {
            return &values.pairs.find(relation)->second[first];
          },
          &result[first], masked);
      if (maskedPairs)
        std::copy_n(masked, place.count, &(*maskedPairs)[first]);
    }
  return result;
}

/// A pair that is masked in a score or in a table of pairs stays masked.
Numbers RowBlock::evaluateScores(Region &region, ValueRange scores,
                                 ValueRange inputs,
                                 const HeadValues &values) const {
  Numbers masked(getNumRows() * keys);
  Numbers result = evaluateRegion(region, scores, inputs, values, &masked);
  for (auto [score, isMasked] : llvm::zip_equal(result, masked))
    if (isMasked != 0)
      score = maskedScore;
  return result;
}

/// Not the sum alone: a masked pair stays masked whatever is added.
Numbers RowBlock::addScores(AddOp op, const HeadValues &values) const {
  Numbers result = values.pairs.find(op.getLhs())->second;
  const Numbers &other = values.pairs.find(op.getRhs())->second;
  for (auto [x, y] : llvm::zip_equal(result, other))
    x = x == maskedScore || y == maskedScore ? maskedScore : x + y;
  return result;
}

Numbers RowBlock::isAllowed(SelectOp op, MaskAttrInterface mask) const {
  const CallShape &shape = call.shape;
  const Numbers *queries = nullptr, *others = nullptr;
  if (!op.getPositions().empty()) {
    queries = &positions.find(op.getPositions()[0])->second;
    others = &positions.find(op.getPositions()[1])->second;
  }
  Numbers result;
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < keys; ++j)
      result.push_back(queries
                           ? mask.allowsPair((*queries)[i], (*others)[j])
                           : mask.allows(i, shape.forgotten + j, shape.queryLen,
                                         shape.getSequenceLen()));
  return result;
}

Numbers RowBlock::select(SelectOp op, const HeadValues &values) const {
  Numbers result = values.pairs.find(op.getScore())->second;
  Numbers masked(result.size());
  Numbers allowed =
      op.getMaskAttr()
          ? isAllowed(op, op.getMaskAttr())
          : evaluateRegion(op.getBody(), {}, op.getInputs(), values, &masked);
  const Numbers *other =
      op.getOther() ? &values.pairs.find(op.getOther())->second : nullptr;
  for (size_t p = 0; p < result.size(); ++p) {
    if (allowed[p] == 0)
      result[p] = other ? (*other)[p] : maskedScore;
    if (masked[p] != 0)
      result[p] = maskedScore;
  }
  return result;
}

Numbers RowBlock::scan(RowscanOp op, const HeadValues &values) const {
  const Numbers &scores = values.pairs.find(op.getScore())->second;
  Numbers terms = mapNumbers(op.getBody(), scores);
  Numbers result(scores.size(), maskedScore);
  bool isInclusive = op.getKind() == ScanKind::inclusive;
  for (int64_t r = 0; r < getNumRows(); ++r) {
    double sum = 0;
    for (int64_t p = (r + 1) * keys - 1; p >= r * keys; --p) {
      if (scores[p] == maskedScore)
        continue;
      result[p] = sum + (isInclusive ? terms[p] : 0.0);
      sum += terms[p];
    }
  }
  return result;
}
