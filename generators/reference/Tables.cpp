// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tables.h"

#include "Linear.h"
#include "Lookup.h"
#include "RegionLanes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

int64_t Table::getRow(double index) const {
  // Also keeps what follows within the integers; NaN is the lowest row.
  constexpr double limit = 1e15;
  double low = computeRow ? -limit : firstRow;
  double high = computeRow ? limit : firstRow + numRows - 1;
  return std::llround(index > low ? std::min(index, high) : low);
}

const double *Table::getChannels(int64_t row, Numbers &scratch) const {
  if (hasRow && !(row >= firstRow && row < firstRow + numRows)) {
    scratch = computeRow(row);
    return scratch.data();
  }
  const double *first = data + (row - firstRow) * rowStride;
  if (channelStride == 1)
    return first;
  scratch.resize(channels);
  for (int64_t c = 0; c < channels; ++c)
    scratch[c] = first[c * channelStride];
  return scratch.data();
}

double Table::at(double row, int64_t query, int64_t key,
                 int64_t channel) const {
  int64_t offset =
      query * queryStride + key * keyStride + channel * channelStride;
  if (!hasRow)
    return data[offset];
  int64_t index = getRow(row) - firstRow;
  if (computeRow && (index < 0 || index >= numRows))
    return computeRow(index + firstRow)[channel];
  return data[index * rowStride + offset];
}

//===----------------------------------------------------------------------===//
// Operands and constants
//===----------------------------------------------------------------------===//

static llvm::SmallVector<int64_t> getConstantExtents(const Call &call,
                                                     TableOp op) {
  llvm::SmallVector<int64_t> extents;
  for (TableAxis axis : op.getType().getAxes())
    extents.push_back(axis == TableAxis::head  ? call.kernelHeads
                      : axis == TableAxis::row ? op.getNumRows().value()
                                               : op.getNumChannels().value());
  return extents;
}

/// Axes are stored in the order of the table's type, the last one fastest.
static Table viewTable(const Call &call, TableOp op, int64_t b, int64_t head) {
  Table view;
  llvm::SmallVector<int64_t> extents;
  if (auto operand = dyn_cast<OperandAttr>(op.getLaw())) {
    const RealTensor &tensor =
        call.inputs.tables.find(operand.getName())->second;
    view.data = tensor.data.data();
    extents.assign(tensor.shape.begin(), tensor.shape.end());
  } else {
    view.data =
        cast<ConstantsAttr>(op.getLaw()).getValues().asArrayRef().data();
    extents = getConstantExtents(call, op);
    head += call.shape.firstHead; // constants are the whole kernel's
  }
  int64_t stride = 1, offset = 0;
  for (size_t axis = extents.size(); axis-- > 0; stride *= extents[axis])
    switch (op.getType().getAxes()[axis]) {
    case TableAxis::row:
      view.hasRow = true;
      view.numRows = extents[axis];
      view.rowStride = stride;
      break;
    case TableAxis::head:
      offset += extents[axis] != 1 ? head * stride : 0;
      break;
    case TableAxis::query:
      view.queryStride = stride;
      break;
    case TableAxis::key:
      view.keyStride = stride;
      break;
    case TableAxis::batch:
      offset += b * stride;
      break;
    case TableAxis::channel:
      view.channels = extents[axis];
      view.channelStride = stride;
      break;
    }
  // A table without elements has no address to count from.
  if (view.data)
    view.data += offset;
  view.masks = op.getType().hasAxis(TableAxis::query) &&
               op.getType().hasAxis(TableAxis::key);
  return view;
}

//===----------------------------------------------------------------------===//
// Computed tables
//===----------------------------------------------------------------------===//

/// Makes `numRows` rows from `firstRow` on the stored ones.
static void store(Table &table, int64_t firstRow, int64_t numRows,
                  Numbers rows) {
  auto storage = std::make_shared<const Numbers>(std::move(rows));
  table.hasRow = true;
  table.firstRow = firstRow;
  table.numRows = numRows;
  table.rowStride = table.channels;
  table.channelStride = 1;
  table.data = storage->data();
  table.storage = std::move(storage);
}

