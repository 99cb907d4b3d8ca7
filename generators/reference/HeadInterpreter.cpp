// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of each operation of level 2.
#include "HeadInterpreter.h"

#include "Linear.h"
#include "RegionLanes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace posenc;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// In a table of pairs, a number up to this one masks the pair.
static constexpr double maskingNumber = -1e30;

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

static llvm::Error unsupported(Operation &op, const llvm::Twine &what) {
  return llvm::createStringError("expected operations of level 2, but '" +
                                 op.getName().getStringRef() + "' " + what);
}

llvm::Error HeadInterpreter::checkBody(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto position = dyn_cast<PositionOp>(op)) {
      if (!isa<IotaAttr, PositionTensorAttr>(position.getLaw()))
        return unsupported(op, "has a law that is neither #posenc.iota nor "
                               "#posenc.position_tensor");
    } else if (!isa<RelationOp, FreqsOp, TableOp, RotateOp, DotOp, BiasOp,
                    MapOp, AddOp, SelectOp, NormalizeOp, WeightedSumOp,
                    YieldOp>(op)) {
      return unsupported(op, "is none");
    }
  }
  return llvm::Error::success();
}

HeadInterpreter::HeadInterpreter(KernelOp kernel, const ReferenceInputs &inputs,
                                 const CallShape &shape)
    : body(kernel.getBody().front()), kernelHeads(kernel.getHeads()),
      inputs(inputs), shape(shape) {}

int64_t HeadInterpreter::getLength(Side side) const {
  return side == Side::query ? shape.queryLen : shape.keyLen;
}

//===----------------------------------------------------------------------===//
// Once per batch entry
//===----------------------------------------------------------------------===//

void HeadInterpreter::enterBatch(int64_t b) {
  batchIndex = b;
  headIndex = kvHeadIndex = -1;
  for (Operation &op : body) {
    if (auto position = dyn_cast<PositionOp>(op))
      computePositions(position, b);
    else if (auto rotation = dyn_cast<RotateOp>(op))
      computeAngles(rotation);
  }
}

void HeadInterpreter::computePositions(PositionOp op, int64_t b) {
  std::vector<int64_t> &result = positions[op];
  result.resize(getLength(op.getSide()));
  int64_t first = op.getSide() == Side::query &&
                          op.getLaw().getAlignment() == Alignment::bottom_right
                      ? shape.keyLen - shape.queryLen
                      : 0;
  const int64_t *given = nullptr;
  int64_t offset = 0;
  if (auto tensor = dyn_cast<PositionTensorAttr>(op.getLaw()))
    given = inputs.positions.find(tensor.getName())->second.data.data() +
            b * shape.keyLen;
  else
    offset = cast<IotaAttr>(op.getLaw()).getOffset();
  for (int64_t t = 0, e = result.size(); t < e; ++t)
    result[t] = given ? given[first + t] : first + t + offset;
}

void HeadInterpreter::computeAngles(RotateOp op) {
  Angles &result = angles[op];
  result.cos.clear();
  result.sin.clear();
  llvm::SmallVector<double> frequencies =
      op.getFreqs().front().getDefiningOp<FreqsOp>().getLaw().getFrequencies();
  for (int64_t position : positions[op.getPositions().front()])
    for (double frequency : frequencies) {
      result.cos.push_back(std::cos(position * frequency));
      result.sin.push_back(std::sin(position * frequency));
    }
}

//===----------------------------------------------------------------------===//
// Once per head
//===----------------------------------------------------------------------===//

