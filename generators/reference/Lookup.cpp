// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lookup.h"

using namespace mlir;
using namespace posenc;

/// In a table of pairs, a number up to this one masks the pair.
static constexpr double maskingNumber = -1e30;

Numbers posenc::mapNumbers(Region &region, const Numbers &numbers) {
  Numbers result(numbers.size());
  RegionLanes lanes;
  for (size_t t = 0; t < numbers.size(); t += RegionLanes::width) {
    size_t count = std::min<size_t>(RegionLanes::width, numbers.size() - t);
    lanes.reset(1);
    std::copy_n(&numbers[t], count, lanes[0].begin());
    std::copy_n(lanes[lanes.run(region)].begin(), count, &result[t]);
  }
  return result;
}

RegionEvaluator::RegionEvaluator(Region &region, ValueRange values,
                                 unsigned numScores, const Positions &positions,
                                 const Tables &tables)
    : region(region), numScores(numScores) {
  int row = -1, sum = -1; // the nearest before
  auto varies = [&](int reg) {
    return reg >= 0 && inputs[reg - numScores].varies;
  };
  for (auto [index, value] : llvm::enumerate(values)) {
    Input input;
    input.value = value;
    if (auto sumIndex = value.getDefiningOp<SumIndexOp>()) {
      sumExtent = sumIndex.getExtent();
      input.varies = true;
      row = sum = numScores + index;
    } else if (auto type = dyn_cast<TableType>(value.getType())) {
      input.table = &tables.find(value)->second;
      input.rowRegister = type.hasAxis(TableAxis::row) ? row : -1;
      input.channelRegister = type.hasAxis(TableAxis::channel) ? sum : -1;
      input.varies = varies(input.rowRegister) || varies(input.channelRegister);
    } else {
      row = numScores + index;
      if (isa<CoordType>(value.getType())) {
        input.position = &positions.find(value)->second;
        input.isOfQuery = getSide(value) == Side::query;
      }
    }
    inputs.push_back(input);
  }
  lanes.reset(numScores + inputs.size());
}

void RegionEvaluator::fillFromTable(const Input &input,
                                    RegionLanes::Register &argument,
                                    const Place &place, bool *masked) {
  for (int64_t x = 0; x < place.count; ++x) {
    double row = input.rowRegister >= 0 ? lanes[input.rowRegister][x] : 0;
    double channel =
        input.channelRegister >= 0 ? lanes[input.channelRegister][x] : 0;
    argument[x] = input.table->at(row, place.query + x * place.queryStep,
                                  place.key + x * place.keyStep,
                                  static_cast<int64_t>(channel));
    masked[x] |= input.table->masks && argument[x] <= maskingNumber;
  }
}

void RegionEvaluator::fill(unsigned index, const Place &place,
                           function_ref<const double *(Value)> relations,
                           int64_t summed, bool *masked) {
  const Input &input = inputs[index];
  RegionLanes::Register &argument = lanes[numScores + index];
  if (input.table)
    return fillFromTable(input, argument, place, masked);
  if (input.value.getDefiningOp<SumIndexOp>()) {
    argument.fill(static_cast<double>(summed));
    return;
  }
  if (!input.position) {
    std::copy_n(relations(input.value), place.count, argument.begin());
    return;
  }
  int64_t first = input.isOfQuery ? place.query : place.key;
  int64_t step = input.isOfQuery ? place.queryStep : place.keyStep;
  for (int64_t x = 0; x < place.count; ++x)
    argument[x] = (*input.position)[first + x * step];
}

void RegionEvaluator::run(const Place &place,
                          function_ref<const double *(Value)> relations,
                          double *result, bool *masked) {
  unsigned numArguments = numScores + inputs.size();
  std::fill_n(result, place.count, 0.0);
  for (int64_t m = 0, e = sumExtent.value_or(1); m < e; ++m) {
    lanes.reset(numArguments);
    for (unsigned index = 0; index < inputs.size(); ++index)
      if (m == 0 || inputs[index].varies)
        fill(index, place, relations, m, masked);
    const RegionLanes::Register &yielded = lanes[lanes.run(region)];
    for (int64_t x = 0; x < place.count; ++x)
      result[x] = sumExtent ? result[x] + yielded[x] : yielded[x];
  }
  lanes.reset(numArguments);
}
