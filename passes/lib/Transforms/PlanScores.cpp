// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the scores of a kernel.
//
// A score that ends in base 2 is written from its root to its leaves: a sum or
// a mask in base 2 takes its operands in base 2, a map takes a natural score
// and its result is changed. So leaves are changed where no map follows.
#include "PlanScores.h"
#include "PlanRemarks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static AffineMap getAllKeys(MLIRContext *context) {
  return AffineMap::get(4, 0, getAffineDimExpr(3, context));
}

static bool hidesNothing(MaskAttrInterface mask) {
  AffineMap all = getAllKeys(mask.getContext());
  return mask.getInteriorEnd() == all && mask.getKeysEnd() == all;
}

/// The minimum of one map of every mask: their results together.
static AffineMap combine(const ScoreTerms &terms,
                         function_ref<AffineMap(MaskAttrInterface)> getMap) {
  MLIRContext *context = terms.root.getContext();
  llvm::SetVector<AffineExpr> results;
  for (MaskAttrInterface mask : terms.masks)
    results.insert_range(getMap(mask).getResults());
  if (results.empty())
    return getAllKeys(context);
  return AffineMap::get(4, 0, results.getArrayRef(), context);
}

AffineMap ScoreTerms::getInteriorEnd() const {
  return combine(*this, [](auto mask) { return mask.getInteriorEnd(); });
}
AffineMap ScoreTerms::getKeysEnd() const {
  return combine(*this, [](auto mask) { return mask.getKeysEnd(); });
}

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

/// Why a bias is not a function of the head and the distance alone, in one
/// number per head and distance.
static StringRef explainNoStrip(BiasOp bias, const BiasTraits &traits) {
  if (traits.toeplitz && !traits.fitsStrip())
    return "it reads both constants and an operand with a head axis, and the "
           "heads of a call may be a part of the kernel's";
  if (traits.toeplitz)
    return "it is the same for every pair of a head";
  for (unsigned index : traits.usedInputs.set_bits()) {
    Value input = bias.getInputs()[index];
    if (isa<CoordType>(input.getType()))
      return "it depends on a position and not on the distance alone";
    if (isa<TableType>(input.getType()))
      if (auto type = cast<TableType>(input.getType());
          type.hasAxis(TableAxis::query) || type.hasAxis(TableAxis::key))
        return "it reads a table with a query or key axis";
  }
  if (!traits.positions)
    return "its positions follow different laws";
  return "its positions are not those of storage";
}

namespace {
class ScorePlacement {
public:
  ScorePlacement(Value root, PlanTables &tables) : tables(tables) {
    terms.root = root;
  }

  FailureOr<ScoreTerms> run() {
    if (failed(visit(terms.root, /*base2=*/true, /*map=*/{})))
      return failure();
    return std::move(terms);
  }

private:
  /// `map` is a posenc.map that the score reaches.
  LogicalResult visit(Value score, bool base2, MapOp map) {
    if (!visited[base2].insert(score).second)
      return success();
    Operation *op = score.getDefiningOp();
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<DotOp>([&](DotOp dot) { return visitDot(dot, base2); })
        .Case<BiasOp>([&](BiasOp bias) { return visitBias(bias, base2); })
        .Case<AddOp>([&](AddOp add) {
          return success(succeeded(visit(add.getLhs(), base2, map)) &&
                         succeeded(visit(add.getRhs(), base2, map)));
        })
        .Case<MapOp>([&](MapOp inner) -> LogicalResult {
          if (inner.getScores().size() != 1)
            return inner.emitOpError("cannot be placed in a plan; expected one "
                                     "score");
          if (base2)
            missed(inner, "Map",
                   "map is applied to every score, and the change to base 2 to "
                   "every result of it");
          return visit(inner.getScores().front(), /*base2=*/false, inner);
        })
        .Case<SelectOp>(
            [&](SelectOp select) { return visitSelect(select, base2, map); })
        .Default([](Operation *other) {
          return other->emitOpError("cannot be placed in a plan; expected a "
                                    "score to be defined by posenc.dot, add, "
                                    "bias, map or select");
        });
  }

  LogicalResult visitDot(DotOp dot, bool base2) {
    if (terms.dot && terms.dot != dot) {
      InFlightDiagnostic diag =
          dot.emitOpError("cannot be placed in a plan; expected one posenc.dot "
                          "in a score");
      diag.attachNote(terms.dot.getLoc()) << "another one is here";
      return diag;
    }
    terms.dot = dot;
    terms.naturalDot |= !base2;
    return success();
  }

