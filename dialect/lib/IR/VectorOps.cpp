// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: verification of what is done to vectors.
#include "RegionVerifier.h"

#include "KernelShape.h"

using namespace mlir;
using namespace posenc;

static Side getVectorSide(Type type) {
  if (isa<QueryType>(type))
    return Side::query;
  return isa<KeyType>(type) ? Side::key : Side::token;
}

/// The number of channels of a kernel's or embedding's vectors.
static std::optional<int64_t> getVectorSize(Operation *op) {
  if (auto kernel = op->getParentOfType<KernelOp>())
    return kernel.getHeadDim();
  if (auto embed = op->getParentOfType<EmbedOp>())
    return embed.getDim();
  return std::nullopt;
}

/// Positions of another side than the vector's make no sense.
static LogicalResult verifySide(Operation *op, Type vector, Value position) {
  Side side = getVectorSide(vector);
  std::optional<Side> actual = getSide(position);
  if (actual && *actual != side)
    return op->emitOpError("expects a position of the ")
           << stringifySide(side) << " side, like its input";
  return success();
}

/// A table whose channels are those of the vectors.
static LogicalResult verifyChannels(Operation *op, Value table) {
  std::optional<int64_t> channels = getNumChannels(table);
  std::optional<int64_t> size = getVectorSize(op);
  if (channels && size && *channels != *size)
    return op->emitOpError("expects its table to have ")
           << *size << " channels, like its input, but got " << *channels;
  return success();
}

//===----------------------------------------------------------------------===//
// RotateOp
//===----------------------------------------------------------------------===//

static std::optional<int64_t> countFrequencies(Value freqs) {
  if (auto op = freqs.getDefiningOp<FreqsOp>())
    return op.getLaw().getFrequencies().size();
  if (auto op = freqs.getDefiningOp<FreqsMapOp>())
    return op.getPairs();
  return std::nullopt;
}

std::optional<int64_t> RotateOp::getNumPairs() {
  if (!getMix().empty())
    return getNumChannels(getMix().front());
  return getFreqs().empty() ? std::nullopt
                            : countFrequencies(getFreqs().front());
}

bool RotateOp::hasOwnQueries() {
  auto isOwn = [](Value coord) {
    while (auto remap = coord.getDefiningOp<RemapOp>())
      coord = remap.getPosition();
    auto position = coord.getDefiningOp<PositionOp>();
    auto law = position ? dyn_cast<PositionTensorAttr>(position.getLaw())
                        : PositionTensorAttr();
    return law && law.hasOwnQueries();
  };
  return llvm::any_of(getPositions(), isOwn);
}

bool RotateOp::turnsOwnQueries() {
  return isa<QueryType>(getType()) && hasOwnQueries();
}

LogicalResult RotateOp::verify() {
  // rotate_c2
  for (Value position : getPositions())
    if (failed(verifySide(*this, getType(), position)))
      return failure();
  // rotate_c3
  if (getPositions().empty() || getPositions().size() != getFreqs().size())
    return emitOpError("expects one list of frequencies for each position, but "
                       "got ")
           << getFreqs().size() << " for " << getPositions().size();
  std::optional<int64_t> count = countFrequencies(getFreqs().front());
  for (Value freqs : getFreqs().drop_front())
    if (std::optional<int64_t> other = countFrequencies(freqs);
        count && other && *count != *other)
      return emitOpError("expects its lists of frequencies to have one length, "
                         "but got ")
             << *count << " and " << *other;
  // rotate_c4
  if (!getMix().empty() && getMix().size() != 2)
    return emitOpError("expects two tables in 'mix', of cosines and of sines, "
                       "but got ")
           << getMix().size();
  for (Value table : getMix()) {
    if (!hasAxes(cast<TableType>(table.getType()),
                 {TableAxis::row, TableAxis::channel}, {TableAxis::head}))
      return emitOpError("expects the tables of 'mix' to be over row, channel "
                         "and at most head, but got ")
             << table.getType();
    std::optional<int64_t> rows = getNumRows(table);
    if (rows && count && *rows != *count)
      return emitOpError("expects the tables of 'mix' to have a row for each "
                         "of the ")
             << *count << " frequencies, but got " << *rows;
    if (getNumChannels(table) != getNumChannels(getMix().front()))
      return emitOpError("expects the tables of 'mix' to have the same "
                         "channels");
  }
  // rotate_c1
  int64_t first = getFirstDim();
  std::optional<int64_t> pairs = getNumPairs(), size = getVectorSize(*this);
  if (pairs && size && !isWithin(first, 2 * *pairs, *size))
    return emitOpError("expects the rotated channels [")
           << first << ", " << first << " + " << 2 * *pairs
           << ") to lie within the kernel's 'head_dim' (" << *size << ")";
  return success();
}

LogicalResult RotateOp::verifyRegions() {
  // rotate_c5
  if (getModulus().empty())
    return success();
  return verifyScalarRegion(*this, getModulus(), 2);
}

//===----------------------------------------------------------------------===//
// Other vectors
//===----------------------------------------------------------------------===//

LogicalResult VaddOp::verify() {
  // vadd_c1
  TableType type = getTable().getType();
  if (!hasAxes(type, {TableAxis::channel}, {TableAxis::head, TableAxis::row}) ||
      type.hasAxis(TableAxis::row) != static_cast<bool>(getPosition()))
    return emitOpError("expects a table over channel and at most head and row, "
                       "with a row axis exactly when 'at' is given, but got ")
           << type;
  // vadd_c2
  if (failed(verifyChannels(*this, getTable())))
    return failure();
  return getPosition() ? verifySide(*this, getType(), getPosition())
                       : success();
}

LogicalResult ChannelScaleOp::verify() {
  // channel_scale_c1
  if (!hasAxes(getTable().getType(), {TableAxis::channel}, {TableAxis::head}))
    return emitOpError("expects a table over channel and at most head, but "
                       "got ")
           << getTable().getType();
  // channel_scale_c2
  if (!getOffset().isFinite())
    return emitOpError("expects 'offset' to be finite, but got ")
           << getOffset().convertToDouble();
  return verifyChannels(*this, getTable());
}

LogicalResult RowScaleOp::verify() {
  // row_scale_c1
  Side side = getVectorSide(getType());
  for (Value input : getInputs()) {
    if (isa<RelationType>(input.getType()))
      return emitOpError("expects no relation among its inputs: a token has "
                         "no other token here");
    if (isa<CoordType>(input.getType())) {
      if (failed(verifySide(*this, getType(), input)))
        return failure();
      continue;
    }
    auto type = cast<TableType>(input.getType());
    if (type.hasAxis(TableAxis::channel) ||
        (type.hasAxis(TableAxis::query) && side != Side::query) ||
        (type.hasAxis(TableAxis::key) && side != Side::key))
      return emitOpError("expects tables over row, head, batch and the side's "
                         "own storage index, but got ")
             << type;
  }
  return verifyLookups(*this, getInputs(), /*allowsSum=*/false);
}
LogicalResult RowScaleOp::verifyRegions() {
  // row_scale_c2
  return verifyScalarRegion(*this, getBody(), getInputs().size());
}

LogicalResult VectorNormOp::verify() {
  // vector_norm_c1
  if (!getEpsilon().isFinite() || getEpsilon().isNegative())
    return emitOpError("expects 'epsilon' to be finite and not negative, but "
                       "got ")
           << getEpsilon().convertToDouble();
  return success();
}

LogicalResult VectorMapOp::verifyRegions() {
  return verifyScalarRegion(*this, getBody(), 1);
}
