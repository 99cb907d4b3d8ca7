// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Toeplitz biases of one sum become one bias, so that they share one strip.
#include "ScoreIdentities.h"
#include "posenc/Analysis/BiasTraits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace posenc;

namespace {

/// The distinct inputs of several biases, so ordered that each table with rows
/// still comes after the relation that looks it up.
class InputList {
public:
  /// Adds an input with the relation before it; returns nothing, since places
  /// move until all inputs are known.
  void add(Value input, Value relation) {
    if (find(input, relation) < entries.size())
      return;
    if (!needsRelation(input)) {
      entries.push_back({input, relation});
      return;
    }
    add(relation, {});
    size_t place = find(relation, {}) + 1;
    while (place < entries.size() && needsRelation(entries[place].input))
      ++place;
    entries.insert(entries.begin() + place, {input, relation});
  }

  /// The place of an input, or the number of inputs.
  size_t find(Value input, Value relation) const {
    for (auto [place, entry] : llvm::enumerate(entries))
      if (entry.input == input &&
          (!needsRelation(input) || entry.relation == relation))
        return place;
    return entries.size();
  }

  SmallVector<Value> getInputs() const {
    return llvm::map_to_vector(entries,
                               [](const Entry &entry) { return entry.input; });
  }

private:
  struct Entry {
    Value input, relation;
  };

  static bool needsRelation(Value input) {
    auto type = dyn_cast<TableType>(input.getType());
    return type && type.hasAxis(TableAxis::row);
  }

  SmallVector<Entry> entries;
};

/// Biases of one sum that can be merged, in the order of the block.
struct Group {
  SmallVector<BiasOp> biases;
  PositionLawAttrInterface positions;
  bool readsHeadOperands = false, readsHeadConstants = false;

  /// Why a bias cannot join; empty if it can.
  StringRef refuses(const BiasTraits &traits) const {
    if (positions && traits.positions && positions != traits.positions)
      return "its positions have another law";
    if ((readsHeadOperands || traits.readsHeadOperands) &&
        (readsHeadConstants || traits.readsHeadConstants))
      return "one has constants for each head of the kernel, the other an "
             "operand for each head of the call";
    return "";
  }

  void join(BiasOp bias, const BiasTraits &traits) {
    biases.push_back(bias);
    if (!positions)
      positions = traits.positions;
    readsHeadOperands |= traits.readsHeadOperands;
    readsHeadConstants |= traits.readsHeadConstants;
  }
};

} // namespace

/// Calls back with each input of a bias that must be kept, its argument and the
/// relation before it.
static void
forKeptInputs(BiasOp bias,
              function_ref<void(Value, BlockArgument, Value)> callback) {
  llvm::BitVector kept = getKeptInputs(bias);
  Value relation;
  for (auto [index, input] : llvm::enumerate(bias.getInputs())) {
    if (kept[index])
      callback(input, bias.getBody().getArgument(index), relation);
    if (isa<RelationType>(input.getType()))
      relation = input;
  }
}

/// The terms of a sum: what its additions add, in the order of the block.
static SmallVector<BiasOp> collectBiases(AddOp sum) {
  SmallVector<BiasOp> biases;
  SmallVector<Value> worklist(sum.getOperands());
  while (!worklist.empty()) {
    Value term = worklist.pop_back_val();
    if (!term.hasOneUse())
      continue;
    if (auto add = term.getDefiningOp<AddOp>())
      llvm::append_range(worklist, add.getOperands());
    else if (auto bias = term.getDefiningOp<BiasOp>())
      biases.push_back(bias);
  }
  llvm::sort(biases, [](BiasOp a, BiasOp b) { return a->isBeforeInBlock(b); });
  return biases;
}

/// One bias, in place of the last of a group, whose region is the sum of their
/// regions.
static BiasOp buildMerged(ArrayRef<BiasOp> biases) {
  InputList inputs;
  for (BiasOp bias : biases)
    forKeptInputs(bias, [&](Value input, BlockArgument, Value relation) {
      inputs.add(input, relation);
    });
  BiasOp last = biases.back();
  OpBuilder builder(last);
  Location loc = builder.getFusedLoc(
      llvm::map_to_vector(biases, [](BiasOp bias) { return bias.getLoc(); }));
  SmallVector<Value> list = inputs.getInputs();
  auto merged = BiasOp::create(builder, loc, list);
  SmallVector<Type> types(list.size(), builder.getF64Type());
  SmallVector<Location> locs(list.size(), loc);
  Block *block = builder.createBlock(&merged.getBody(), {}, types, locs);
  Value sum;
  for (BiasOp bias : biases) {
    IRMapping mapping;
    forKeptInputs(bias, [&](Value input, BlockArgument argument,
                            Value relation) {
      mapping.map(argument, block->getArgument(inputs.find(input, relation)));
    });
    Block &body = bias.getBody().front();
    // Inputs without influence on the result were left out, and so is what
    // depends on them.
    for (Operation &op : body.without_terminator())
      if (llvm::all_of(op.getOperands(),
                       [&](Value v) { return mapping.contains(v); }))
        builder.clone(op, mapping);
    Value term = mapping.lookup(body.getTerminator()->getOperand(0));
    sum = sum ? arith::AddFOp::create(builder, loc, sum, term) : term;
  }
  YieldOp::create(builder, loc, sum);
  return merged;
}

static void merge(ArrayRef<BiasOp> biases) {
  BiasOp last = biases.back();
  reportPassed(last.getLoc(), "MergedBiases",
               "merged " + llvm::Twine(biases.size()) +
                   " Toeplitz biases of one sum into one bias");
  BiasOp merged = buildMerged(biases);
  for (BiasOp bias : biases.drop_back()) {
    Operation *add = *bias->user_begin();
    unsigned other = add->getOperand(0) == bias.getResult() ? 1 : 0;
    add->getResult(0).replaceAllUsesWith(add->getOperand(other));
    add->erase();
    bias.erase();
  }
  last.getResult().replaceAllUsesWith(merged);
  last.erase();
}

/// Whether the region is evaluated several times for each number.
static bool isSum(BiasOp bias) {
  return llvm::any_of(bias.getInputs(), [](Value input) {
    return static_cast<bool>(input.getDefiningOp<SumIndexOp>());
  });
}

/// Whether an addition is the last of its sum.
static bool isWholeSum(AddOp add) {
  return !add->hasOneUse() || !isa<AddOp>(*add->user_begin());
}

bool posenc::mergeToeplitzBiases(KernelOp kernel) {
  bool changed = false;
  auto sums =
      llvm::filter_to_vector(kernel.getBody().getOps<AddOp>(), isWholeSum);
  for (AddOp sum : sums) {
    SmallVector<Group> groups;
    for (BiasOp bias : collectBiases(sum)) {
      BiasTraits traits = analyzeBias(bias);
      if (!traits.fitsStrip() || isSum(bias))
        continue;
      auto group = llvm::find_if(groups, [&](const Group &candidate) {
        return candidate.refuses(traits).empty();
      });
      if (group == groups.end()) {
        if (!groups.empty())
          reportMissed(bias.getLoc(), "MergedBiases",
                       "kept apart from another Toeplitz bias of its sum: " +
                           groups.front().refuses(traits));
        group = groups.insert(groups.end(), Group());
      }
      group->join(bias, traits);
    }
    for (const Group &group : groups)
      if (group.biases.size() > 1) {
        merge(group.biases);
        changed = true;
      }
  }
  return changed;
}
