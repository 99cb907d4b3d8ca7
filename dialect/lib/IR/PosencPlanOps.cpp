// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 3: the structure of a plan. What its parts may hold is checked by the
// pass posenc-verify-plan.
#include "posenc/IR/Posenc.h"

#include "KernelShape.h"

using namespace mlir;
using namespace posenc;

template <typename OpT>
static SmallVector<OpT, 4> collect(PlanOp plan) {
  return llvm::to_vector<4>(plan.getBody().front().getOps<OpT>());
}
template <typename OpT>
static OpT first(PlanOp plan) {
  auto ops = plan.getBody().front().getOps<OpT>();
  return ops.empty() ? OpT() : *ops.begin();
}

SmallVector<PrepareOp, 4> PlanOp::getPrepareOps() {
  return collect<PrepareOp>(*this);
}
KeysOp PlanOp::getKeysOp() { return first<KeysOp>(*this); }
PrologueOp PlanOp::getPrologueOp() { return first<PrologueOp>(*this); }
SmallVector<StepOp, 4> PlanOp::getStepOps() { return collect<StepOp>(*this); }
EpilogueOp PlanOp::getEpilogueOp() { return first<EpilogueOp>(*this); }
ChunkOp PlanOp::getChunkOp() { return first<ChunkOp>(*this); }
PrepareOp PlanOp::lookupPrepare(StringRef name) {
  return lookupSymbol<PrepareOp>(name);
}

TileNormalizeOp PlanOp::getNormalizeOp() {
  if (!getEpilogueOp())
    return TileNormalizeOp();
  auto ops = getEpilogueOp().getBody().front().getOps<TileNormalizeOp>();
  return ops.empty() ? TileNormalizeOp() : *ops.begin();
}

LogicalResult PlanOp::verify() {
  // plan_c1
  if (failed(verifyKernelShape(*this, getHeads(), getKvHeads(), getHeadDim(),
                               getValueDim())))
    return failure();
  // plan_c2
  ArrayRef<int64_t> rows = getRows();
  if (rows.empty())
    return emitOpError("expects at least one entry in 'rows'");
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] <= 0 || (i > 0 && rows[i] >= rows[i - 1]))
      return emitOpError("expects 'rows' to be positive and to decrease, but "
                         "got ")
             << getRowsAttr();
  if (static_cast<int64_t>(getKeys()) <= 0)
    return emitOpError("expects 'keys' to be positive, but got ")
           << static_cast<int64_t>(getKeys());
  // plan_c4
  if (std::optional<AffineMap> from = getFrom();
      from && (from->getNumDims() != 4 || from->getNumSymbols() != 0 ||
               from->getNumResults() == 0))
    return emitOpError("expects 'from' to be a map over (q_begin, q_end, lq, "
                       "lk) without symbols and with results, but it has ")
           << from->getNumDims() << " dimensions, " << from->getNumSymbols()
           << " symbols and " << from->getNumResults() << " results";
  if (getIsa().empty())
    return emitOpError("expects 'isa' to name an instruction set, but it is "
                       "empty");
  // plan_c8
  std::optional<int64_t> packed = getPacked();
  if (packed && *packed <= 0)
    return emitOpError("expects 'packed' to be positive, but got ") << *packed;
  if (packed && (getDescending() || getAppend() || getBlocks()))
    return emitOpError("expects no '") << (getDescending() ? "descending"
                                           : getAppend()   ? "append"
                                                           : "blocks")
                                       << "' beside 'packed'";
  return success();
}

/// plan_c7, plan_c8
static LogicalResult verifyRecurrent(PlanOp plan, bool hasOthers) {
  if (hasOthers)
    return plan.emitOpError("expects no posenc.step and no posenc.epilogue "
                            "beside a posenc.chunk");
  for (auto [clause, isGiven] : {std::pair("append", plan.getAppend()),
                                 {"descending", plan.getDescending()},
                                 {"from", plan.getFrom().has_value()},
                                 {"indirect", plan.getIndirect()},
                                 {"blocks", plan.getBlocks().has_value()},
                                 {"packed", plan.getPacked().has_value()}})
    if (isGiven)
      return plan.emitOpError("expects no '")
             << clause << "' beside a posenc.chunk";
  if (plan.getRows().front() != static_cast<int64_t>(plan.getKeys()))
    return plan.emitOpError("expects 'keys' to be the first entry of 'rows' "
                            "beside a posenc.chunk, but got ")
           << static_cast<int64_t>(plan.getKeys()) << " and "
           << plan.getRowsAttr();
  return success();
}

