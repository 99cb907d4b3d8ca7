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
PrepareOp PlanOp::lookupPrepare(StringRef name) {
  return lookupSymbol<PrepareOp>(name);
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
  if (getIsa().empty())
    return emitOpError("expects 'isa' to name an instruction set, but it is "
                       "empty");
  return success();
}

/// plan_c3
LogicalResult PlanOp::verifyRegions() {
  // The parts come in the order in which they run.
  int stage = 0;
  bool hasPrologue = false, hasStep = false, hasEpilogue = false;
  for (Operation &op : getBody().front()) {
    int rank = isa<PrepareOp>(op)    ? 0
               : isa<KeysOp>(op)     ? 1
               : isa<PrologueOp>(op) ? 2
               : isa<StepOp>(op)     ? 3
               : isa<EpilogueOp>(op) ? 4
                                     : -1;
    if (rank < 0)
      return op.emitOpError("cannot stand in a posenc.plan; expected "
                            "posenc.prepare, keys, prologue, step or epilogue");
    bool single = rank == 1 || rank == 2 || rank == 4;
    if (rank < stage || (single && rank == stage))
      return op.emitOpError("is out of place: expected posenc.prepare ..., "
                            "at most one posenc.keys, one posenc.prologue, "
                            "posenc.step ... and one posenc.epilogue, in this "
                            "order");
    stage = rank;
    hasPrologue |= rank == 2;
    hasStep |= rank == 3;
    hasEpilogue |= rank == 4;
  }
  if (!hasPrologue || !hasStep || !hasEpilogue)
    return emitOpError("expects a posenc.prologue, a posenc.step and a "
                       "posenc.epilogue");
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
  switch (getKind()) {
  case TableKind::angles:
    return verifyBody(*this, {},
                      {CoordType::get(context), FreqsType::get(context)});
  case TableKind::strip:
    return verifyBody(*this, {}, ScoreType::get(context));
  }
  llvm_unreachable("unknown kind of table");
}

LogicalResult KeysOp::verifyRegions() {
  // keys_c1
  Type key = KeyType::get(getContext());
  return verifyBody(*this, key, key);
}

LogicalResult PrologueOp::verifyRegions() {
  // prologue_c1
  Type query = QueryType::get(getContext());
  return verifyBody(*this, query, query);
}

LogicalResult StepOp::verifyRegions() {
  // step_c1
  MLIRContext *context = getContext();
  return verifyBody(*this, {QueryType::get(context), KeyType::get(context)},
                    ScoreType::get(context));
}

LogicalResult EpilogueOp::verifyRegions() {
  // epilogue_c1
  return verifyBody(*this, StateType::get(getContext()),
                    OutputType::get(getContext()));
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

LogicalResult TileScaleOp::verify() {
  // tile_scale_c1
  if (!getFactor().isFinite())
    return emitOpError("expects 'factor' to be finite, but got ")
           << getFactor().convertToDouble();
  return success();
}
