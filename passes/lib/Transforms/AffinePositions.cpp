// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region over a p + b is a region over p: scaled positions are scaled slopes.
// A bias of distances between scaled positions becomes Toeplitz in those of
// storage, and tiles read positions that are integers.
#include "PositionIdentities.h"

#include "posenc/Analysis/AffineRegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace posenc;

namespace {

/// A list of inputs that a region reads.
struct RegionInputs {
  Operation *op;
  MutableOperandRange inputs;
  Region &region;
  unsigned firstArgument = 0;
};

/// What takes the place of an input: the region reads `function` of `input`.
struct Replacement {
  Value input;
  AffineFunction function;
};

} // namespace

static std::optional<RegionInputs> getRegionInputs(Operation &op) {
  if (auto bias = dyn_cast<BiasOp>(op))
    return RegionInputs{bias, bias.getInputsMutable(), bias.getBody()};
  if (auto map = dyn_cast<MapOp>(op))
    return RegionInputs{map, map.getInputsMutable(), map.getBody(),
                        static_cast<unsigned>(map.getScores().size())};
  if (auto map = dyn_cast<RelationMapOp>(op))
    return RegionInputs{map, map.getInputsMutable(), map.getBody()};
  if (auto scale = dyn_cast<RowScaleOp>(op))
    return RegionInputs{scale, scale.getInputsMutable(), scale.getBody()};
  auto select = dyn_cast<SelectOp>(op);
  if (select && !select.getBody().empty())
    return RegionInputs{select, select.getInputsMutable(), select.getBody()};
  return std::nullopt;
}

/// Whether an input is what looks up a table behind it: then its value is not
/// the region's alone.
static bool looksUpTable(const RegionInputs &list, unsigned index) {
  for (unsigned next = index + 1; next < list.inputs.size(); ++next) {
    auto type = dyn_cast<TableType>(list.inputs[next].get().getType());
    if (!type)
      return false;
    if (type.hasAxis(TableAxis::row))
      return true;
  }
  return false;
}

static void missed(Operation *op, const Twine &reason) {
  reportMissed(op->getLoc(), "AffinePosition",
               "kept positions that are mapped before a region reads them: " +
                   reason);
}

/// Whether an input is a position that is mapped, or a distance of such ones.
static bool isMapped(Value input) {
  auto relation = input.getDefiningOp<RelationOp>();
  if (!relation)
    return input.getDefiningOp<RemapOp>() != nullptr;
  return isa<DifferenceAttr>(relation.getLaw()) &&
         (relation.getQuery().getDefiningOp<RemapOp>() ||
          relation.getKey().getDefiningOp<RemapOp>());
}

static std::optional<Replacement> replacePosition(Operation *op, Value input) {
  auto [base, function] = resolvePosition(input);
  if (base != input)
    return Replacement{base, function};
  missed(op, "the map is no affine function");
  return std::nullopt;
}

static std::optional<Replacement> replaceRelation(Operation *op,
                                                  RelationOp relation) {
  auto [query, ofQuery] = resolvePosition(relation.getQuery());
  auto [key, ofKey] = resolvePosition(relation.getKey());
  if (query == relation.getQuery() && key == relation.getKey()) {
    missed(op, "the map is no affine function");
    return std::nullopt;
  }
  if (ofQuery.slope != ofKey.slope || ofQuery.isConstant()) {
    missed(op, "those of the queries and of the keys have different scales");
    return std::nullopt;
  }
  auto law = cast<DifferenceAttr>(relation.getLaw());
  double sign = law.getOrientation() == Orientation::query_minus_key ? 1 : -1;
  OpBuilder builder(relation);
  Value bare = RelationOp::create(builder, relation.getLoc(), query, key,
                                  relation.getLaw());
  return Replacement{bare,
                     {ofQuery.slope, sign * (ofQuery.offset - ofKey.offset)}};
}

/// Makes the region read a function of the argument.
static void substitute(Region &region, BlockArgument argument,
                       AffineFunction function) {
  if (function.isIdentity())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  Location loc = argument.getLoc();
  SmallVector<OpOperand *> uses = llvm::map_to_vector(
      argument.getUses(), [](OpOperand &use) { return &use; });
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  };
  Value value = argument;
  if (function.isConstant())
    value = number(function.offset);
  else if (function.slope != 1)
    value = arith::MulFOp::create(builder, loc, value, number(function.slope));
  if (!function.isConstant() && function.offset != 0)
    value = arith::AddFOp::create(builder, loc, value, number(function.offset));
  for (OpOperand *use : uses)
    use->set(value);
}

static bool foldInput(RegionInputs &list, unsigned index) {
  Value input = list.inputs[index].get();
  if (!isMapped(input))
    return false;
  if (looksUpTable(list, index)) {
    missed(list.op, "they look up a table");
    return false;
  }
  auto relation = input.getDefiningOp<RelationOp>();
  std::optional<Replacement> replacement =
      relation ? replaceRelation(list.op, relation)
               : replacePosition(list.op, input);
  if (!replacement)
    return false;
  list.inputs[index].assign(replacement->input);
  substitute(list.region, list.region.getArgument(list.firstArgument + index),
             replacement->function);
  reportPassed(list.op->getLoc(), "AffinePosition",
               "folded an affine function of positions into a region");
  return true;
}

bool posenc::foldAffinePositions(KernelOp kernel) {
  bool changed = false;
  for (Operation &op : kernel.getBody().front()) {
    std::optional<RegionInputs> list = getRegionInputs(op);
    for (unsigned index = 0; list && index < list->inputs.size(); ++index)
      changed |= foldInput(*list, index);
  }
  return changed;
}
