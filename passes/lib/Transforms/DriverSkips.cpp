// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of keys that masks over positions, segments and the like hide from a
// whole tile: the bounds of what the masks read are found for every tile and
// block, which costs next to nothing beside the products of a block. And keys
// that the caller's lists leave out.
#include "DriverSkips.h"
#include "DriverIntervals.h"
#include "DriverRanges.h"

#include "posenc/Analysis/BiasTraits.h"
#include "posenc/Analysis/ScoreMasks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace posenc;

/// Keys whose bounds are found together. Blocks of packed plans are short.
static int64_t getSkippedKeys(DriverPlan &plan) {
  constexpr int64_t fewest = 256;
  int64_t keys = plan.op.getKeys();
  return plan.op.getPacked() ? llvm::alignTo(fewest, keys) : keys;
}

/// Whether nothing is known of what a mask reads before it is read pair by
/// pair.
static bool readsPairsOnly(SelectOp mask) {
  return !mask.getMaskAttr() && llvm::all_of(mask.getInputs(), [](Value input) {
    auto type = dyn_cast<TableType>(input.getType());
    return type && type.hasAxis(TableAxis::query) &&
           type.hasAxis(TableAxis::key);
  });
}

KeySkips::KeySkips(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan) {
  // Scans see all keys of a row at once, networks the scores of all heads.
  if (!KeySplits::canSplit(plan))
    return;
  Operation *yield =
      plan.op.getStepOps().back().getBody().front().getTerminator();
  SmallVector<Value> scores;
  for (Value value : yield->getOperands())
    if (isa<ScoreType>(value.getType()))
      scores.push_back(value);
  SmallVector<SelectOp> masks = findCommonPredicates(scores);
  llvm::erase_if(masks, readsPairsOnly);
  // Bounds are those of one head.
  if (plan.hasHeads())
    llvm::erase_if(
        masks, [](SelectOp mask) { return readsHeadTables(mask.getInputs()); });
  DriverBuilder::InsertionGuard guard(b);
  if (!masks.empty()) {
    name = (plan.op.getSymName() + "_next_keys").str();
    define(b, kernel, plan, masks);
  }
  if (plan.op.getBlocks())
    defineListed(b, plan);
}

/// The arguments of the functions: i64 (frame, batch, head, first query, rows,
/// key, end, i1 hidden).
static FunctionType getNextType(DriverBuilder &b) {
  Type i64 = b.getI64Type(), i1 = b.getI1Type();
  return b.getFunctionType({b.getPtrType(), i64, i64, i64, i64, i64, i64, i1},
                           i64);
}

/// What is both listed and seen, or not one of them.
void KeySkips::defineListed(DriverBuilder &b, DriverPlan &plan) {
  std::string masked = name;
  name = (plan.op.getSymName() + "_next_listed").str();
  Type i64 = b.getI64Type();
  func::FuncOp function = b.define(name, getNextType(b), /*isPublic=*/false);
  auto arguments = function.getArguments();
  Value end = arguments[6], isHidden = arguments[7];
  auto nextListed = [&](Value key, Value isHidden) {
    Value hidden = arith::ExtUIOp::create(b, b.getI32Type(), isHidden);
    return b.call("posenc_kernel_next_listed", i64,
                  {arguments[0], arguments[1], arguments[2], arguments[3], key,
                   end, hidden});
  };
  auto nextMasked = [&](Value key, Value isHidden) {
    SmallVector<Value> values(arguments.begin(), arguments.end());
    values[5] = key;
    values[7] = isHidden;
    return b.call(masked, i64, values);
  };
  if (masked.empty()) {
    b.ret(nextListed(arguments[5], isHidden));
    return;
  }
  // A seen key is sought from one to the other until they agree.
  auto loop = scf::WhileOp::create(b, i64, arguments[5]);
  Block *block = b.createBlock(&loop.getBefore(), {}, i64, b.getLoc());
  Value at = block->getArgument(0);
  Value listed = nextListed(at, isHidden);
  Value other = nextMasked(b.select(isHidden, at, listed), isHidden);
  Value differ = b.select(isHidden, b.bit(false), b.less(listed, other));
  scf::ConditionOp::create(b, differ,
                           b.select(isHidden, b.min(listed, other), other));
  block = b.createBlock(&loop.getAfter(), {}, i64, b.getLoc());
  scf::YieldOp::create(b, block->getArguments());
  b.setInsertionPointAfter(loop);
  b.ret(loop.getResult(0));
}

void KeySkips::define(DriverBuilder &b, DriverKernel &kernel, DriverPlan &plan,
                      ArrayRef<SelectOp> masks) {
  Type i64 = b.getI64Type();
  func::FuncOp function = b.define(name, getNextType(b), /*isPublic=*/false);
  DriverFrame frame(b, function.getArgument(0));
  Value firstQuery = function.getArgument(3), end = function.getArgument(6);
  Value isHidden = function.getArgument(7);
  IntervalEmitter::Site site;
  site.batch = function.getArgument(1);
  site.head = function.getArgument(2);
  site.queries = {firstQuery, b.add(firstQuery, function.getArgument(4))};
  IntervalEmitter outside(b, frame, kernel, site);
  // The bounds of the queries are the same for all blocks.
  for (SelectOp mask : masks)
    outside.emitQueries(mask);

  auto loop = scf::WhileOp::create(b, i64, function.getArgument(5));
  Block *block = b.createBlock(&loop.getBefore(), {}, i64, b.getLoc());
  Value at = block->getArgument(0);
  Value next = b.min(b.add(at, b.i64(getSkippedKeys(plan))), end);
  IntervalEmitter emitter = outside.withKeys({at, next});
  Value maySee = b.bit(true);
  for (SelectOp mask : masks)
    maySee = arith::AndIOp::create(b, maySee, emitter.emitMayAllow(mask));
  // Where a block may be seen and a hidden one is wanted, or the reverse.
  Value isOther =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, maySee, isHidden);
  Value goOn = arith::AndIOp::create(b, isOther, b.less(at, end));
  scf::ConditionOp::create(b, goOn, at);
  block = b.createBlock(&loop.getAfter(), {}, i64, b.getLoc());
  Value step = b.add(block->getArgument(0), b.i64(getSkippedKeys(plan)));
  scf::YieldOp::create(b, b.min(step, end));
  b.setInsertionPointAfter(loop);
  b.ret(loop.getResult(0));
}

Value KeySkips::emitNext(DriverBuilder &b, DriverFrame frame,
                         const CallSite &site, Value key, Value end,
                         bool isHidden) const {
  return b.call(name, b.getI64Type(),
                {frame.getAddress(), site.batch, site.head, site.queryBegin,
                 site.rows, key, end, b.bit(isHidden)});
}
