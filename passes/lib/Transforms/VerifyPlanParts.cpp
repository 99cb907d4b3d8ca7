// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-verify-plan: the operations that the parts of a plan hold.
#include "VerifyPlan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

namespace {
/// The closed list of a kind of part.
struct PartRule {
  StringRef ops;
  bool (*allows)(Operation *);
};
} // namespace

template <typename... OpTs>
static bool isOneOf(Operation *op) {
  return isa<OpTs...>(op);
}

static PartRule getRule(Operation *part) {
  return llvm::TypeSwitch<Operation *, PartRule>(part)
      .Case<PrepareOp>([](PrepareOp prepare) -> PartRule {
        if (prepare.getKind() == TableKind::angles)
          return {"posenc.position, freqs", isOneOf<PositionOp, FreqsOp>};
        return {
            "posenc.position, relation, table, bias, tile.to_base2",
            isOneOf<PositionOp, RelationOp, TableOp, BiasOp, TileToBase2Op>};
      })
      .Case<KeysOp>([](auto) -> PartRule {
        return {"posenc.tile.rotate", isOneOf<TileRotateOp>};
      })
      .Case<PrologueOp>([](auto) -> PartRule {
        return {"posenc.tile.rotate, tile.scale",
                isOneOf<TileRotateOp, TileScaleOp>};
      })
      .Case<StepOp>([](auto) -> PartRule {
        return {"posenc.dot, add, bias, map, select, position, relation, "
                "table, tile.load_strip, tile.to_base2",
                isOneOf<DotOp, AddOp, BiasOp, MapOp, SelectOp, PositionOp,
                        RelationOp, TableOp, TileLoadStripOp, TileToBase2Op>};
      })
      .Case<EpilogueOp>([](auto) -> PartRule {
        return {"posenc.tile.normalize", isOneOf<TileNormalizeOp>};
      });
}

LogicalResult posenc::verifyParts(PlanOp plan) {
  for (Operation &part : plan.getBody().front()) {
    PartRule rule = getRule(&part);
    for (Operation &op : part.getRegion(0).front().without_terminator()) {
      if (!rule.allows(&op))
        return op.emitOpError("cannot stand in ")
               << part.getName() << "; expected one of: " << rule.ops;
      // The prologue scales the queries.
      if (auto dot = dyn_cast<DotOp>(op);
          dot && !dot.getScale().isExactlyValue(1.0))
        return dot.emitOpError("expects scale(1.0) in a plan, whose prologue "
                               "scales the queries, but got ")
               << dot.getScale().convertToDouble();
    }
  }
  return success();
}
