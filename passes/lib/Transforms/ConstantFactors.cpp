// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant factor of vectors is a factor of the scales of their products. The
// modulus of a rotation is one if every channel that a product reads is turned:
// with m on both sides the scale is multiplied by m^2. Then tables of angles do
// not differ by the modulus, and one multiplication holds everything.
#include "VectorIdentities.h"

#include "posenc/Analysis/AffineRegions.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

namespace {

/// A factor of all vectors that an operation makes, on some of their channels.
struct Factor {
  Operation *op;
  double value;
  int64_t firstChannel, endChannel;
  StringRef what; // for remarks
};

/// Products that read scaled vectors and the scales that they get.
using NewScales = llvm::MapVector<Operation *, double>;

} // namespace

static double getScale(Operation *product) {
  if (auto dot = dyn_cast<DotOp>(product))
    return dot.getScale().convertToDouble();
  return cast<TableDotOp>(product).getScale().convertToDouble();
}

static void setScale(Operation *product, double scale) {
  if (auto dot = dyn_cast<DotOp>(product))
    dot.setScale(APFloat(scale));
  else
    cast<TableDotOp>(product).setScale(APFloat(scale));
}

/// The query vector of a product, if it has one.
static Value getQuery(Operation *product) {
  if (auto dot = dyn_cast<DotOp>(product))
    return dot.getQuery();
  Value vector = cast<TableDotOp>(product).getVector();
  return isa<QueryType>(vector.getType()) ? vector : Value();
}

/// The channels of an operand that a product reads.
static std::pair<int64_t, int64_t> getChannels(OpOperand &use,
                                               int64_t headDim) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  if (!dot || dot.isWhole())
    return {0, headDim};
  ArrayRef<int64_t> channels = *dot.getChannels();
  int64_t first = channels[use.getOperandNumber()];
  return {first, first + channels[2]};
}

/// Whether a rotation makes channels of some that have the factor and some that
/// do not.
static bool mixesChannels(const Factor &factor, RotateOp rotation) {
  int64_t first = rotation.getFirstDim();
  int64_t end = first + 2 * rotation.getNumPairs().value_or(0);
  bool isWithin = factor.firstChannel <= first && end <= factor.endChannel;
  bool isApart = end <= factor.firstChannel || factor.endChannel <= first;
  return !isWithin && !isApart;
}

/// Finds the products that read `vector`; why not all of them can take the
/// factor instead, or nothing.
static std::string collectProducts(const Factor &factor, Value vector,
                                   int64_t headDim, NewScales &scales) {
  for (OpOperand &use : vector.getUses()) {
    Operation *user = use.getOwner();
    if (isa<DotOp, TableDotOp>(user)) {
      auto [first, end] = getChannels(use, headDim);
      if (first < factor.firstChannel || end > factor.endChannel)
        return "it leaves channels alone that a product reads";
      auto entry = scales.insert({user, getScale(user)}).first;
      entry->second *= factor.value;
      continue;
    }
    if (!isa<RowScaleOp, ChannelScaleOp, RotateOp>(user))
      return ("a " + user->getName().getStringRef() + " follows").str();
    if (auto rotation = dyn_cast<RotateOp>(user);
        rotation && mixesChannels(factor, rotation))
      return "a rotation of other channels follows";
    std::string reason =
        collectProducts(factor, user->getResult(0), headDim, scales);
    if (!reason.empty())
      return reason;
  }
  return "";
}

/// Scales that are the same for all products of a query are applied to it once;
/// others to every score.
static bool keepsOneScale(const Factor &factor, Value replacement,
                          const NewScales &scales) {
  auto getNewQuery = [&](Operation *product) {
    Value query = getQuery(product);
    return query == factor.op->getResult(0) ? replacement : query;
  };
  llvm::DenseMap<Value, double> ofQuery;
  for (auto [product, scale] : scales)
    if (Value query = getNewQuery(product))
      if (ofQuery.insert({query, scale}).first->second != scale)
        return false;
  for (Operation &op : *factor.op->getBlock()) {
    if (!isa<DotOp, TableDotOp>(op) || scales.contains(&op))
      continue;
    Value query = getNewQuery(&op);
    auto entry = query ? ofQuery.find(query) : ofQuery.end();
    if (entry != ofQuery.end() && entry->second != getScale(&op))
      return false;
  }
  return true;
}

/// Gives the factor to the products; `replacement` takes the place of the
/// vectors with it.
static bool fold(const Factor &factor, Value replacement, int64_t headDim) {
  NewScales scales;
  std::string reason =
      collectProducts(factor, factor.op->getResult(0), headDim, scales);
  if (reason.empty() && scales.empty())
    return false;
  if (reason.empty() && llvm::any_of(scales, [](auto &entry) {
        return !std::isnormal(entry.second);
      }))
    reason = "a scale would be out of range";
  if (reason.empty() && !keepsOneScale(factor, replacement, scales))
    reason = "the products of a query would have different scales";
  if (!reason.empty()) {
    reportMissed(factor.op->getLoc(), "ConstantFactor",
                 "kept " + factor.what + " apart from the scale: " + reason);
    return false;
  }
  for (auto [product, scale] : scales)
    setScale(product, scale);
  reportPassed(factor.op->getLoc(), "ConstantFactor",
               "multiplied scales by " + factor.what);
  return true;
}

static bool foldModulus(RotateOp rotation, int64_t headDim) {
  Region &modulus = rotation.getModulus();
  std::optional<double> value =
      modulus.empty() ? std::nullopt : matchConstant(modulus);
  if (!value)
    return false;
  int64_t first = rotation.getFirstDim();
  int64_t end = first + 2 * rotation.getNumPairs().value_or(0);
  if (!fold({rotation, *value, first, end, "the modulus of a rotation"},
            rotation, headDim))
    return false;
  modulus.dropAllReferences();
  modulus.getBlocks().clear();
  return true;
}

static bool foldRowScale(RowScaleOp scale, int64_t headDim) {
  std::optional<double> value = matchConstant(scale.getBody());
  if (!value || llvm::any_of(scale.getInputs(), readsOperand) ||
      !fold({scale, *value, 0, headDim, "a constant factor of vectors"},
            scale.getInput(), headDim))
    return false;
  scale.getResult().replaceAllUsesWith(scale.getInput());
  scale.erase();
  return true;
}

bool posenc::foldConstantFactors(KernelOp kernel) {
  int64_t headDim = kernel.getHeadDim();
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    if (auto rotation = dyn_cast<RotateOp>(op))
      changed |= foldModulus(rotation, headDim);
    else if (auto scale = dyn_cast<RowScaleOp>(op))
      changed |= foldRowScale(scale, headDim);
  }
  return changed;
}
