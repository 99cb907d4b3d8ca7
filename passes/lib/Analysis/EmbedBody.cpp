// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the body of an input embedding computes.
#include "posenc/Analysis/EmbedBody.h"

using namespace mlir;
using namespace posenc;

/// A map whose region does not look at the element starts anew.
static bool ignoresInput(Operation *op) {
  auto map = dyn_cast<ChannelMapOp>(op);
  return map && map.getBody().front().getArgument(0).use_empty();
}

SmallVector<Operation *> posenc::getVectorOps(EmbedOp embed) {
  SmallVector<Operation *> ops;
  Value vector = embed.getBody().front().getTerminator()->getOperand(0);
  while (Operation *op = vector.getDefiningOp()) {
    ops.push_back(op);
    if (ignoresInput(op))
      break;
    vector = op->getOperand(0);
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

bool posenc::readsInput(EmbedOp embed) {
  SmallVector<Operation *> ops = getVectorOps(embed);
  return ops.empty() || !ignoresInput(ops.front());
}

static llvm::Error checkOp(Operation &op) {
  auto refuse = [&](const Twine &why) {
    return llvm::createStringError("cannot compute a " +
                                   op.getName().getStringRef() +
                                   " for an input embedding: " + why);
  };
  for (Value result : op.getResults())
    if (auto type = dyn_cast<TableType>(result.getType()))
      if (type.hasAxis(TableAxis::head) || type.hasAxis(TableAxis::query))
        return refuse("its tokens have neither heads nor queries");
  if (auto position = dyn_cast<PositionOp>(op);
      position && position.getSide() != Side::token)
    return refuse("its positions are those of tokens");
  if (auto norm = dyn_cast<VectorNormOp>(op);
      norm && norm.getOver() != NormAxis::head)
    return refuse("its vectors have no other heads");
  if (isa<PositionOp, RemapOp, CoordMapOp, CoordSumOp, CoordMeanOp, LengthOp,
          BoundedOp, RandomOp, TableOp, TableMapOp, FreqsOp, FreqsMapOp,
          RotateOp, VaddOp, ChannelScaleOp, RowScaleOp, VectorNormOp,
          VectorMapOp, ChannelMapOp, DropoutOp, YieldOp>(op))
    return llvm::Error::success();
  return refuse("it is not of single tokens");
}

llvm::Error posenc::checkEmbedBody(EmbedOp embed) {
  if (!embed.isExpanded())
    return llvm::createStringError(
        "expected an embedding with a body, but '@" + embed.getSymName() +
        "' has named encodings: run posenc-expand-encodings first");
  for (Operation &op : embed.getBody().front())
    if (llvm::Error error = checkOp(op))
      return error;
  return llvm::Error::success();
}