static Numbers computeMappedRow(Region &region, int64_t channels, double row) {
  Numbers result(channels);
  RegionLanes lanes;
  for (int64_t c0 = 0; c0 < channels; c0 += RegionLanes::width) {
    int64_t count = std::min(RegionLanes::width, channels - c0);
    lanes.reset(2);
    for (int64_t x = 0; x < count; ++x) {
      lanes[0][x] = row;
      lanes[1][x] = static_cast<double>(c0 + x);
    }
    std::copy_n(lanes[lanes.run(region)].begin(), count, &result[c0]);
  }
  return result;
}

/// Rows are stored for the distances between storage indices; a table over all
/// integers computes any other row when it is read.
static Table mapTable(const Call &call, TableMapOp op) {
  Table table;
  table.channels = op.getChannels();
  Region *region = &op.getBody();
  table.computeRow = [region, channels = table.channels](int64_t row) {
    return computeMappedRow(*region, channels, static_cast<double>(row));
  };
  int64_t reach = std::max(call.shape.queryLen, call.shape.keyLen);
  Numbers rows;
  for (int64_t row = -reach; row <= reach; ++row)
    llvm::append_range(rows, table.computeRow(row));
  store(table, -reach, 2 * reach + 1, std::move(rows));
  return table;
}

static Table projectTable(const Table &table, const Table &weights) {
  int64_t inner = table.channels, columns = weights.channels;
  auto matrix = std::make_shared<Numbers>();
  Numbers scratch;
  for (int64_t m = 0; m < inner; ++m) {
    const double *row = weights.getChannels(m, scratch);
    matrix->insert(matrix->end(), row, row + columns);
  }
  Table result;
  result.channels = columns;
  if (table.computeRow)
    result.computeRow = [=](int64_t row) {
      Numbers projected(columns);
      multiplyAdd(table.computeRow(row).data(), matrix->data(),
                  projected.data(), 1, inner, columns);
      return projected;
    };
  Numbers rows(table.numRows * columns);
  for (int64_t row = 0; row < table.numRows; ++row)
    multiplyAdd(table.getChannels(table.firstRow + row, scratch),
                matrix->data(), &rows[row * columns], 1, inner, columns);
  store(result, table.firstRow, table.numRows, std::move(rows));
  return result;
}

static Table sumPrefixes(const Call &call, PrefixSumOp op, const Table &table) {
  Numbers terms(call.shape.keyLen);
  for (auto [j, term] : llvm::enumerate(terms))
    term = table.at(0, 0, j, 0);
  terms = mapNumbers(op.getBody(), terms);
  double sum = 0;
  for (double &term : terms)
    term = sum += term;
  Table result;
  result.storage = std::make_shared<const Numbers>(std::move(terms));
  result.data = result.storage->data();
  result.keyStride = 1;
  return result;
}

static Table readAtQuery(const Call &call, AtQueryOp op, Table table) {
  if (table.data)
    table.data += call.shape.getFirstIndex(op.getAlignment()) * table.keyStride;
  table.queryStride = table.keyStride;
  table.keyStride = 0;
  return table;
}

Tables posenc::makeSharedTables(const Call &call) {
  Tables tables;
  for (Operation &op : call.body)
    if (auto map = dyn_cast<TableMapOp>(op))
      tables[map] = mapTable(call, map);
  return tables;
}

Tables posenc::makeTables(const Call &call, const Tables &shared, int64_t b,
                          int64_t head) {
  Tables tables = shared;
  auto find = [&](Value table) { return tables.find(table)->second; };
  for (Operation &nested : call.body) {
    std::optional<Table> table =
        llvm::TypeSwitch<Operation *, std::optional<Table>>(&nested)
            .Case<TableOp>(
                [&](TableOp op) { return viewTable(call, op, b, head); })
            .Case<ProjectOp>([&](ProjectOp op) {
              return projectTable(find(op.getTable()), find(op.getWeights()));
            })
            .Case<PrefixSumOp>([&](PrefixSumOp op) {
              return sumPrefixes(call, op, find(op.getTable()));
            })
            .Case<AtQueryOp>([&](AtQueryOp op) {
              return readAtQuery(call, op, find(op.getTable()));
            })
            .Default([](Operation *) { return std::nullopt; });
    if (table)
      tables[nested.getResult(0)] = std::move(*table);
  }
  return tables;
}