/// plan_c3
LogicalResult PlanOp::verifyRegions() {
  // The parts come in the order in which they run.
  int stage = 0;
  bool hasPrologue = false, hasStep = false, hasEpilogue = false;
  bool hasChunk = false;
  for (Operation &op : getBody().front()) {
    int rank = isa<PrepareOp>(op)    ? 0
               : isa<KeysOp>(op)     ? 1
               : isa<PrologueOp>(op) ? 2
               : isa<StepOp>(op)     ? 3
               : isa<EpilogueOp>(op) ? 4
               : isa<ChunkOp>(op)    ? 5
                                     : -1;
    if (rank < 0)
      return op.emitOpError("cannot stand in a posenc.plan; expected "
                            "posenc.prepare, keys, prologue, step, epilogue "
                            "or chunk");
    bool single = rank != 0 && rank != 3;
    if (rank < stage || (single && rank == stage))
      return op.emitOpError("is out of place: expected posenc.prepare ..., "
                            "at most one posenc.keys, one posenc.prologue, "
                            "posenc.step ... and one posenc.epilogue, or one "
                            "posenc.chunk, in this order");
    stage = rank;
    hasPrologue |= rank == 2;
    hasStep |= rank == 3;
    hasEpilogue |= rank == 4;
    hasChunk |= rank == 5;
  }
  if (hasChunk && failed(verifyRecurrent(*this, hasStep || hasEpilogue)))
    return failure();
  // plan_c5
  if (getAppend() && (hasPrologue || hasStep || hasEpilogue))
    return emitOpError("expects no posenc.prologue, posenc.step and "
                       "posenc.epilogue, since it is an 'append' plan");
  if (getAppend() && getBlocks())
    return emitOpError("expects no 'blocks', since it is an 'append' plan");
  // plan_c6
  if (getBlocks() && getDescending())
    return emitOpError("expects no 'descending' beside 'blocks': what scans a "
                       "row sees all of its keys");
  if (!getAppend() &&
      (!hasPrologue || (!hasChunk && !(hasStep && hasEpilogue))))
    return emitOpError("expects a posenc.prologue, a posenc.step and a "
                       "posenc.epilogue, or a posenc.chunk in the place of the "
                       "last two");
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Checks what the body of a part takes and yields.
static LogicalResult verifyBody(Operation *part, TypeRange arguments,
                                TypeRange results) {
  Block &block = part->getRegion(0).front();
  if (block.getArgumentTypes() != arguments)
    return part->emitOpError("expects its body to have the arguments (")
           << llvm::to_vector(arguments) << "), but got ("
           << llvm::to_vector(block.getArgumentTypes()) << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return part->emitOpError("expects its body to end with posenc.yield");
  if (TypeRange(yield.getOperandTypes()) != results)
    return part->emitOpError("expects its body to yield (")
           << llvm::to_vector(results) << "), but got ("
           << llvm::to_vector(yield.getOperandTypes()) << ")";
  return success();
}

LogicalResult PrepareOp::verifyRegions() {
  // prepare_c1
  MLIRContext *context = getContext();
  Block &block = getBody().front();
  switch (getKind()) {
  case TableKind::angles: {
    bool turnsQueries = block.getNumArguments() == 1 &&
                        isa<QueryType>(block.getArgument(0).getType());
    Type vector = turnsQueries ? Type(QueryType::get(context))
                               : Type(KeyType::get(context));
    return verifyBody(*this, vector, vector);
  }
  case TableKind::strip:
  case TableKind::decays:
    return verifyBody(*this, {}, ScoreType::get(context));
  case TableKind::rows: {
    auto yield = dyn_cast<YieldOp>(block.getTerminator());
    unsigned count = yield ? yield->getNumOperands() : 0;
    bool fits =
        block.getNumArguments() == 0 && (count == 1 || count == 2) &&
        isa<TableType>(yield.getOperand(0).getType()) &&
        (count == 1 || isa<RelationType>(yield.getOperand(1).getType()));
    if (!fits)
      return emitOpError("expects its body to have no arguments and to yield a "
                         "table, and a relation if its rows have no bounds");
    return success();
  }
  }
  llvm_unreachable("unknown kind of table");
}

/// The body takes one vector and yields at least one, all of one type.
static LogicalResult verifyVectors(Operation *part, Type vector) {
  Operation *yield = part->getRegion(0).front().getTerminator();
  size_t count = std::max<size_t>(1, yield->getNumOperands());
  return verifyBody(part, vector, SmallVector<Type>(count, vector));
}

LogicalResult KeysOp::verifyRegions() {
  // keys_c1
  if (failed(verifyVectors(*this, KeyType::get(getContext()))))
    return failure();
  unsigned count = getBody().front().getTerminator()->getNumOperands();
  if (cast<PlanOp>((*this)->getParentOp()).getAppend() && count != 1)
    return emitOpError("expects its body to yield one key in an 'append' "
                       "plan, but got ")
           << count;
  // keys_c2
  if (getOnLoad() && !cast<PlanOp>((*this)->getParentOp()).getPacked())
    return emitOpError("expects no 'on_load': tiles of a plan that is not "
                       "'packed' read keys more than once");
  return success();
}

LogicalResult PrologueOp::verifyRegions() {
  // prologue_c1
  return verifyVectors(*this, QueryType::get(getContext()));
}

/// The number of vectors that a part yields.
static size_t countVectors(Operation *part) {
  Block &block = part->getRegion(0).front();
  return block.empty() ? 1 : std::max<size_t>(1, block.back().getNumOperands());
}

/// The queries of the prologue, then the keys.
static SmallVector<Type> getVectorTypes(Operation *part) {
  auto plan = cast<PlanOp>(part->getParentOp());
  MLIRContext *context = part->getContext();
  SmallVector<Type> types(
      plan.getPrologueOp() ? countVectors(plan.getPrologueOp()) : 1,
      QueryType::get(context));
  types.append(plan.getKeysOp() ? countVectors(plan.getKeysOp()) : 1,
               KeyType::get(context));
  return types;
}

LogicalResult StepOp::verifyRegions() {
  // step_c1
  MLIRContext *context = getContext();
  SmallVector<Type> arguments = getVectorTypes(*this);
  Operation *yield = getBody().front().getTerminator();
  SmallVector<Type> results{ScoreType::get(context)};
  size_t count = yield->getNumOperands();
  if (count > 1 && isa<ScoreType>(yield->getOperand(1).getType()))
    results.push_back(ScoreType::get(context));
  // Value tables have types of their own.
  while (results.size() + 1 < count &&
         isa<TableType>(yield->getOperand(results.size()).getType())) {
    results.push_back(yield->getOperand(results.size()).getType());
    results.push_back(RelationType::get(context));
  }
  return verifyBody(*this, arguments, results);
}

LogicalResult EpilogueOp::verifyRegions() {
  // epilogue_c1
  return verifyBody(*this, StateType::get(getContext()),
                    OutputType::get(getContext()));
}

LogicalResult ChunkOp::verifyRegions() {
  // chunk_c1
  if (failed(verifyBody(*this, getVectorTypes(*this),
                        OutputType::get(getContext()))))
    return failure();
  Value output = getBody().front().getTerminator()->getOperand(0);
  if (!output.getDefiningOp<TileRecurrenceOp>())
    return emitOpError("expects its body to yield a posenc.tile.recurrence");
  return success();
}

//===----------------------------------------------------------------------===//
// Tile operations
//===----------------------------------------------------------------------===//

LogicalResult TileRotateOp::verify() {
  // tile_rotate_c1
  int64_t first = getFirstDim(), dims = getDims();
  if (dims <= 0 || dims % 2 != 0)
    return emitOpError("expects 'dims' to be even and positive, but got ")
           << dims;
  auto plan = (*this)->getParentOfType<PlanOp>();
  if (plan && !isWithin(first, dims, plan.getHeadDim()))
    return emitOpError("expects the rotated channels [")
           << first << ", " << first << " + " << dims
           << ") to lie within the plan's 'head_dim' (" << plan.getHeadDim()
           << ")";
  return success();
}

LogicalResult TileNormalizeOp::verify() {
  // tile_normalize_c1
  std::optional<APFloat> dropout = getDropout();
  if (!dropout)
    return success();
  double rate = dropout->convertToDouble();
  if (rate > 0 && rate < 1)
    return success();
  return emitOpError("expects 'dropout' to be above 0 and below 1, but got ")
         << rate;
}

LogicalResult TileScaleOp::verify() {
  // tile_scale_c1
  if (!getFactor().isFinite())
    return emitOpError("expects 'factor' to be finite, but got ")
           << getFactor().convertToDouble();
  return success();
}
