// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far back the queries of a kernel see: what a ring of keys must hold.
#include "posenc/Analysis/KeyReach.h"

#include "posenc/Analysis/ScoreMasks.h"

using namespace mlir;
using namespace posenc;

/// What weights are made of.
static SmallVector<Value> findScores(KernelOp kernel) {
  SmallVector<Value> scores;
  for (NormalizeOp normalize : kernel.getBody().front().getOps<NormalizeOp>())
    for (Value operand : normalize->getOperands())
      if (isa<ScoreType>(operand.getType()))
        scores.push_back(operand);
  return scores;
}

std::optional<int64_t> posenc::getKeyReach(KernelOp kernel) {
  SmallVector<Value> scores = findScores(kernel);
  std::optional<int64_t> reach;
  if (scores.empty())
    return reach;
  for (MaskAttrInterface mask : findCommonMasks(scores))
    if (std::optional<int64_t> own = mask.getReach())
      reach = reach ? std::min(*reach, *own) : *own;
  return reach;
}

static InFlightDiagnostic refuse(KernelOp kernel) {
  return kernel.emitOpError("cannot have keys(ring); ");
}

LogicalResult posenc::checkRing(KernelOp kernel) {
  if (!kernel.isRing() || kernel.isAppend())
    return success();
  for (const OperandTensor &operand : kernel.getOperandTensors()) {
    bool isOfKeys = operand.isPositions
                        ? !operand.isOfQueries
                        : llvm::is_contained(operand.axes, TableAxis::key);
    if (isOfKeys)
      return refuse(kernel) << "expected no operand with a number for each "
                               "key, since keys are forgotten, but it reads '"
                            << operand.name << "'";
  }
  for (HeadMlpOp network : kernel.getBody().front().getOps<HeadMlpOp>())
    if (network.getTaps() > 1) {
      InFlightDiagnostic diag =
          refuse(kernel) << "expected no network that sees keys beyond those "
                            "that a mask shows";
      diag.attachNote(network.getLoc())
          << "this one has " << network.getTaps() << " taps";
      return diag;
    }
  if (getKeyReach(kernel))
    return success();
  return refuse(kernel)
         << "expected a mask over indices that bounds how far back a query "
            "sees, such as #posenc.window<left = 4095> or #posenc.chunk, since "
            "a ring holds the last keys only";
}
