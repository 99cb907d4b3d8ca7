// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adding f(h, i) to a row of scores does not change its softmax: such biases
// are dropped where nothing else sees the scores.
#include "ScoreIdentities.h"
#include "posenc/Analysis/BiasTraits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

/// Whether an infinity or a NaN is written down in what the bias reads: then
/// its values need not be real numbers.
static bool namesNonFinite(BiasOp bias, const BiasTraits &traits) {
  for (unsigned index : traits.usedInputs.set_bits())
    if (auto table = bias.getInputs()[index].getDefiningOp<TableOp>())
      if (auto constants = dyn_cast<ConstantsAttr>(table.getLaw()))
        if (!llvm::all_of(constants.getValues().asArrayRef(),
                          [](double value) { return std::isfinite(value); }))
          return true;
  for (auto literal : bias.getBody().getOps<arith::ConstantOp>())
    if (auto value = dyn_cast<FloatAttr>(literal.getValue()))
      if (!value.getValue().isFinite())
        return true;
  return false;
}

/// What sees, or might see, that a bias is missing; empty if nothing does.
static std::string findObserver(KernelOp kernel, BiasOp bias,
                                const BiasTraits &traits) {
  if (!kernel.getNoLse())
    return "the kernel can export the log-sum-exp of a row, unless it says "
           "'no_lse'";
  if (llvm::any_of(bias.getInputs(), readsOperand))
    return "it reads an operand, which may hold an infinity and is a part of "
           "the kernel's interface";
  if (namesNonFinite(bias, traits))
    return "it names a number that is not finite";
  for (Operation *user : bias->getUsers())
    if (!isa<AddOp>(user) || user->getOperand(0) == user->getOperand(1))
      return "it is the only term of its sum";
  llvm::SetVector<Value> scores;
  scores.insert(bias.getResult());
  for (size_t i = 0; i < scores.size(); ++i) {
    for (Operation *user : scores[i].getUsers()) {
      if (auto normalize = dyn_cast<NormalizeOp>(user)) {
        if (normalize.getSink())
          return "a sink has a share of the softmax of its scores";
        if (normalize.getKind() != NormalizeKind::softmax)
          return "its scores are normalised by another function than softmax";
        continue;
      }
      auto select = dyn_cast<SelectOp>(user);
      if (select && select.getOther())
        return "its scores are one branch of a select";
      if (!isa<AddOp, SelectOp>(user))
        return ("its scores pass through a " + user->getName().getStringRef())
            .str();
      scores.insert(user->getResult(0));
    }
  }
  return "";
}

bool posenc::dropRowConstants(KernelOp kernel) {
  bool changed = false;
  for (BiasOp bias :
       llvm::make_early_inc_range(kernel.getBody().getOps<BiasOp>())) {
    BiasTraits traits = analyzeBias(bias);
    if (traits.dependsOnKey || bias.use_empty())
      continue;
    std::string observer = findObserver(kernel, bias, traits);
    if (!observer.empty()) {
      reportMissed(bias.getLoc(), "RowConstantBias",
                   "kept a bias that is the same for all keys of a row: " +
                       observer);
      continue;
    }
    reportPassed(bias.getLoc(), "RowConstantBias",
                 "dropped a bias that is the same for all keys of a row");
    for (Operation *user : llvm::make_early_inc_range(bias->getUsers())) {
      unsigned other = user->getOperand(0) == bias.getResult() ? 1 : 0;
      user->getResult(0).replaceAllUsesWith(user->getOperand(other));
      user->erase();
    }
    bias.erase();
    changed = true;
  }
  return changed;
}