void HeadInterpreter::rotate(RotateOp op) {
  int64_t tokens = getLength(
      isa<QueryType>(op.getInput().getType()) ? Side::query : Side::key);
  const Angles &angle = angles[op];
  const double *input = vectors[op.getInput()];
  std::vector<double> &result = rotated[op];
  result.assign(input, input + tokens * shape.headDim);
  int64_t pairs = tokens ? angle.cos.size() / tokens : 0;
  bool half = op.getPairing() == Pairing::half;
  for (int64_t t = 0; t < tokens; ++t) {
    double *channels = &result[t * shape.headDim + op.getFirstDim()];
    for (int64_t p = 0; p < pairs; ++p) {
      double &a = channels[half ? p : 2 * p];
      double &b = channels[half ? p + pairs : 2 * p + 1];
      double cos = angle.cos[t * pairs + p], sin = angle.sin[t * pairs + p];
      double turned = a * cos - b * sin;
      b = a * sin + b * cos;
      a = turned;
    }
  }
  vectors[op] = result.data();
}

void HeadInterpreter::enterKeyHead(int64_t kvHead) {
  kvHeadIndex = kvHead;
  int64_t head = batchIndex * shape.kvHeads + kvHead;
  vectors[body.getArgument(1)] =
      inputs.k.data.data() + head * shape.keyLen * shape.headDim;
  const double *values =
      inputs.v.data.data() + head * shape.keyLen * shape.valueDim;
  vectors[body.getArgument(2)] = values;
  valueMagnitudes.assign(shape.keyLen, 0.0);
  valuesAreFinite = true;
  for (int64_t j = 0; j < shape.keyLen; ++j)
    for (int64_t c = 0; c < shape.valueDim; ++c) {
      double magnitude = std::abs(values[j * shape.valueDim + c]);
      valuesAreFinite &= std::isfinite(magnitude);
      valueMagnitudes[j] = std::max(valueMagnitudes[j], magnitude);
    }
  for (Operation &op : body) {
    auto rotation = dyn_cast<RotateOp>(op);
    if (rotation && isa<KeyType>(rotation.getType()))
      rotate(rotation);
    if (auto dot = dyn_cast<DotOp>(op)) {
      std::vector<double> &transposed = transposedKeys[dot.getKey()];
      transposed.resize(shape.keyLen * shape.headDim);
      transpose(vectors[dot.getKey()], transposed.data(), shape.keyLen,
                shape.headDim);
    }
  }
}

/// Axes are stored in the order of the table's type, the last one fastest.
void HeadInterpreter::viewTable(TableOp op) {
  TableView view;
  llvm::SmallVector<int64_t> extents;
  int64_t head = headIndex;
  if (auto operand = dyn_cast<OperandAttr>(op.getLaw())) {
    const RealTensor &tensor = inputs.tables.find(operand.getName())->second;
    view.data = tensor.data.data();
    extents.assign(tensor.shape.begin(), tensor.shape.end());
  } else {
    view.data =
        cast<ConstantsAttr>(op.getLaw()).getValues().asArrayRef().data();
    head += shape.firstHead; // constants are the whole kernel's
    for (TableAxis axis : op.getType().getAxes())
      extents.push_back(axis == TableAxis::head ? kernelHeads
                                                : op.getNumRows().value());
  }
  int64_t stride = 1;
  for (size_t axis = extents.size(); axis-- > 0; stride *= extents[axis])
    switch (op.getType().getAxes()[axis]) {
    case TableAxis::row:
      view.rowStride = stride;
      break;
    case TableAxis::head:
      // A table without elements has no address to count from.
      if (view.data && extents[axis] != 1)
        view.data += head * stride;
      break;
    case TableAxis::query:
      view.queryStride = stride;
      break;
    case TableAxis::key:
      view.keyStride = stride;
      break;
    case TableAxis::batch:
    case TableAxis::channel:
      break;
    }
  view.masks = op.getType().hasAxis(TableAxis::query) &&
               op.getType().hasAxis(TableAxis::key);
  tables[op] = view;
}

void HeadInterpreter::enterHead(int64_t h) {
  headIndex = h;
  int64_t kvHead = h / (shape.heads / shape.kvHeads);
  if (kvHead != kvHeadIndex)
    enterKeyHead(kvHead);
  vectors[body.getArgument(0)] =
      inputs.q.data.data() +
      (batchIndex * shape.heads + h) * shape.queryLen * shape.headDim;
  for (Operation &op : body) {
    auto rotation = dyn_cast<RotateOp>(op);
    if (rotation && isa<QueryType>(rotation.getType()))
      rotate(rotation);
    else if (auto table = dyn_cast<TableOp>(op))
      viewTable(table);
  }
}

