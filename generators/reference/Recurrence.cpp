// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc.recurrence: the rows of a call as its text says, from all pairs, and
// the state, token by token.
#include "Recurrence.h"
#include "Linear.h"
#include "RegionLanes.h"
#include "RowBlock.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

double posenc::getDecay(RecurrenceOp op, const Tables &tables) {
  if (!op.decays())
    return 1;
  RegionLanes lanes;
  lanes.reset(op.getTables().size());
  for (auto [index, table] : llvm::enumerate(op.getTables()))
    lanes[index][0] = tables.find(table)->second.at(0, 0, 0, 0);
  return lanes[lanes.run(op.getDecay())][0];
}

const double *posenc::findState(const Call &call, StringRef name, int64_t b,
                                int64_t head, int64_t size) {
  auto found = call.inputs.tables.find(name);
  return found == call.inputs.tables.end()
             ? nullptr
             : found->second.data.data() + (b * call.shape.heads + head) * size;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// The weights of one row: of the keys that it sees, and of the numbers of a
/// state, as which the keys before the call count.
struct RowWeights {
  Numbers ofKeys, ofState;
};
} // namespace

static double sumOfAbs(ArrayRef<double> numbers) {
  double sum = 0;
  for (double x : numbers)
    sum += std::abs(x);
  return sum;
}

/// Of the keys of the call up to a row's place.
Numbers RowBlock::sumProducts(ValueRange queries, ValueRange keyVectors,
                              const HeadValues &values) const {
  int64_t headDim = call.shape.headDim;
  Numbers result(getNumRows() * keys);
  for (auto [query, key] : llvm::zip_equal(queries, keyVectors))
    multiplyAdd(values.head->vectors.find(query)->second.data + begin * headDim,
                values.head->transposedKeys.find(key)->second->data(),
                result.data(), getNumRows(), headDim, keys);
  return result;
}

/// The queries of a row, one behind the other.
static Numbers gatherQueries(ValueRange queries, const Head &head, int64_t row,
                             int64_t headDim) {
  Numbers result;
  for (Value query : queries) {
    const double *first = head.vectors.find(query)->second.data + row * headDim;
    result.insert(result.end(), first, first + headDim);
  }
  return result;
}

