// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: every score of a plan is in base 2 exactly once.
#include "VerifyPlan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

namespace {
/// Follows the base of queries and scores through a plan.
class Bases {
public:
  explicit Bases(PlanOp plan) : plan(plan) {}

  LogicalResult run() {
    for (Operation &part : plan.getBody().front())
      for (Operation &op : part.getRegion(0).front())
        if (failed(visit(&op)))
          return failure();
    return success();
  }

private:
  LogicalResult visit(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<TileScaleOp>([&](TileScaleOp scale) -> LogicalResult {
          if (scale.getBase2() && isBase2(scale.getInput()))
            return scale.emitOpError("expects queries that do not hold "
                                     "log2(e) yet");
          return set(scale, scale.getBase2() || isBase2(scale.getInput()));
        })
        .Case<TileRotateOp>([&](TileRotateOp rotate) {
          return set(rotate, isBase2(rotate.getInput()));
        })
        .Case<DotOp>([&](DotOp dot) { return set(dot, queriesInBase2); })
        .Case<TileLoadStripOp>([&](TileLoadStripOp strip) {
          return set(strip, stripsInBase2.contains(strip.getTable()));
        })
        .Case<TileToBase2Op>([&](TileToBase2Op change) -> LogicalResult {
          if (isBase2(change.getInput()))
            return change.emitOpError(
                "expects a natural score, but its input is in base 2");
          return set(change, true);
        })
        .Case<AddOp>([&](AddOp add) -> LogicalResult {
          bool lhs = isBase2(add.getLhs()), rhs = isBase2(add.getRhs());
          if (lhs != rhs)
            return add.emitOpError("expects scores of one base, but its "
                                   "operands are ")
                   << name(lhs) << " and " << name(rhs);
          return set(add, lhs);
        })
        .Case<SelectOp>([&](SelectOp select) {
          return set(select, isBase2(select.getScore()));
        })
        .Case<MapOp>([&](MapOp map) -> LogicalResult {
          if (isBase2(map.getScores().front()))
            return map.emitOpError(
                "expects a natural score, but its input is in base 2");
          return success();
        })
        .Case<YieldOp>([&](YieldOp yield) { return visitYield(yield); })
        .Default([](Operation *) { return success(); });
  }

  LogicalResult visitYield(YieldOp yield) {
    bool result = isBase2(yield.getOperand(0));
    return llvm::TypeSwitch<Operation *, LogicalResult>(yield->getParentOp())
        .Case<PrepareOp>([&](PrepareOp table) {
          if (result)
            stripsInBase2.insert(table.getSymName());
          return success();
        })
        .Case<PrologueOp>([&](auto) {
          queriesInBase2 = result;
          return success();
        })
        .Case<StepOp>([&](auto) -> LogicalResult {
          if (!result)
            return yield.emitOpError("expects the score of a step to be in "
                                     "base 2, but it is natural");
          return success();
        })
        .Default([](Operation *) { return success(); });
  }

  static StringRef name(bool base2) { return base2 ? "in base 2" : "natural"; }
  bool isBase2(Value value) const { return inBase2.contains(value); }
  LogicalResult set(Value value, bool base2) {
    if (base2)
      inBase2.insert(value);
    return success();
  }

  PlanOp plan;
  llvm::DenseSet<Value> inBase2;
  llvm::DenseSet<StringRef> stripsInBase2;
  bool queriesInBase2 = false;
};
} // namespace

LogicalResult posenc::verifyBases(PlanOp plan) { return Bases(plan).run(); }
