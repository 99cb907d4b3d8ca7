// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DriverRanges.h"
#include "DriverArguments.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace posenc;

/// Tiles and parts that a call should have at least, where keys allow it.
static constexpr int64_t kWantedItems = 64;
/// Keys that a part has at least: merging it must cost next to nothing.
static constexpr int64_t kFewestKeys = 1024;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates maps over (q_begin, q_end, lq, lk).
class RangeMaps {
public:
  RangeMaps(DriverBuilder &b, DriverFrame frame, Value begin, Value end)
      : b(b), operands{toIndex(begin), toIndex(end), toIndex(frame.queryLen()),
                       toIndex(frame.keyLen())} {}

  SmallVector<Value> evaluate(AffineMap map) {
    auto results = affine::expandAffineMap(b, b.getLoc(), map, operands);
    return llvm::map_to_vector(*results, [&](Value result) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(), result);
    });
  }

private:
  Value toIndex(Value value) {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  }

  DriverBuilder &b;
  SmallVector<Value, 4> operands;
};
} // namespace

KeyRange posenc::emitKeyRange(DriverBuilder &b, DriverFrame frame,
                              DriverPlan &plan, Value begin, Value end) {
  RangeMaps maps(b, frame, begin, end);
  SmallVector<StepOp, 4> steps = plan.op.getStepOps();
  Value last = frame.keyLen();
  for (Value result : maps.evaluate(steps.back().getUntil()))
    last = b.min(last, result);
  last = b.max(last, b.i64(0));

  KeyRange range;
  range.begin = b.i64(0);
  if (std::optional<AffineMap> from = plan.op.getFrom())
    for (Value result : maps.evaluate(*from))
      range.begin = b.max(range.begin, result);
  range.begin = b.min(range.begin, last);

  Value previous = range.begin;
  for (StepOp step : llvm::ArrayRef(steps).drop_back()) {
    SmallVector<Value> results = maps.evaluate(step.getUntil());
    Value until = results.front();
    for (Value result : llvm::drop_begin(results))
      until = step.getMaximum() ? b.max(until, result) : b.min(until, result);
    previous = b.max(previous, b.min(until, last));
    if (step.getMaximum())
      range.entryEnd = previous;
    else
      range.stepEnds.push_back(previous);
  }
  range.stepEnds.push_back(last);
  return range;
}

Value posenc::emitSeparateHeads(DriverBuilder &b, DriverFrame frame,
                                DriverPlan &plan) {
  if (!plan.networks.empty())
    return frame.batch();
  return b.mul(frame.batch(),
               plan.op.getPacked() ? frame.kvHeads() : frame.heads());
}

