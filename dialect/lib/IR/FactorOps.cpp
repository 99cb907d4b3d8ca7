// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 3: biases of low rank as more channels of queries and keys.
#include "posenc/IR/FactorOps.h"

#include "RegionVerifier.h"

using namespace mlir;
using namespace posenc;

#define GET_OP_CLASSES
#include "posenc/IR/PosencFactorOps.cpp.inc"

//===----------------------------------------------------------------------===//
// TileFactorsOp
//===----------------------------------------------------------------------===//

/// Whether a number does not depend on the tokens of a side.
static bool isWithout(Value input, Side side) {
  if (auto type = dyn_cast<TableType>(input.getType()))
    return !type.hasAxis(side == Side::query ? TableAxis::query
                                             : TableAxis::key);
  Operation *op = input.getDefiningOp();
  if (auto position = dyn_cast_or_null<PositionOp>(op))
    return position.getSide() != side;
  return op && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isWithout(operand, side);
         });
}

BiasOp TileFactorsOp::getBiasOp() { return getBias().getDefiningOp<BiasOp>(); }

int64_t TileFactorsOp::getNumChannels() {
  for (Value input : getBiasOp().getInputs())
    if (auto index = input.getDefiningOp<SumIndexOp>())
      return index.getExtent();
  return 1;
}

LogicalResult TileFactorsOp::verify() {
  // tile_factors_c1
  BiasOp bias = getBiasOp();
  if (!bias)
    return emitOpError("expects a posenc.bias");
  // tile_factors_c2
  TableType type = getType();
  bool ofQueries = type.hasAxis(TableAxis::query);
  SmallVector<TableAxis> expected;
  for (TableAxis axis : {TableAxis::batch, TableAxis::head})
    if (type.hasAxis(axis))
      expected.push_back(axis);
  expected.push_back(ofQueries ? TableAxis::query : TableAxis::key);
  expected.push_back(TableAxis::channel);
  if (type.getAxes() != ArrayRef(expected))
    return emitOpError("expects a table over batch and head where it differs "
                       "by them, then query or key, then channel, but got ")
           << type;
  Side other = ofQueries ? Side::key : Side::query;
  for (auto [index, input] : llvm::enumerate(bias.getInputs()))
    if (!isWithout(input, other))
      return emitOpError("expects a bias without inputs of the ")
             << stringifySide(other) << " side, but its input #" << index
             << " is one";
  return success();
}

//===----------------------------------------------------------------------===//
// TileVectorOp
//===----------------------------------------------------------------------===//

LogicalResult TileVectorOp::verify() {
  // tile_vector_c1
  if (getTables().empty())
    return emitOpError("expects at least one table");
  TableAxis token =
      isa<QueryType>(getType()) ? TableAxis::query : TableAxis::key;
  for (Value table : getTables()) {
    auto type = cast<TableType>(table.getType());
    if (!hasAxes(type, {token, TableAxis::channel},
                 {TableAxis::batch, TableAxis::head}))
      return emitOpError("expects tables over ")
             << stringifyTableAxis(token)
             << " and channel, and batch or head, but got " << type;
  }
  return success();
}
