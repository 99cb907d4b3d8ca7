// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the scores of a kernel.
//
// A score that ends in base 2 is written from its root to its leaves: a sum or
// a mask in base 2 takes its operands in base 2, a map takes a natural score
// and its result is changed. So leaves are changed where no map follows.
#include "PlanScores.h"
#include "PlanRemarks.h"
#include "PlanVectors.h"

#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

static double getProductScale(Operation *product) {
  if (auto dot = dyn_cast<DotOp>(product))
    return dot.getScale().convertToDouble();
  return cast<TableDotOp>(product).getScale().convertToDouble();
}

std::optional<double> VectorUse::getScale() const {
  if (products.empty())
    return std::nullopt;
  double scale = getProductScale(products.front());
  for (Operation *product : products)
    if (getProductScale(product) != scale)
      return std::nullopt;
  return scale;
}

bool ScoreTerms::holdsScale(Value query) const {
  auto use = queries.find(query);
  return use != queries.end() && use->second.getScale();
}

bool ScoreTerms::holdsBase2(Value query) const {
  return holdsScale(query) && !queries.find(query)->second.natural;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static AffineMap getAllKeys(MLIRContext *context) {
  return AffineMap::get(4, 0, getAffineDimExpr(3, context));
}

static bool hidesNothing(MaskAttrInterface mask) {
  return isa<FullMaskAttr>(mask);
}

/// The minimum or maximum of one map of every mask: their results together.
static AffineMap combine(const ScoreTerms &terms,
                         function_ref<AffineMap(MaskAttrInterface)> getMap) {
  llvm::SetVector<AffineExpr> results;
  for (MaskAttrInterface mask : terms.masks)
    results.insert_range(getMap(mask).getResults());
  return AffineMap::get(4, 0, results.getArrayRef(),
                        terms.roots.front().getContext());
}

static AffineMap orAllKeys(AffineMap ends) {
  return ends.getNumResults() ? ends : getAllKeys(ends.getContext());
}

AffineMap ScoreTerms::getKeysBegin() const {
  return combine(*this, [](auto mask) { return mask.getKeysBegin(); });
}
AffineMap ScoreTerms::getInteriorBegin() const {
  return combine(*this, [](auto mask) { return mask.getInteriorBegin(); });
}
AffineMap ScoreTerms::getInteriorEnd() const {
  return orAllKeys(
      combine(*this, [](auto mask) { return mask.getInteriorEnd(); }));
}
AffineMap ScoreTerms::getKeysEnd() const {
  return orAllKeys(combine(*this, [](auto mask) { return mask.getKeysEnd(); }));
}

bool ScoreTerms::hasInterior() const {
  return !scan && !network &&
         llvm::none_of(getInteriorEnd().getResults(), [](AffineExpr end) {
           auto constant = dyn_cast<AffineConstantExpr>(end);
           return constant && constant.getValue() <= 0;
         });
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
    auto type = dyn_cast<TableType>(input.getType());
    if (type &&
        (type.hasAxis(TableAxis::query) || type.hasAxis(TableAxis::key)))
      return "it reads a table with a query or key axis";
    if (type && type.hasAxis(TableAxis::batch))
      return "it reads a table with a batch axis";
    if (input.getDefiningOp<ProjectOp>())
      return "it reads a projected table";
  }
  if (!traits.positions)
    return "its positions follow different laws";
  return "its positions are not those of storage";
}

/// The tables of a network.
static std::array<Value, 4> getWeights(HeadMlpOp mlp) {
  return {mlp.getWeightsIn(), mlp.getBiasIn(), mlp.getWeightsOut(),
          mlp.getBiasOut()};
}

namespace {
class ScorePlacement {
public:
  ScorePlacement(NormalizeOp normalize, PlanTables &tables) : tables(tables) {
    terms.roots.push_back(normalize.getScore());
    if (normalize.getDenominator())
      terms.roots.push_back(normalize.getDenominator());
    terms.exponentiates = exponentiates(normalize.getKind());
  }

