// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an instruction set multiplies and adds pairs of bf16 at once.
#include "posenc/Analysis/PairProducts.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

static bool isBF16(std::optional<Type> type) { return type && type->isBF16(); }

std::optional<double> posenc::getStoredFactor(Value vector) {
  double factor = 1;
  while (auto scale = vector.getDefiningOp<TileScaleOp>()) {
    factor *= scale.getFactor().convertToDouble();
    vector = scale.getInput();
  }
  return isa<BlockArgument>(vector) ? std::optional(factor) : std::nullopt;
}

static bool haveEvenChannels(DotOp dot) {
  std::optional<ArrayRef<int64_t>> channels = dot.getChannels();
  return !channels ||
         llvm::all_of(*channels, [](int64_t n) { return n % 2 == 0; });
}

/// Whether all that is made of queries and keys in a step are products of what
/// the caller stores.
static bool multipliesStored(StepOp step, PrologueOp prologue, KeysOp keys) {
  Block &body = step.getBody().front();
  OperandRange queries =
      prologue.getBody().front().getTerminator()->getOperands();
  for (BlockArgument argument : body.getArguments()) {
    if (!llvm::all_of(argument.getUsers(), [](Operation *user) {
          auto dot = dyn_cast<DotOp>(user);
          return dot && haveEvenChannels(dot);
        }))
      return false;
    unsigned index = argument.getArgNumber();
    if (index < queries.size()) {
      if (!argument.use_empty() && !getStoredFactor(queries[index]))
        return false;
    } else if (keys && !argument.use_empty() &&
               !isa<BlockArgument>(
                   keys.getBody().front().getTerminator()->getOperand(
                       index - queries.size()))) {
      return false;
    }
  }
  return true;
}

/// The product that a score is, masked or not.
static DotOp findProduct(Value score) {
  auto select = score.getDefiningOp<SelectOp>();
  while (select && !select.getOther()) {
    score = select.getScore();
    select = score.getDefiningOp<SelectOp>();
  }
  return score.getDefiningOp<DotOp>();
}

/// The factor of the one product that every score is; 1 if there are others, or
/// if it could change the order of scores.
static double getLateFactor(PlanOp plan) {
  constexpr double smallest = 0x1p-40, largest = 0x1p40;
  OperandRange queries =
      plan.getPrologueOp().getBody().front().getTerminator()->getOperands();
  Value query;
  for (StepOp step : plan.getStepOps()) {
    DotOp dot =
        findProduct(step.getBody().front().getTerminator()->getOperand(0));
    if (!dot || !dot.getScale().isExactlyValue(1.0))
      return 1;
    Value used = queries[cast<BlockArgument>(dot.getQuery()).getArgNumber()];
    if (query && query != used)
      return 1;
    query = used;
  }
  double factor = *getStoredFactor(query);
  return factor >= smallest && factor <= largest ? factor : 1;
}

PairProducts posenc::getPairProducts(PlanOp plan) {
  const InstructionSet *isa = findInstructionSet(plan.getIsa());
  PairProducts pairs;
  if (!isa || isa->pairKeys == 0 || plan.getPacked() || plan.getAppend() ||
      plan.getChunkOp() || !isBF16(plan.getDtype()) ||
      !isBF16(plan.getKvDtype()))
    return pairs;
  auto steps = plan.getStepOps();
  auto isEvery = [&](auto isRight) { return llvm::all_of(steps, isRight); };
  bool hasNetworks = !isEvery([](StepOp step) {
    return step.getBody().front().getOps<HeadMlpOp>().empty();
  });
  pairs.scores =
      plan.getHeadDim() % 2 == 0 && !hasNetworks && isEvery([&](StepOp step) {
        return multipliesStored(step, plan.getPrologueOp(), plan.getKeysOp());
      });
  TileNormalizeOp normalize = plan.getNormalizeOp();
  if (pairs.scores && exponentiates(normalize.getKind()))
    pairs.lateFactor = getLateFactor(plan);
  pairs.values =
      exponentiates(normalize.getKind()) && !normalize.getDropout() &&
      isEvery([](StepOp step) {
        return llvm::none_of(step.getBody().front().back().getOperandTypes(),
                             llvm::IsaPred<TableType>);
      });
  return pairs;
}

bool posenc::isAllBF16(KernelOp kernel) {
  return kernel.getElementType().isBF16() &&
         kernel.getKeyElementType().isBF16();
}

bool posenc::hasValuePairs(KernelOp kernel) {
  auto isObstacle = [](Operation &op) {
    if (auto drop = dyn_cast<DropWeightsOp>(op))
      return !drop.getProbability().isZero();
    if (auto normalize = dyn_cast<NormalizeOp>(op))
      return !exponentiates(normalize.getKind());
    return isa<ValueTableOp>(op);
  };
  return isAllBF16(kernel) &&
         llvm::none_of(kernel.getBody().front(), isObstacle);
}

Rounding posenc::getRounding(KernelOp kernel, StringRef isa) {
  auto getError = [](Type type) {
    return std::ldexp(1.0, -cast<FloatType>(type).getFPMantissaWidth());
  };
  Rounding rounding;
  Type type = kernel.getElementType();
  if (type.getIntOrFloatBitWidth() == 16)
    rounding.outputs = getError(type);
  const InstructionSet *set = findInstructionSet(isa);
  if (set && set->pairKeys != 0 && isAllBF16(kernel))
    rounding.weights = getError(type);
  return rounding;
}

SmallVector<const InstructionSet *>
posenc::selectInstructionSets(Operation *op, ArrayRef<std::string> names) {
  auto kernel = dyn_cast<KernelOp>(op);
  bool hasPairs = kernel && isAllBF16(kernel) && !kernel.hasState();
  SmallVector<const InstructionSet *> selected;
  bool isWanted = false;
  ArrayRef<InstructionSet> isas =
      names.empty() ? getHostPlatform().isas : getInstructionSets();
  for (const InstructionSet &isa : isas) {
    isWanted |= names.empty() || llvm::is_contained(names, isa.name);
    if (!isWanted || (isa.pairKeys != 0 && !hasPairs))
      continue;
    selected.push_back(&isa);
    isWanted = false;
  }
  return selected;
}
