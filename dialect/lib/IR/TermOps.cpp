// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: verification of positions, relations, frequencies and tables.
#include "RegionVerifier.h"

using namespace mlir;
using namespace posenc;

std::optional<Side> posenc::getSide(Value position) {
  if (auto op = position.getDefiningOp<PositionOp>())
    return op.getSide();
  if (auto op = position.getDefiningOp<RemapOp>())
    return getSide(op.getPosition());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Positions and relations
//===----------------------------------------------------------------------===//

LogicalResult RemapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 1);
}

LogicalResult RelationOp::verify() {
  // relation_c1
  if (getSide(getQuery()) == Side::key)
    return emitOpError("expects its first operand to be a position of the "
                       "query side");
  if (getSide(getKey()) == Side::query)
    return emitOpError(
        "expects its second operand to be a position of the key side");
  // relation_c2
  for (Value position : {getQuery(), getKey()})
    if (position.getDefiningOp<RemapOp>() && !isa<DifferenceAttr>(getLaw()))
      return emitOpError("expects remapped positions, which need not be "
                         "integers, to have the law #posenc.difference, but "
                         "got ")
             << getLaw();
  return success();
}

LogicalResult RelationMapOp::verify() {
  // relation_map_c2
  if (std::optional<int64_t> rows = getRows();
      rows && (*rows < 1 || *rows > (int64_t{1} << 26)))
    return emitOpError("expects 'rows' to be from 1 to 2^26, but got ")
           << *rows;
  return verifyLookups(*this, getInputs());
}
LogicalResult RelationMapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), getInputs().size());
}

LogicalResult SumIndexOp::verify() {
  // sum_index_c1
  int64_t extent = getExtent();
  if (extent < 1 || extent > 65536)
    return emitOpError("expects 'extent' to be from 1 to 65536, but got ")
           << extent;
  return success();
}

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

LogicalResult FreqsMapOp::verify() {
  // freqs_map_c2
  int64_t pairs = getPairs();
  if (pairs < 1 || pairs > 32768)
    return emitOpError("expects 'pairs' to be from 1 to 32768, but got ")
           << pairs;
  for (Value table : getTables()) {
    if (!hasAxes(cast<TableType>(table.getType()), {TableAxis::row},
                 {TableAxis::head}))
      return emitOpError("expects its tables to be over row and head, but got ")
             << table.getType();
    std::optional<int64_t> rows = getNumRows(table);
    if (rows && *rows < pairs)
      return emitOpError("expects its tables to have a row for each of the ")
             << pairs << " pairs, but got " << *rows;
  }
  return success();
}
LogicalResult FreqsMapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 2 + getTables().size());
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The head count of the kernel or plan around an operation.
static std::optional<int64_t> getHeadsAround(Operation *op) {
  while ((op = op->getParentOp()))
    if (auto heads = op->getAttrOfType<IntegerAttr>("heads"))
      return heads.getInt();
  return std::nullopt;
}

/// The extent of row times channel.
static std::optional<int64_t> countVectors(TableOp op,
                                           ConstantsAttr constants) {
  int64_t count = constants.getValues().size();
  if (!op.getType().hasAxis(TableAxis::head))
    return count;
  if (std::optional<int64_t> heads = getHeadsAround(op))
    return count / *heads;
  return std::nullopt;
}

std::optional<int64_t> TableOp::getNumRows() {
  if (!getType().hasAxis(TableAxis::row))
    return std::nullopt;
  if (auto operand = dyn_cast<OperandAttr>(getLaw()))
    return operand.getRows();
  // A use may be verified before the table is.
  auto constants = dyn_cast<ConstantsAttr>(getLaw());
  if (!constants)
    return std::nullopt;
  std::optional<int64_t> count = countVectors(*this, constants);
  if (count && getType().hasAxis(TableAxis::channel))
    return *count / std::max<int64_t>(constants.getChannels(), 1);
  return count;
}

std::optional<int64_t> TableOp::getNumChannels() {
  if (!getType().hasAxis(TableAxis::channel))
    return std::nullopt;
  if (auto operand = dyn_cast<OperandAttr>(getLaw()))
    return operand.getChannels();
  auto constants = dyn_cast<ConstantsAttr>(getLaw());
  if (!constants)
    return std::nullopt;
  if (getType().hasAxis(TableAxis::row))
    return constants.getChannels();
  return countVectors(*this, constants);
}