  FailureOr<ScoreTerms> run() {
    for (MaskAttrInterface mask : findCommonMasks(terms.roots))
      if (!hidesNothing(mask))
        terms.masks.insert(mask);
    for (Value root : terms.roots)
      if (failed(visit(root, terms.exponentiates)))
        return failure();
    if (failed(checkMemory()))
      return failure();
    for (auto *vectors : {&terms.queries, &terms.keys})
      for (auto &[vector, use] : *vectors)
        if (failed(checkVector(vector)))
          return failure();
    for (auto &[query, use] : terms.queries)
      reportScale(query, use);
    return std::move(terms);
  }

private:
  LogicalResult visit(Value score, bool base2) {
    if (!visited[base2].insert(score).second)
      return success();
    Operation *op = score.getDefiningOp();
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<DotOp>([&](DotOp dot) {
          addUse(terms.queries, dot.getQuery(), dot, base2);
          addUse(terms.keys, dot.getKey(), dot, base2);
          return success();
        })
        .Case<TableDotOp>(
            [&](TableDotOp dot) { return visitTableDot(dot, base2); })
        .Case<BiasOp>([&](BiasOp bias) { return visitBias(bias, base2); })
        .Case<AddOp>([&](AddOp add) {
          return success(succeeded(visit(add.getLhs(), base2)) &&
                         succeeded(visit(add.getRhs(), base2)));
        })
        .Case<MapOp>([&](MapOp map) { return visitMap(map, base2); })
        .Case<SelectOp>(
            [&](SelectOp select) { return visitSelect(select, base2); })
        .Case<RowscanOp>([&](RowscanOp scan) {
          terms.scan = scan;
          missed(scan, "Rowscan",
                 "all scores of a row are summed before they are used: the "
                 "tile walks its keys twice");
          return visit(scan.getScore(), /*base2=*/false);
        })
        .Case<HeadMlpOp>([&](HeadMlpOp mlp) { return visitHeadMlp(mlp); })
        .Default([](Operation *other) {
          return other->emitOpError("cannot be placed in a plan; expected an "
                                    "operation on scores");
        });
  }

  void addUse(llvm::MapVector<Value, VectorUse> &vectors, Value vector,
              Operation *product, bool base2) {
    VectorUse &use = vectors[vector];
    use.products.insert(product);
    (base2 ? use.base2 : use.natural) = true;
  }

  LogicalResult visitTableDot(TableDotOp dot, bool base2) {
    addUse(isa<QueryType>(dot.getVector().getType()) ? terms.queries
                                                     : terms.keys,
           dot.getVector(), dot, base2);
    missed(dot, "TableDot",
           isProjectedPerScore(dot.getTable(), dot.getIndex())
               ? "a row of the table is computed for every score, and its "
                 "product with the projected vector"
               : "a row of the table is read for every score");
    if (isa<ScoreType>(dot.getIndex().getType()))
      return visit(dot.getIndex(), /*base2=*/false);
    if (auto map = dot.getIndex().getDefiningOp<RelationMapOp>())
      return checkLookups(map, map.getInputs());
    return success();
  }

  LogicalResult visitBias(BiasOp bias, bool base2) {
    if (failed(checkLookups(bias, bias.getInputs())))
      return failure();
    if (auto *known = terms.factored.find(bias);
        known != terms.factored.end()) {
      known->second.natural |= !base2;
      return success();
    }
    BiasTraits traits = analyzeBias(bias);
    // Of a number for each head a strip is worth while if it is a sum.
    if (traits.fitsStrip() && (traits.dependsOnKey || sumsProducts(bias))) {
      StringRef strip = tables.getStrip(bias, traits, base2);
      terms.strips[base2].insert({bias, strip});
      planned(bias, "Bias",
              "bias is evaluated once per head and distance and read from the "
              "prepared table @" +
                  strip);
      return success();
    }
    std::string unfactored;
    if (sumsProducts(bias)) {
      FailureOr<FactoredBias> factored = placeFactors(bias, tables, unfactored);
      if (succeeded(factored)) {
        factored->natural = !base2;
        planned(bias, "Bias", "bias is " + describeFactors(*factored));
        terms.factored.insert({bias, std::move(*factored)});
        return success();
      }
      unfactored = ", and it is no product of vectors: " + unfactored;
    }
    missed(bias, "Bias",
           "bias is evaluated for every score: " +
               explainNoStrip(bias, traits) + unfactored);
    return success();
  }

  /// Whether a bias costs more for every score than a product of vectors may.
  static bool sumsProducts(BiasOp bias) {
    return llvm::any_of(bias.getInputs(), [](Value input) {
      return static_cast<bool>(input.getDefiningOp<SumIndexOp>());
    });
  }

  LogicalResult visitMap(MapOp map, bool base2) {
    if (failed(checkLookups(map, map.getInputs())))
      return failure();
    if (base2)
      missed(map, "Map",
             "map is applied to every score, and the change to base 2 to "
             "every result of it");
    for (Value score : map.getScores())
      if (failed(visit(score, /*base2=*/false)))
        return failure();
    return success();
  }

