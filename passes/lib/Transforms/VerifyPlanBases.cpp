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
        .Case<VaddOp, ChannelScaleOp, RowScaleOp, VectorNormOp, VectorMapOp>(
            [&](auto vector) -> LogicalResult {
              if (isBase2(vector.getInput()))
                return vector.emitOpError(
                    "expects vectors that do not hold log2(e)");
              return success();
            })
        .Case<DotOp>(
            [&](DotOp dot) { return set(dot, isBase2(dot.getQuery())); })
        .Case<TableDotOp>([&](TableDotOp dot) -> LogicalResult {
          if (isBase2(dot.getIndex()))
            return dot.emitOpError(
                "expects a natural index, but it is in base 2");
          return set(dot, isBase2(dot.getVector()));
        })
        .Case<TileLoadStripOp>([&](TileLoadStripOp strip) {
          return set(strip, stripsInBase2.contains(strip.getTable()));
        })
        .Case<TileToBase2Op>([&](TileToBase2Op change) -> LogicalResult {
          if (isBase2(change.getInput()))
            return change.emitOpError(
                "expects a natural score, but its input is in base 2");
          return set(change, true);
        })
        .Case<AddOp>([&](AddOp add) {
          return visitPair(add, add.getLhs(), add.getRhs());
        })
        .Case<SelectOp>([&](SelectOp select) {
          return visitPair(select, select.getScore(),
                           select.getOther() ? select.getOther()
                                             : select.getScore());
        })
        .Case<MapOp>([&](MapOp map) -> LogicalResult {
          if (llvm::any_of(map.getScores(),
                           [&](Value score) { return isBase2(score); }))
            return map.emitOpError(
                "expects a natural score, but its input is in base 2");
          return success();
        })
        .Case<RowscanOp>([&](RowscanOp scan) -> LogicalResult {
          if (isBase2(scan.getScore()))
            return scan.emitOpError(
                "expects a natural score, but its input is in base 2");
          return success();
        })
        .Case<HeadMlpOp>([&](HeadMlpOp mlp) -> LogicalResult {
          if (llvm::any_of(mlp.getScores(),
                           [&](Value score) { return isBase2(score); }))
            return mlp.emitOpError(
                "expects a natural score, but its input is in base 2");
          return success();
        })
        .Case<TileRecurrenceOp>(
            [&](TileRecurrenceOp recurrence) -> LogicalResult {
              if (llvm::any_of(recurrence->getOperands(),
                               [&](Value vector) { return isBase2(vector); }))
                return recurrence.emitOpError(
                    "expects queries that do not hold log2(e)");
              return success();
            })
        .Case<YieldOp>([&](YieldOp yield) { return visitYield(yield); })
        .Default([](Operation *) { return success(); });
  }

  LogicalResult visitPair(Operation *op, Value a, Value b) {
    if (isBase2(a) != isBase2(b))
      return op->emitOpError("expects scores of one base, but its operands "
                             "are ")
             << name(isBase2(a)) << " and " << name(isBase2(b));
    return set(op->getResult(0), isBase2(a));
  }

  /// The queries that a step or chunk takes are those that the prologue yields.
  void enterSteps(YieldOp prologue) {
    auto enter = [&](Block &part) {
      for (auto [query, argument] :
           llvm::zip(prologue.getOperands(), part.getArguments()))
        (void)set(argument, isBase2(query));
    };
    for (StepOp step : plan.getStepOps())
      enter(step.getBody().front());
    if (ChunkOp chunk = plan.getChunkOp())
      enter(chunk.getBody().front());
  }

  LogicalResult visitScore(YieldOp yield) {
    TileNormalizeOp normalize = plan.getNormalizeOp();
    bool expected = !normalize || exponentiates(normalize.getKind());
    for (Value result : yield.getOperands())
      if (isa<ScoreType>(result.getType()) && isBase2(result) != expected)
        return yield.emitOpError("expects the score of a step to be ")
               << name(expected) << ", but it is " << name(!expected);
    return success();
  }

  LogicalResult visitYield(YieldOp yield) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(yield->getParentOp())
        .Case<PrepareOp>([&](PrepareOp table) {
          if (isBase2(yield.getOperand(0)))
            stripsInBase2.insert(table.getSymName());
          return success();
        })
        .Case<PrologueOp>([&](auto) {
          enterSteps(yield);
          return success();
        })
        .Case<StepOp>([&](auto) { return visitScore(yield); })
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
};
} // namespace

LogicalResult posenc::verifyBases(PlanOp plan) { return Bases(plan).run(); }