/// table_c3
static LogicalResult verifyOperandExtent(TableOp op, OperandAttr operand,
                                         TableAxis axis, StringRef name,
                                         int64_t extent) {
  bool hasAxis = op.getType().hasAxis(axis);
  if (hasAxis && extent == 0)
    return op.emitOpError("expects operand '")
           << operand.getName() << "' to state '" << name
           << "', since its type has a " << stringifyTableAxis(axis) << " axis";
  if (!hasAxis && extent != 0)
    return op.emitOpError("expects operand '")
           << operand.getName() << "' not to state '" << name
           << "', since its type has no " << stringifyTableAxis(axis)
           << " axis";
  return success();
}

LogicalResult TableOp::verify() {
  TableType type = getType();
  if (auto operand = dyn_cast<OperandAttr>(getLaw()))
    return success(
        succeeded(verifyOperandExtent(*this, operand, TableAxis::row, "rows",
                                      operand.getRows())) &&
        succeeded(verifyOperandExtent(*this, operand, TableAxis::channel,
                                      "channels", operand.getChannels())));
  // table_c1
  auto constants = dyn_cast<ConstantsAttr>(getLaw());
  if (!constants)
    return emitOpError("expects its law to be #posenc.constants or "
                       "#posenc.operand, but got ")
           << getLaw();
  // table_c2
  for (TableAxis axis : {TableAxis::query, TableAxis::key, TableAxis::batch})
    if (type.hasAxis(axis))
      return emitOpError("expects constants to have no query, key or batch "
                         "axis");
  bool hasBoth =
      type.hasAxis(TableAxis::row) && type.hasAxis(TableAxis::channel);
  if (hasBoth != (constants.getChannels() > 0))
    return emitOpError("expects constants to state 'channels' exactly when "
                       "their type has a row and a channel axis");
  int64_t count = constants.getValues().size();
  int64_t unit = std::max<int64_t>(constants.getChannels(), 1);
  if (type.hasAxis(TableAxis::head)) {
    std::optional<int64_t> heads = getHeadsAround(*this);
    if (!heads)
      return success();
    unit *= *heads;
  }
  bool isOpen =
      type.hasAxis(TableAxis::row) || type.hasAxis(TableAxis::channel);
  bool fits = isOpen ? count > 0 && count % unit == 0 : count == unit;
  if (!fits)
    return emitOpError("expects the number of constants to be ")
           << (isOpen ? "a multiple of " : "") << unit << ", but got " << count;
  return success();
}

LogicalResult TableMapOp::verify() {
  // table_map_c2
  int64_t channels = getChannels();
  if (channels < 1 || channels > 65536)
    return emitOpError("expects 'channels' to be from 1 to 65536, but got ")
           << channels;
  return success();
}
LogicalResult TableMapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 2);
}

LogicalResult ProjectOp::verify() {
  // project_c1
  TableAxis projected[] = {TableAxis::row, TableAxis::head, TableAxis::channel};
  if (!hasAxes(getTable().getType(), {TableAxis::row, TableAxis::channel}) ||
      !hasAxes(getWeights().getType(), projected) ||
      getType().getAxes() != ArrayRef(projected))
    return emitOpError("expects a table over (row, channel), weights over "
                       "(row, head, channel) and a result over (row, head, "
                       "channel)");
  std::optional<int64_t> channels = getNumChannels(getTable());
  std::optional<int64_t> rows = getNumRows(getWeights());
  if (channels && rows && *channels != *rows)
    return emitOpError("expects its weights to have a row for each of the ")
           << *channels << " channels of the table, but got " << *rows;
  return success();
}

LogicalResult PrefixSumOp::verify() {
  // prefix_sum_c1
  if (!hasAxes(getTable().getType(), {TableAxis::key},
               {TableAxis::batch, TableAxis::head}))
    return emitOpError("expects a table over key and at most batch and head, "
                       "but got ")
           << getTable().getType();
  return success();
}
LogicalResult PrefixSumOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 1);
}

LogicalResult AtQueryOp::verify() {
  // at_query_c1
  TableType type = getTable().getType();
  SmallVector<TableAxis> axes(type.getAxes());
  llvm::replace(axes, TableAxis::key, TableAxis::query);
  if (!type.hasAxis(TableAxis::key) || type.hasAxis(TableAxis::query) ||
      getType().getAxes() != ArrayRef(axes))
    return emitOpError("expects a table with a key and no query axis, and a "
                       "result with query in the place of key, but got ")
           << type << " and " << getType();
  return success();
}