//===----------------------------------------------------------------------===//
// Per pair
//===----------------------------------------------------------------------===//

/// The region of a bias or, with a score, of a map.
std::vector<double>
HeadInterpreter::evaluateRegion(Region &region, Value score, ValueRange inputs,
                                int64_t begin, int64_t end,
                                const PairValues &values) const {
  int64_t keys = shape.keyLen;
  unsigned leading = score ? 1 : 0;
  std::vector<double> result((end - begin) * keys);
  RegionLanes lanes;
  for (int64_t i = begin; i < end; ++i) {
    int64_t rowStart = (i - begin) * keys;
    for (int64_t j0 = 0; j0 < keys; j0 += RegionLanes::width) {
      int64_t count = std::min(RegionLanes::width, keys - j0);
      bool masked[RegionLanes::width] = {};
      const double *relation = nullptr;
      lanes.reset(inputs.size() + leading);
      if (score) {
        const double *scores = &values.find(score)->second[rowStart + j0];
        std::copy_n(scores, count, lanes[0].begin());
        for (int64_t x = 0; x < count; ++x)
          masked[x] = scores[x] == -infinity;
      }
      for (auto [index, input] : llvm::enumerate(inputs)) {
        RegionLanes::Register &argument = lanes[index + leading];
        if (isa<RelationType>(input.getType())) {
          relation = &values.find(input)->second[rowStart + j0];
          std::copy_n(relation, count, argument.begin());
        } else if (isa<CoordType>(input.getType())) {
          const std::vector<int64_t> &tokens = positions.find(input)->second;
          bool ofQuery =
              input.getDefiningOp<PositionOp>().getSide() == Side::query;
          for (int64_t x = 0; x < count; ++x)
            argument[x] = tokens[ofQuery ? i : j0 + x];
        } else {
          const TableView &table = tables.find(input)->second;
          for (int64_t x = 0; x < count; ++x) {
            int64_t row =
                table.rowStride ? static_cast<int64_t>(relation[x]) : 0;
            argument[x] =
                table.data[row * table.rowStride + i * table.queryStride +
                           (j0 + x) * table.keyStride];
            masked[x] |= table.masks && argument[x] <= maskingNumber;
          }
        }
      }
      const RegionLanes::Register &yielded = lanes[lanes.run(region)];
      for (int64_t x = 0; x < count; ++x)
        result[rowStart + j0 + x] = masked[x] ? -infinity : yielded[x];
    }
  }
  return result;
}

/// Scores become weights; returns the log-sum-exp of each row.
static std::vector<double> normalizeRows(std::vector<double> &scores,
                                         int64_t rows, int64_t keys) {
  std::vector<double> lse(rows);
  for (int64_t r = 0; r < rows; ++r) {
    double *row = scores.data() + r * keys;
    double maximum = -infinity, sum = 0;
    for (int64_t j = 0; j < keys; ++j)
      maximum = std::max(maximum, row[j]);
    for (int64_t j = 0; j < keys; ++j) {
      row[j] = row[j] == -infinity ? 0.0 : std::exp(row[j] - maximum);
      sum += row[j];
    }
    lse[r] = sum == 0 ? -infinity : maximum + std::log(sum);
    for (int64_t j = 0; j < keys && sum != 0; ++j)
      row[j] /= sum;
  }
  return lse;
}