RowBlock::Output RowBlock::recur(RecurrenceOp op, HeadValues &values) const {
  const Head &head = *values.head;
  const CallShape &shape = call.shape;
  int64_t headDim = shape.headDim, valueDim = shape.valueDim;
  int64_t stateRows = op.getKeys().size() * headDim;
  int64_t sumRows = op.getByKeys().size() * headDim;
  const double *state =
      findState(call, "state_in", head.batch, head.head, stateRows * valueDim);
  const double *sums =
      findState(call, "sums_in", head.batch, head.head, sumRows);
  const double *value = head.vectors.find(op.getValue())->second.data;
  double decay = getDecay(op, head.tables);
  double epsilon = op.getEpsilon() ? op.getEpsilon()->convertToDouble() : 0;
  int64_t first = shape.getFirstIndex(Alignment::bottom_right);

  Numbers by = sumProducts(op.getByQueries(), op.getByKeys(), values);
  Numbers scores(getNumRows() * keys);
  for (auto [index, scale] : llvm::enumerate(op.getScales())) {
    Numbers part =
        sumProducts(op.getQueries()[index], op.getKeys()[index], values);
    for (auto [sum, score] : llvm::zip_equal(scores, part))
      sum += scale * score;
  }

  Rows &rows = values.rows[op];
  Output output{Numbers(getNumRows() * valueDim), Numbers(getNumRows())};
  for (int64_t r = 0; r < getNumRows(); ++r) {
    int64_t place = begin + r + first;
    int64_t seen = std::clamp<int64_t>(place + 1, 0, keys);
    RowWeights weights, terms;
    for (int64_t j = 0; j < seen; ++j) {
      double power = std::pow(decay, place - j);
      weights.ofKeys.push_back(scores[r * keys + j] * power);
      if (op.divides())
        terms.ofKeys.push_back(by[r * keys + j] *
                               (op.getDecayedBy() ? power : 1));
    }
    double age = std::pow(decay, place + 1);
    if (state) {
      weights.ofState =
          gatherQueries(op.getQueries(), head, begin + r, headDim);
      for (auto [index, weight] : llvm::enumerate(weights.ofState))
        weight *= op.getScales()[index / headDim] * age;
    }
    if (sums) {
      terms.ofState =
          gatherQueries(op.getByQueries(), head, begin + r, headDim);
      for (auto [index, term] : llvm::enumerate(terms.ofState))
        term *= sums[index] * (op.getDecayedBy() ? age : 1);
    }

    double *out = &output.data[r * valueDim];
    multiplyAdd(weights.ofKeys.data(), value, out, 1, seen, valueDim);
    double bound = 0, greatest = 0;
    for (int64_t j = 0; j < seen; ++j)
      greatest = std::max(greatest, (*head.valueMagnitudes)[j]);
    bound = sumOfAbs(weights.ofKeys) * greatest;
    if (state)
      multiplyAdd(weights.ofState.data(), state, out, 1, stateRows, valueDim);
    for (auto [index, weight] : llvm::enumerate(weights.ofState)) {
      greatest = 0;
      for (int64_t c = 0; c < valueDim; ++c)
        greatest =
            std::max(greatest, getFiniteMagnitude(state[index * valueDim + c]));
      bound += std::abs(weight) * greatest;
    }
    double maxScore =
        std::max(getCondition(weights.ofKeys, sumOfAbs(weights.ofKeys)),
                 getCondition(weights.ofState, sumOfAbs(weights.ofState)));
    if (op.divides()) {
      llvm::append_range(terms.ofKeys, terms.ofState);
      terms.ofKeys.push_back(epsilon);
      double sum = 0;
      for (double term : terms.ofKeys)
        sum += term;
      maxScore += getCondition(terms.ofKeys, sum);
      for (int64_t c = 0; c < valueDim; ++c)
        out[c] = sum == 0 ? 0 : out[c] / sum;
      bound = sum == 0 ? 0 : bound / std::abs(sum);
    }
    output.bound[r] = bound;
    rows.maxScore.push_back(maxScore);
  }
  return output;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

namespace {
/// One tensor of a state and what its errors grow with.
struct StateRows {
  double *state, *bound;
  int64_t columns;
};
} // namespace

/// Adds a key, times each column of `value`, or once without it. The error of a
/// key's channel is in proportion to its greatest.
static void addKey(const StateRows &rows, double decay, const double *key,
                   const double *value, int64_t headDim) {
  double greatest = 0;
  for (int64_t d = 0; d < headDim; ++d)
    greatest = std::max(greatest, getFiniteMagnitude(key[d]));
  for (int64_t d = 0; d < headDim; ++d)
    for (int64_t c = 0; c < rows.columns; ++c) {
      double &state = rows.state[d * rows.columns + c],
             &bound = rows.bound[d * rows.columns + c];
      double factor = value ? value[c] : 1;
      state = decay * state + key[d] * factor;
      bound = std::abs(decay) * bound + greatest * std::abs(factor);
    }
}

/// Of several products one behind the other. `value` is null for sums, which
/// have one column.
static void advance(const Call &call, const Head &head, ValueRange keys,
                    double decay, const double *value, int64_t columns,
                    const double *before, RealTensor &state,
                    RealTensor &bound) {
  int64_t headDim = call.shape.headDim;
  int64_t size = keys.size() * headDim * columns;
  int64_t first = (head.batch * call.shape.heads + head.head) * size;
  for (int64_t i = 0; before && i < size; ++i) {
    state.data[first + i] = before[i];
    bound.data[first + i] = std::abs(before[i]);
  }
  for (auto [index, key] : llvm::enumerate(keys)) {
    int64_t part = first + index * headDim * columns;
    StateRows rows = {&state.data[part], &bound.data[part], columns};
    const double *vector = head.vectors.find(key)->second.data;
    for (int64_t j = 0; j < call.shape.keyLen; ++j)
      addKey(rows, decay, vector + j * headDim,
             value ? value + j * columns : nullptr, headDim);
  }
}

void posenc::allocateState(KernelOp kernel, int64_t batch, int64_t heads,
                           ReferenceOutputs &outputs) {
  RecurrenceOp op = kernel.getRecurrence();
  if (!op)
    return;
  int64_t headDim = kernel.getHeadDim();
  auto allocate = [&](RealTensor &tensor, ArrayRef<int64_t> shape) {
    tensor.shape.assign(shape.begin(), shape.end());
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    tensor.data.assign(count, 0);
  };
  auto rows = static_cast<int64_t>(op.getKeys().size()) * headDim,
       sumRows = static_cast<int64_t>(op.getByKeys().size()) * headDim;
  for (RealTensor *tensor : {&outputs.state, &outputs.stateBound})
    allocate(*tensor, {batch, heads, rows, kernel.getValueSize()});
  if (op.divides())
    for (RealTensor *tensor : {&outputs.sums, &outputs.sumsBound})
      allocate(*tensor, {batch, heads, sumRows});
}

void posenc::advanceState(const Call &call, RecurrenceOp op, const Head &head,
                          ReferenceOutputs &outputs) {
  int64_t headDim = call.shape.headDim;
  double decay = getDecay(op, head.tables);
  int64_t rows = op.getKeys().size() * headDim,
          sumRows = op.getByKeys().size() * headDim;
  advance(call, head, op.getKeys(), decay,
          head.vectors.find(op.getValue())->second.data, call.shape.valueDim,
          findState(call, "state_in", head.batch, head.head,
                    rows * call.shape.valueDim),
          outputs.state, outputs.stateBound);
  if (op.divides())
    advance(call, head, op.getByKeys(), op.getDecayedBy() ? decay : 1,
            /*value=*/nullptr, /*columns=*/1,
            findState(call, "sums_in", head.batch, head.head, sumRows),
            outputs.sums, outputs.sumsBound);
}
