// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a posenc.bias depends on, proved from its inputs and its region.
#include "posenc/Analysis/BiasTraits.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

/// The inputs whose arguments reach the region's result.
static llvm::BitVector findUsedInputs(BiasOp bias) {
  llvm::BitVector used(bias.getInputs().size());
  Block &body = bias.getBody().front();
  llvm::SetVector<Value> reached;
  reached.insert_range(body.getTerminator()->getOperands());
  for (size_t i = 0; i < reached.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(reached[i]))
      used.set(argument.getArgNumber());
    else
      reached.insert_range(reached[i].getDefiningOp()->getOperands());
  }
  // A table is used together with the relation that looks it up.
  std::optional<unsigned> relation;
  for (auto [index, input] : llvm::enumerate(bias.getInputs())) {
    auto table = dyn_cast<TableType>(input.getType());
    if (isa<RelationType>(input.getType()))
      relation = index;
    else if (table && table.hasAxis(TableAxis::row) && used[index] && relation)
      used.set(*relation);
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
    traits.usedInputs = findUsedInputs(bias);
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
    if (auto position = input.getDefiningOp<PositionOp>()) {
      (position.getSide() == Side::query ? traits.dependsOnQuery
                                         : traits.dependsOnKey) = true;
      traits.toeplitz = false;
      return;
    }
    if (auto table = input.getDefiningOp<TableOp>())
      return visitTable(table);
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

  void visitTable(TableOp table) {
    TableType type = table.getType();
    bool query = type.hasAxis(TableAxis::query);
    bool key = type.hasAxis(TableAxis::key);
    traits.dependsOnQuery |= query;
    traits.dependsOnKey |= key;
    traits.toeplitz &= !query && !key;
    if (type.hasAxis(TableAxis::head))
      (isa<OperandAttr>(table.getLaw()) ? traits.readsHeadOperands
                                        : traits.readsHeadConstants) = true;
  }

  BiasTraits traits;
  bool sameLaw = true;
};
} // namespace

BiasTraits posenc::analyzeBias(BiasOp bias) { return Analysis().run(bias); }
