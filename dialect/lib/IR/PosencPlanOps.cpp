// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 3: the structure of a plan. What its parts may hold is checked by the
// pass posenc-verify-plan.
#include "posenc/IR/Posenc.h"

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
