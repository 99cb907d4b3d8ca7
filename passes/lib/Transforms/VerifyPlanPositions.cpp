// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: distances that tiles compute in 32 bits.
#include "VerifyPlan.h"

using namespace mlir;
using namespace posenc;

/// The offset of a position that is counted, also under posenc.remap.
static std::optional<int64_t> getOffset(Value coord) {
  while (auto remap = coord.getDefiningOp<RemapOp>())
    coord = remap.getPosition();
  auto position = coord.getDefiningOp<PositionOp>();
  auto law = position ? dyn_cast<IotaAttr>(position.getLaw()) : IotaAttr();
  return law ? std::optional(law.getOffset()) : std::nullopt;
}

/// Storage indices differ by less than 2^30, and so may the offsets.
static LogicalResult verifyDistance(Operation *op, Value query, Value key) {
  std::optional<int64_t> ofQuery = getOffset(query), ofKey = getOffset(key);
  constexpr int64_t limit = int64_t{1} << 30;
  if (!ofQuery || !ofKey || std::abs(*ofQuery - *ofKey) <= limit)
    return success();
  return op->emitOpError("expects the offsets of its positions to differ by at "
                         "most 2^30, since distances are 32-bit integers, but "
                         "got ")
         << *ofQuery << " and " << *ofKey;
}

LogicalResult posenc::verifyPositions(PlanOp plan) {
  WalkResult result = plan.walk([](Operation *op) {
    LogicalResult distance = success();
    if (auto relation = dyn_cast<RelationOp>(op))
      distance = verifyDistance(op, relation.getQuery(), relation.getKey());
    else if (auto select = dyn_cast<SelectOp>(op);
             select && select.getPositions().size() == 2)
      distance = verifyDistance(op, select.getPositions()[0],
                                select.getPositions()[1]);
    return failed(distance) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}