Value posenc::emitTiles(DriverBuilder &b, DriverFrame frame, DriverPlan &plan,
                        const TileCut &cut) {
  return b.mul(emitSeparateHeads(b, frame, plan),
               cut.emitCount(b, frame.queryLen()));
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

KeySplits::KeySplits(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan,
                     std::shared_ptr<const TileCut> cut)
    : plan(&plan), cut(std::move(cut)), stateBytes(kernel.getStateBytes()) {
  if (!canSplit(plan))
    return;
  count = (plan.op.getSymName() + "_parts").str();
  merge = (plan.op.getSymName() + "_merge").str();
  DriverBuilder::InsertionGuard guard(b);
  defineCount(b, kernel, plan);
  defineMerge(b, plan);
}

/// i64 (frame)
void KeySplits::defineCount(DriverBuilder &b, DriverKernel &kernel,
                            DriverPlan &plan) {
  auto type = b.getFunctionType({b.getPtrType()}, b.getI64Type());
  func::FuncOp function = b.define(count, type, /*isPublic=*/false);
  DriverFrame frame(b, function.getArgument(0));
  Value one = b.i64(1);
  Value wanted =
      b.div(b.i64(kWantedItems), b.max(emitTiles(b, frame, plan, *cut), one));
  // With a causal mask the last rows see the most keys.
  Value rows = b.i64(plan.op.getRows().front());
  Value lastRows = b.max(b.sub(frame.queryLen(), rows), b.i64(0));
  KeyRange range = emitKeyRange(b, frame, plan, lastRows, frame.queryLen());
  Value keys = b.sub(range.end(), range.begin);
  Value parts = b.max(b.min(wanted, b.div(keys, b.i64(kFewestKeys))), one);
  // A state is that of all rows of a tile, which must then come in one call, as
  // those of packed tiles always do.
  if (plan.op.getPacked()) {
    b.ret(parts);
    return;
  }
  Value rowLimit =
      DriverArguments(b, frame, kernel, plan).emitRowLimit(plan.tiles.front());
  b.ret(b.select(b.less(rowLimit, rows), one, parts));
}

Value KeySplits::emitCount(DriverBuilder &b, DriverFrame frame) const {
  if (count.empty())
    return b.i64(1);
  return b.call(count, b.getI64Type(), {frame.getAddress()});
}

Value KeySplits::emitBytes(DriverBuilder &b, DriverFrame frame) const {
  if (count.empty())
    return b.i64(0);
  Value parts = emitCount(b, frame);
  Value bytes =
      b.mul(b.mul(emitTiles(b, frame, *plan, *cut), parts), b.i64(stateBytes));
  return b.select(b.equal(parts, b.i64(1)), b.i64(0), bytes);
}

/// void (first, second, rows, columns, first column of outputs, columns of an
/// output or 0). Sums of exponentials are those of 2^(score - maximum): both
/// states are brought to the larger maximum.
void KeySplits::defineMerge(DriverBuilder &b, DriverPlan &plan) {
  Type ptr = b.getPtrType(), i64 = b.getI64Type(), f32 = b.getF32Type();
  func::FuncOp function =
      b.define(merge, b.getFunctionType({ptr, ptr, i64, i64, i64, i64}, {}),
               /*isPublic=*/false);
  Value first = function.getArgument(0), second = function.getArgument(1);
  Value rows = function.getArgument(2), columns = function.getArgument(3);
  auto at = [&](Value state, int64_t column, Value row) {
    Value index = b.add(b.mul(b.i64(column), rows), row);
    return b.element(state, index, f32);
  };
  bool isExponential = exponentiates(plan.op.getNormalizeOp().getKind());
  if (isExponential)
    b.loop(b.i64(0), rows, [&](Value row) {
      Value a = b.load(f32, at(first, TileState::Maximum, row));
      Value c = b.load(f32, at(second, TileState::Maximum, row));
      Value maximum = arith::MaximumFOp::create(b, a, c);
      auto storeFactor = [&](Value state, Value old) {
        Value exponent = arith::SubFOp::create(b, old, maximum);
        b.store(b.call("exp2f", f32, {exponent}),
                at(state, TileState::Factor, row));
      };
      storeFactor(first, a);
      storeFactor(second, c);
      b.store(maximum, at(first, TileState::Maximum, row));
    });
  Value firstOutput = function.getArgument(4);
  Value perOutput = function.getArgument(5);
  Value hasOutputs = b.less(b.i64(0), perOutput);
  Value divisor = b.max(perOutput, b.i64(1));
  b.loop(b.i64(TileState::FirstSum), columns, [&](Value column) {
    // The row whose output all numbers of the column belong to.
    Value isOutput = arith::AndIOp::create(
        b, hasOutputs, b.less(b.sub(firstOutput, b.i64(1)), column));
    Value outputRow =
        b.div(b.max(b.sub(column, firstOutput), b.i64(0)), divisor);
    b.loop(b.i64(0), rows, [&](Value row) {
      Value index = b.add(b.mul(column, rows), row);
      Value ofRow = b.select(isOutput, outputRow, row);
      auto read = [&](Value state) {
        Value sum = b.load(f32, b.element(state, index, f32));
        if (!isExponential)
          return sum;
        Value factor = b.load(f32, at(state, TileState::Factor, ofRow));
        return arith::MulFOp::create(b, sum, factor).getResult();
      };
      Value sum = arith::AddFOp::create(b, read(first), read(second));
      b.store(sum, b.element(first, index, f32));
    });
  });
  b.ret(Value());
}

void KeySplits::emitMerge(DriverBuilder &b, Value first, Value second,
                          const StateShape &shape) const {
  b.call(merge, Type(),
         {first, second, shape.rows, shape.columns, shape.firstOutput,
          shape.outputColumns});
}
