// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2: verification of what input embeddings need beside positions, tables
// and vectors.
#include "RegionVerifier.h"

#include <limits>

using namespace mlir;
using namespace posenc;

/// Inputs of a function of a token: tables with a row axis come after a number,
/// and have no axis that a token does not know.
static LogicalResult verifyTokenInputs(Operation *op, ValueRange inputs,
                                       bool hasChannel) {
  bool hasNumber = false;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (isa<RelationType>(input.getType()))
      return op->emitOpError("expects no relation among its inputs: a token "
                             "has no other token here");
    auto type = dyn_cast<TableType>(input.getType());
    if (!type) {
      hasNumber = true;
      continue;
    }
    if (type.hasAxis(TableAxis::head) || type.hasAxis(TableAxis::query) ||
        (type.hasAxis(TableAxis::channel) && !hasChannel))
      return op->emitOpError("expects tables over batch, key")
             << (hasChannel ? ", row and channel" : " and row") << ", but got "
             << type;
    if (type.hasAxis(TableAxis::row) && !hasNumber)
      return op->emitOpError("expects input #")
             << index << ", a table with a row axis, to come after a number";
  }
  return success();
}

static LogicalResult verifyStream(Operation *op, int64_t stream,
                                  int64_t least) {
  if (stream < least || stream > std::numeric_limits<int32_t>::max())
    return op->emitOpError("expects 'stream' to be from ")
           << least << " to 2^31 - 1, but got " << stream;
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    std::optional<int64_t> taken;
    if (auto random = dyn_cast<RandomOp>(other))
      taken = random.getStream();
    else if (auto dropout = dyn_cast<DropoutOp>(other))
      taken = dropout.getStream();
    if (taken == stream)
      return op->emitOpError("expects a stream of its own, but ")
             << stream << " is that of another operation";
  }
  return success();
}

LogicalResult CoordMapOp::verify() {
  // coord_map_c1
  if (getInputs().empty())
    return emitOpError("expects an input");
  return verifyTokenInputs(*this, getInputs(), /*hasChannel=*/false);
}
LogicalResult CoordMapOp::verifyRegions() {
  // coord_map_c2
  return verifyScalarRegion(*this, getBody(), getInputs().size());
}

LogicalResult BoundedOp::verify() {
  // bounded_c1
  int64_t rows = getRows();
  if (rows < 1 || rows > (int64_t{1} << 53))
    return emitOpError("expects 'rows' to be from 1 to 2^53, but got ") << rows;
  return success();
}

LogicalResult RandomOp::verify() {
  // random_c1
  return verifyStream(*this, getStream(), 1);
}

LogicalResult ChannelMapOp::verify() {
  // channel_map_c1
  return verifyTokenInputs(*this, getInputs(), /*hasChannel=*/true);
}
LogicalResult ChannelMapOp::verifyRegions() {
  // channel_map_c2
  return verifyScalarRegion(*this, getBody(), 3 + getInputs().size());
}

LogicalResult DropoutOp::verify() {
  // dropout_c1
  double rate = getProbability().convertToDouble();
  if (!(rate >= 0 && rate < 1))
    return emitOpError("expects 'probability' to be at least 0 and below 1, "
                       "but got ")
           << rate;
  // dropout_c2
  return verifyStream(*this, getStream(), 0);
}