  LogicalResult visitHeadMlp(HeadMlpOp mlp) {
    terms.network = mlp;
    missed(mlp, "HeadMlp",
           "a network mixes the scores of all heads, which are kept for a "
           "block of keys: one worker computes the tiles of all heads");
    for (Value table : getWeights(mlp))
      if (failed(checkTable(mlp, table, Value())))
        return failure();
    for (Value score : mlp.getScores())
      if (failed(visit(score, /*base2=*/false)))
        return failure();
    return success();
  }

  LogicalResult visitSelect(SelectOp select, bool base2) {
    MaskAttrInterface mask = select.getMaskAttr();
    if (mask && hidesNothing(mask)) {
      planned(select, "Mask", "mask hides nothing and is dropped");
      return visit(select.getScore(), base2);
    }
    if (failed(checkLookups(select, select.getInputs())))
      return failure();
    if (isIndexMask(select) && terms.masks.contains(mask) &&
        terms.hasInterior())
      planned(select, "Mask",
              "mask is applied in @edge alone: the steps before it end where "
              "the mask hides keys");
    // Where the scores of two are taken depends on the steps.
    else if (!select.getOther())
      missed(select, "Mask",
             "the predicate is evaluated for every score: it is no mask over "
             "storage indices that leaves whole blocks of keys to all rows");
    if (select.getOther() && failed(visit(select.getOther(), base2)))
      return failure();
    return visit(select.getScore(), base2);
  }

  void reportScale(Value query, const VectorUse &use) {
    Operation *first = use.products.front();
    std::optional<double> scale = use.getScale();
    if (!scale)
      missed(first, "Scale",
             "scales are applied to every score: products with these queries "
             "have different ones");
    else if (!use.natural)
      planned(first, "Scale",
              "scale and the change to base 2 are applied to the queries, once "
              "per tile");
    else if (terms.exponentiates)
      planned(first, "Scale",
              "scale is applied to the queries, once per tile; the change to "
              "base 2 is not: a posenc.map needs natural scores");
    else
      planned(first, "Scale", "scale is applied to the queries, once per tile");
  }

  /// A scan keeps all keys of a row at hand, a network those of all heads.
  LogicalResult checkMemory() {
    if (!terms.network || !terms.scan)
      return success();
    InFlightDiagnostic diag = terms.network.emitOpError(
        "cannot be placed in a plan; expected no posenc.rowscan in the same "
        "kernel: the scores of all heads would be kept for all keys of a row");
    diag.attachNote(terms.scan.getLoc()) << "the scan is here";
    return diag;
  }

  ScoreTerms terms;
  PlanTables &tables;
  llvm::DenseSet<Value> visited[2];
};
} // namespace