  LogicalResult visitBias(BiasOp bias, bool base2) {
    BiasTraits traits = analyzeBias(bias);
    if (traits.fitsStrip() && traits.dependsOnKey) {
      StringRef strip = tables.getStrip(bias, traits, base2);
      terms.strips[base2].insert({bias, strip});
      planned(bias, "Bias",
              "bias is evaluated once per head and distance and read from the "
              "prepared table @" +
                  strip);
      return success();
    }
    missed(bias, "Bias",
           "bias is evaluated for every score: " +
               explainNoStrip(bias, traits));
    return success();
  }

  LogicalResult visitSelect(SelectOp select, bool base2, MapOp map) {
    if (!select.getMaskAttr() || select.getOther() ||
        !select.getPositions().empty())
      return select.emitOpError("cannot be placed in a plan; expected a mask "
                                "over storage indices");
    if (hidesNothing(select.getMaskAttr())) {
      planned(select, "Mask", "mask hides nothing and is dropped");
      return visit(select.getScore(), base2, map);
    }
    if (map) {
      InFlightDiagnostic diag = map.emitOpError(
          "cannot be placed in a plan; expected no posenc.map after a "
          "posenc.select, since a map need not keep -inf");
      diag.attachNote(select.getLoc()) << "the mask is here";
      return diag;
    }
    planned(select, "Mask",
            "mask is applied in @edge alone: @interior ends before it hides "
            "keys");
    terms.masks.insert(select.getMaskAttr());
    return visit(select.getScore(), base2, map);
  }

  ScoreTerms terms;
  PlanTables &tables;
  llvm::DenseSet<Value> visited[2];
};
} // namespace

FailureOr<ScoreTerms> posenc::placeScores(Value root, PlanTables &tables) {
  FailureOr<ScoreTerms> terms = ScorePlacement(root, tables).run();
  if (succeeded(terms) && !terms->dot)
    return root.getDefiningOp()->emitOpError(
        "cannot be placed in a plan; expected the score to contain a "
        "posenc.dot");
  return terms;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
class ScoreWriter {
public:
  ScoreWriter(OpBuilder &builder, const ScoreTerms &terms, Value query,
              Value key, bool masked)
      : builder(builder), terms(terms), query(query), key(key), masked(masked) {
  }

  Value write(Value score, bool base2) {
    if (Value value = written[base2].lookup(score))
      return value;
    Value value = writeNew(score.getDefiningOp(), base2);
    written[base2].insert({score, value});
    return value;
  }

private:
  Value writeNew(Operation *op, bool base2) {
    Location loc = op->getLoc();
    auto change = [&](Value natural) -> Value {
      if (!base2)
        return natural;
      return TileToBase2Op::create(builder, loc, natural);
    };
    return TypeSwitch<Operation *, Value>(op)
        .Case<DotOp>([&](DotOp dot) -> Value {
          // The queries hold the scale.
          if (base2 && terms.naturalDot)
            return change(write(dot, /*base2=*/false));
          return DotOp::create(builder, loc, query, key, APFloat(1.0));
        })
        .Case<BiasOp>([&](BiasOp bias) -> Value {
          auto strip = terms.strips[base2].find(op);
          if (strip != terms.strips[base2].end())
            return TileLoadStripOp::create(builder, loc, strip->second);
          if (base2)
            return change(write(bias, /*base2=*/false));
          return cloneBias(builder, bias, analyzeBias(bias).usedInputs, inputs);
        })
        .Case<AddOp>([&](AddOp add) -> Value {
          Value lhs = write(add.getLhs(), base2);
          Value rhs = write(add.getRhs(), base2);
          return AddOp::create(builder, loc, lhs, rhs);
        })
        .Case<MapOp>([&](MapOp map) -> Value {
          if (base2)
            return change(write(map, /*base2=*/false));
          inputs.map(map.getScores().front(),
                     write(map.getScores().front(), /*base2=*/false));
          for (Value input : map.getInputs())
            cloneTermInput(builder, input, inputs);
          return builder.clone(*map, inputs)->getResult(0);
        })
        .Case<SelectOp>([&](SelectOp select) -> Value {
          Value score = write(select.getScore(), base2);
          if (!masked || !terms.masks.contains(select.getMaskAttr()))
            return score;
          return SelectOp::create(builder, loc, score, select.getMaskAttr());
        });
  }

  OpBuilder &builder;
  const ScoreTerms &terms;
  Value query, key;
  bool masked;
  llvm::DenseMap<Value, Value> written[2];
  IRMapping inputs;
};
} // namespace

Value posenc::writeScores(OpBuilder &builder, const ScoreTerms &terms,
                          Value query, Value key, bool masked) {
  return ScoreWriter(builder, terms, query, key, masked)
      .write(terms.root, /*base2=*/true);
}
