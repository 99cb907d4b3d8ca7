// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a posenc.bias, or another term, depends on.
#include "posenc/Analysis/BiasTraits.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

llvm::BitVector posenc::findUsedInputs(ValueRange inputs, Block &body) {
  llvm::BitVector used(inputs.size());
  llvm::SetVector<Value> reached;
  reached.insert_range(body.getTerminator()->getOperands());
  for (size_t i = 0; i < reached.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(reached[i]))
      used.set(argument.getArgNumber());
    else
      reached.insert_range(reached[i].getDefiningOp()->getOperands());
  }
  // A table is used together with what looks it up, and a sum counts its index.
  std::optional<unsigned> row, channel;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    auto table = dyn_cast<TableType>(input.getType());
    if (!table)
      row = index;
    if (input.getDefiningOp<SumIndexOp>()) {
      channel = index;
      used.set(index);
    }
    if (!table || !used[index])
      continue;
    if (table.hasAxis(TableAxis::row) && row)
      used.set(*row);
    if (table.hasAxis(TableAxis::channel) && channel)
      used.set(*channel);
  }
  return used;
}

static PositionLawAttrInterface getLaw(Value position) {
  auto op = position.getDefiningOp<PositionOp>();
  return op ? op.getLaw() : PositionLawAttrInterface();
}

namespace {
class Analysis {
public:
  BiasTraits run(BiasOp bias) {
    traits.usedInputs =
        findUsedInputs(bias.getInputs(), bias.getBody().front());
    traits.toeplitz = true;
    for (unsigned index : traits.usedInputs.set_bits())
      visit(bias.getInputs()[index]);
    if (!sameLaw)
      traits.positions = {};
    return std::move(traits);
  }

private:
  void visit(Value input) {
    if (auto relation = input.getDefiningOp<RelationOp>())
      return visitRelation(relation);
    if (isa<CoordType>(input.getType())) {
      std::optional<Side> side = getSide(input);
      traits.dependsOnQuery |= side != Side::key;
      traits.dependsOnKey |= side != Side::query;
      traits.toeplitz = false;
      return;
    }
    if (auto map = input.getDefiningOp<RelationMapOp>()) {
      for (Value nested : map.getInputs())
        visit(nested);
      return;
    }
    if (auto table = input.getDefiningOp<TableOp>())
      return visitTable(table.getType(), table);
    if (auto table = input.getDefiningOp<AtQueryOp>())
      return visitComputed(table.getType());
    if (auto table = input.getDefiningOp<PrefixSumOp>())
      return visitComputed(table.getType());
    // The same for every pair and head.
    if (input.getDefiningOp<SumIndexOp>() || input.getDefiningOp<TableMapOp>())
      return;
    // Nothing is known about other definitions.
    traits.dependsOnQuery = traits.dependsOnKey = true;
    traits.readsHeadOperands = traits.readsHeadConstants = true;
    traits.toeplitz = false;
  }

  void visitRelation(RelationOp relation) {
    traits.dependsOnQuery = traits.dependsOnKey = true;
    for (Value position : {relation.getQuery(), relation.getKey()}) {
      PositionLawAttrInterface law = getLaw(position);
      if (!traits.positions)
        traits.positions = law;
      sameLaw &= law && law == traits.positions;
      traits.toeplitz &= sameLaw && law.isAffine();
    }
  }

  void visitTable(TableType type, TableOp table) {
    bool query = type.hasAxis(TableAxis::query);
    bool key = type.hasAxis(TableAxis::key);
    traits.dependsOnQuery |= query;
    traits.dependsOnKey |= key;
    traits.toeplitz &= !query && !key && !type.hasAxis(TableAxis::batch);
    if (type.hasAxis(TableAxis::head))
      (isa<OperandAttr>(table.getLaw()) ? traits.readsHeadOperands
                                        : traits.readsHeadConstants) = true;
  }

  /// A table that is made of others.
  void visitComputed(TableType type) {
    traits.dependsOnQuery |= type.hasAxis(TableAxis::query);
    traits.dependsOnKey |= type.hasAxis(TableAxis::key);
    traits.toeplitz = false;
    if (type.hasAxis(TableAxis::head))
      traits.readsHeadOperands = traits.readsHeadConstants = true;
  }

  BiasTraits traits;
  bool sameLaw = true;
};
} // namespace

BiasTraits posenc::analyzeBias(BiasOp bias) { return Analysis().run(bias); }

bool posenc::readsHeadTables(ValueRange values) {
  llvm::SetVector<Value> needed(values.begin(), values.end());
  for (size_t i = 0; i < needed.size(); ++i) {
    auto type = dyn_cast<TableType>(needed[i].getType());
    if (type && type.hasAxis(TableAxis::head))
      return true;
    if (Operation *op = needed[i].getDefiningOp())
      needed.insert_range(op->getOperands());
  }
  return false;
}