FailureOr<ScoreTerms> posenc::placeScores(NormalizeOp normalize,
                                          PlanTables &tables) {
  return ScorePlacement(normalize, tables).run();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
class ScoreWriter {
public:
  ScoreWriter(const ScoreTerms &terms, const VectorArguments &vectors,
              TermCloner &cloner, OpBuilder &builder, bool masked)
      : terms(terms), vectors(vectors), cloner(cloner), builder(builder),
        masked(masked) {}

  Value write(Value score, bool base2) {
    if (Value value = written[base2].lookup(score))
      return value;
    Value value = writeNew(score.getDefiningOp(), base2);
    written[base2].insert({score, value});
    return value;
  }

private:
  Value writeNew(Operation *op, bool base2) {
    // What is natural from the start; the rest takes its operands in either.
    bool isNatural = isa<MapOp, RowscanOp, HeadMlpOp>(op);
    if (auto dot = dyn_cast<DotOp>(op))
      isNatural = !terms.holdsBase2(dot.getQuery());
    else if (auto dot = dyn_cast<TableDotOp>(op))
      isNatural = !terms.holdsBase2(dot.getVector());
    else if (auto *factored = terms.factored.find(op);
             factored != terms.factored.end())
      isNatural = factored->second.natural;
    else if (isa<BiasOp>(op))
      isNatural = !terms.strips[base2].contains(op);
    if (base2 && isNatural)
      return TileToBase2Op::create(builder, op->getLoc(),
                                   write(op->getResult(0), /*base2=*/false));
    return TypeSwitch<Operation *, Value>(op)
        .Case<DotOp>([&](DotOp dot) -> Value {
          return DotOp::create(
              builder, dot.getLoc(), vectors.ofKernel.lookup(dot.getQuery()),
              vectors.ofKernel.lookup(dot.getKey()),
              getScale(dot, dot.getQuery()), dot.getChannelsAttr());
        })
        .Case<TableDotOp>([&](TableDotOp dot) { return writeTableDot(dot); })
        .Case<BiasOp>([&](BiasOp bias) -> Value {
          auto strip = terms.strips[base2].find(op);
          if (strip != terms.strips[base2].end())
            return TileLoadStripOp::create(builder, op->getLoc(),
                                           strip->second);
          if (auto *factored = terms.factored.find(op);
              factored != terms.factored.end()) {
            const VectorArguments::Pair &pair = vectors.ofBiases.at(op);
            return writeFactorProducts(
                builder, op->getLoc(), factored->second, pair.queries,
                pair.keys, op->getParentOfType<KernelOp>().getHeadDim());
          }
          return cloner.cloneBias(bias, analyzeBias(bias).usedInputs);
        })
        .Case<AddOp>([&](AddOp add) -> Value {
          Value lhs = write(add.getLhs(), base2);
          Value rhs = write(add.getRhs(), base2);
          return AddOp::create(builder, op->getLoc(), lhs, rhs);
        })
        .Case<MapOp>([&](MapOp map) -> Value {
          for (Value score : map.getScores())
            mapNatural(score);
          return cloner.cloneWithInputs(map, map.getInputs())->getResult(0);
        })
        .Case<RowscanOp>([&](RowscanOp scan) -> Value {
          mapNatural(scan.getScore());
          return builder.clone(*scan, cloner.getMapping())->getResult(0);
        })
        .Case<HeadMlpOp>([&](HeadMlpOp mlp) { return writeHeadMlp(mlp); })
        .Case<SelectOp>(
            [&](SelectOp select) { return writeSelect(select, base2); });
  }

  void mapNatural(Value score) {
    cloner.getMapping().map(score, write(score, /*base2=*/false));
  }

  /// The queries may hold it.
  APFloat getScale(Operation *product, Value vector) {
    return APFloat(terms.holdsScale(vector) ? 1.0 : getProductScale(product));
  }

  Value writeTableDot(TableDotOp dot) {
    Value index = dot.getIndex();
    Value place = isa<ScoreType>(index.getType())
                      ? write(index, /*base2=*/false)
                      : cloner.clone(index);
    Value table = cloner.cloneTable(dot.getTable(), index, /*inlined=*/false);
    return TableDotOp::create(builder, dot.getLoc(),
                              vectors.ofKernel.lookup(dot.getVector()), table,
                              place, getScale(dot, dot.getVector()));
  }

  Value writeHeadMlp(HeadMlpOp mlp) {
    SmallVector<Value> tables, scores;
    for (Value table : getWeights(mlp))
      tables.push_back(cloner.cloneTable(table, Value(), /*inlined=*/false));
    for (Value score : mlp.getScores())
      scores.push_back(write(score, /*base2=*/false));
    auto copy = HeadMlpOp::create(builder, mlp.getLoc(), tables[0], tables[1],
                                  tables[2], tables[3], scores, mlp.getTaps());
    IRMapping mapping;
    mlp.getBody().cloneInto(&copy.getBody(), mapping);
    return copy;
  }

  Value writeSelect(SelectOp select, bool base2) {
    MaskAttrInterface mask = select.getMaskAttr();
    bool isSeen = mask && (hidesNothing(mask) ||
                           (!masked && select.getPositions().empty() &&
                            terms.masks.contains(mask)));
    Value score = write(select.getScore(), base2);
    if (isSeen)
      return score;
    Value other;
    if (select.getOther())
      other = write(select.getOther(), base2);
    SmallVector<Value> positions;
    for (Value position : select.getPositions())
      positions.push_back(cloner.clone(position));
    auto copy = SelectOp::create(
        builder, select.getLoc(), ScoreType::get(select.getContext()), score,
        other, positions, cloner.cloneInputs(select.getInputs()), mask);
    IRMapping mapping;
    select.getBody().cloneInto(&copy.getBody(), mapping);
    return copy;
  }

  const ScoreTerms &terms;
  const VectorArguments &vectors;
  TermCloner &cloner;
  OpBuilder &builder;
  bool masked;
  llvm::DenseMap<Value, Value> written[2];
};
} // namespace

SmallVector<Value> posenc::writeScores(const ScoreTerms &terms,
                                       const VectorArguments &vectors,
                                       TermCloner &cloner, OpBuilder &builder,
                                       bool masked) {
  ScoreWriter writer(terms, vectors, cloner, builder, masked);
  SmallVector<Value> results;
  for (Value root : terms.roots)
    results.push_back(writer.write(root, terms.exponentiates));
  return results;
}