void HeadInterpreter::evaluateRows(int64_t begin, int64_t end,
                                   ReferenceOutputs &outputs) const {
  int64_t rows = end - begin, keys = shape.keyLen;
  int64_t firstRow =
      (batchIndex * shape.heads + headIndex) * shape.queryLen + begin;
  PairValues values;
  PairValues sums, lses; // per row: of weighted_sum, of normalize
  auto combine = [&](Value x, Value y) {
    std::vector<double> result = values.find(x)->second;
    const std::vector<double> &other = values.find(y)->second;
    for (size_t p = 0; p < result.size(); ++p)
      // Not the sum alone: a masked pair stays masked whatever is added.
      result[p] = result[p] == -infinity || other[p] == -infinity
                      ? -infinity
                      : result[p] + other[p];
    return result;
  };
  for (Operation &nested : body)
    llvm::TypeSwitch<Operation *>(&nested)
        .Case<RelationOp>([&](RelationOp op) {
          std::vector<double> result(rows * keys);
          const auto &queries = positions.find(op.getQuery())->second;
          const auto &others = positions.find(op.getKey())->second;
          RelationLawAttrInterface law = op.getLaw();
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t j = 0; j < keys; ++j)
              result[r * keys + j] = law.apply(queries[begin + r] - others[j]);
          values[op] = std::move(result);
        })
        .Case<DotOp>([&](DotOp op) {
          std::vector<double> result(rows * keys);
          multiplyAdd(vectors.find(op.getQuery())->second +
                          begin * shape.headDim,
                      transposedKeys.find(op.getKey())->second.data(),
                      result.data(), rows, shape.headDim, keys);
          double scale = op.getScale().convertToDouble();
          for (double &score : result)
            score *= scale;
          values[op] = std::move(result);
        })
        .Case<BiasOp>([&](BiasOp op) {
          values[op] = evaluateRegion(op.getBody(), Value(), op.getInputs(),
                                      begin, end, values);
        })
        .Case<MapOp>([&](MapOp op) {
          values[op] = evaluateRegion(op.getBody(), op.getScores().front(),
                                      op.getInputs(), begin, end, values);
        })
        .Case<AddOp>([&](AddOp op) {
          std::vector<double> sum = combine(op.getLhs(), op.getRhs());
          values[op] = std::move(sum);
        })
        .Case<SelectOp>([&](SelectOp op) {
          std::vector<double> result = values.find(op.getScore())->second;
          MaskAttrInterface mask = op.getMaskAttr();
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t j = 0; j < keys; ++j)
              if (!mask.allows(begin + r, j, shape.queryLen, keys))
                result[r * keys + j] = -infinity;
          values[op] = std::move(result);
        })
        .Case<NormalizeOp>([&](NormalizeOp op) {
          std::vector<double> result = values.find(op.getScore())->second;
          lses[op] = normalizeRows(result, rows, keys);
          values[op] = std::move(result);
        })
        .Case<WeightedSumOp>([&](WeightedSumOp op) {
          std::vector<double> result(rows * shape.valueDim);
          auto multiply = valuesAreFinite ? multiplyAdd : multiplyAddNonzeros;
          multiply(values.find(op.getWeights())->second.data(),
                   vectors.find(op.getValue())->second, result.data(), rows,
                   keys, shape.valueDim);
          sums[op] = std::move(result);
        })
        .Case<YieldOp>([&](YieldOp op) {
          auto sum = op.getOperand(0).getDefiningOp<WeightedSumOp>();
          auto normalize = sum.getWeights().getDefiningOp<NormalizeOp>();
          llvm::copy(sums[sum],
                     outputs.o.data.begin() + firstRow * shape.valueDim);
          llvm::copy(lses[normalize], outputs.lse.data.begin() + firstRow);
          const std::vector<double> &scores =
              values.find(normalize.getScore())->second;
          if (!outputs.scores.data.empty())
            llvm::copy(scores, outputs.scores.data.begin() + firstRow * keys);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t j = 0; j < keys; ++j) {
              double score = scores[r * keys + j];
              if (score == -infinity)
                continue;
              double &maxScore = outputs.maxScore.data[firstRow + r];
              double &maxValue = outputs.maxValue.data[firstRow + r];
              maxScore = std::max(maxScore, std::abs(score));
              maxValue = std::max(maxValue, valueMagnitudes[j]);
            }
        });
}
