// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 2: attention that is a sum which each token updates.
#include "IdentityRemarks.h"
#include "posenc/Analysis/MapFactors.h"
#include "posenc/Analysis/ScoreMasks.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace posenc {
#define GEN_PASS_DEF_POSENCFORMRECURRENCES
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What a kernel is made of
//===----------------------------------------------------------------------===//

namespace {
/// A product of queries and keys, and the maps that its scores pass through,
/// from the last to the first.
struct Product {
  DotOp dot;
  SmallVector<MapOp, 2> maps;
};

/// A sum of products behind a causal mask.
struct ScoreSum {
  SmallVector<Product> products;
  double epsilon = 0;
  bool isCausal = false;
};

struct Form {
  NormalizeOp normalize;
  WeightedSumOp sum;
  ScoreSum weights, by;
  llvm::MapVector<Operation *, MapFactors> maps;
};

/// Finds the form of a kernel, or what is in its way.
class FormSearch {
public:
  explicit FormSearch(KernelOp kernel) : kernel(kernel) {}

  std::optional<Form> run() {
    if (failed(findOutput()) ||
        failed(findProducts(form.normalize.getScore(), form.weights)))
      return std::nullopt;
    bool divides = form.normalize.getKind() == NormalizeKind::linear;
    if (divides &&
        failed(findProducts(form.normalize.getDenominator(), form.by)))
      return std::nullopt;
    if (failed(checkMask(form.normalize.getScore(), form.weights)) ||
        failed(checkDecays(form.weights)))
      return std::nullopt;
    if (divides &&
        (failed(checkMask(form.normalize.getDenominator(), form.by)) ||
         failed(checkDecays(form.by))))
      return std::nullopt;
    return std::move(form);
  }

  const Obstacle &getObstacle() const { return obstacle; }

private:
  LogicalResult refuse(Operation *op, const Twine &reason) {
    obstacle = {op, reason.str()};
    return failure();
  }

  LogicalResult findOutput();
  LogicalResult findProducts(Value score, ScoreSum &sum) {
    SmallVector<MapOp, 2> maps;
    return visit(score, maps, sum);
  }
  LogicalResult visit(Value score, SmallVectorImpl<MapOp> &maps, ScoreSum &sum);
  LogicalResult visitMap(MapOp map, SmallVectorImpl<MapOp> &maps,
                         ScoreSum &sum);
  LogicalResult visitDot(DotOp dot, ArrayRef<MapOp> maps, ScoreSum &sum);
  LogicalResult visitBias(BiasOp bias, ArrayRef<MapOp> maps, ScoreSum &sum);
  LogicalResult checkTokens(Value value);
  LogicalResult checkMask(Value score, const ScoreSum &sum);
  LogicalResult checkDecays(const ScoreSum &sum);

  KernelOp kernel;
  Form form;
  Obstacle obstacle;
};
} // namespace

LogicalResult FormSearch::findOutput() {
  Operation *yield = kernel.getBody().front().getTerminator();
  Operation *output = yield->getOperand(0).getDefiningOp();
  form.sum = dyn_cast_or_null<WeightedSumOp>(output);
  if (!form.sum)
    return refuse(output ? output : yield,
                  "the output is more than one weighted sum of the values");
  Operation *weights = form.sum.getWeights().getDefiningOp();
  form.normalize = dyn_cast<NormalizeOp>(weights);
  if (!form.normalize)
    return refuse(weights, "weights are dropped one by one, so that they are "
                           "no products of queries and keys");
  NormalizeKind kind = form.normalize.getKind();
  if (kind != NormalizeKind::identity && kind != NormalizeKind::linear)
    return refuse(form.normalize,
                  "weights of kind " + stringifyNormalizeKind(kind) +
                      " need the scores of all keys at once; expected "
                      "identity or linear");
  return success();
}

LogicalResult FormSearch::visit(Value score, SmallVectorImpl<MapOp> &maps,
                                ScoreSum &sum) {
  Operation *op = score.getDefiningOp();
  if (auto dot = dyn_cast<DotOp>(op))
    return visitDot(dot, maps, sum);
  if (auto map = dyn_cast<MapOp>(op))
    return visitMap(map, maps, sum);
  if (auto bias = dyn_cast<BiasOp>(op))
    return visitBias(bias, maps, sum);
  if (auto add = dyn_cast<AddOp>(op))
    return success(succeeded(visit(add.getLhs(), maps, sum)) &&
                   succeeded(visit(add.getRhs(), maps, sum)));
  if (auto select = dyn_cast<SelectOp>(op)) {
    if (isIndexMask(select) &&
        isa<FullMaskAttr>(Attribute(select.getMaskAttr())))
      return visit(select.getScore(), maps, sum);
    auto causal =
        dyn_cast_or_null<CausalMaskAttr>(Attribute(select.getMaskAttr()));
    if (!isIndexMask(select) || !causal ||
        causal.getAlignment() != Alignment::bottom_right)
      return refuse(select, "a query sees other keys than those up to its own "
                            "place; expected no mask but #posenc.causal");
    sum.isCausal = true;
    return visit(select.getScore(), maps, sum);
  }
  return refuse(op, "its scores are no products of queries and keys");
}

LogicalResult FormSearch::visitMap(MapOp map, SmallVectorImpl<MapOp> &maps,
                                   ScoreSum &sum) {
  if (!form.maps.contains(map)) {
    std::optional<MapFactors> factors = factorMap(map, obstacle);
    if (!factors)
      return failure();
    if (!std::isfinite(factors->constant))
      return refuse(map, "it multiplies scores by a constant that is not "
                         "finite");
    for (Value input : map.getInputs())
      if (failed(checkTokens(input)))
        return failure();
    form.maps[map] = std::move(*factors);
  }
  maps.push_back(map);
  LogicalResult result = visit(map.getScores().front(), maps, sum);
  maps.pop_back();
  return result;
}

LogicalResult FormSearch::visitDot(DotOp dot, ArrayRef<MapOp> maps,
                                   ScoreSum &sum) {
  if (!dot.isWhole())
    return refuse(dot, "a product over a part of the channels has a state of "
                       "another shape; expected products over all of them");
  double scale = dot.getScale().convertToDouble();
  for (MapOp map : maps)
    scale *= form.maps.find(map)->second.constant;
  if (!std::isfinite(scale))
    return refuse(dot, "its scale, times the constants that maps multiply its "
                       "scores by, is not finite");
  sum.products.push_back({dot, llvm::to_vector<2>(maps)});
  return success(succeeded(checkTokens(dot.getQuery())) &&
                 succeeded(checkTokens(dot.getKey())));
}

/// What a term adds to each row if it is the same number at the first key and 0
/// at all others: `select(j == 0, number, 0)`.
static std::optional<double> matchOnce(BiasOp bias) {
  if (bias.getInputs().size() != 1)
    return std::nullopt;
  auto position = bias.getInputs().front().getDefiningOp<PositionOp>();
  auto law = position ? dyn_cast<IotaAttr>(position.getLaw()) : IotaAttr();
  if (!law || position.getSide() != Side::key || law.getOffset() != 0)
    return std::nullopt;
  Block &body = bias.getBody().front();
  auto select =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ)
    return std::nullopt;
  FloatAttr number;
  if (!matchPattern(select.getTrueValue(), m_Constant(&number)) ||
      !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return std::nullopt;
  Value argument = body.getArgument(0);
  bool isAtFirst = (compare.getLhs() == argument &&
                    matchPattern(compare.getRhs(), m_AnyZeroFloat())) ||
                   (compare.getRhs() == argument &&
                    matchPattern(compare.getLhs(), m_AnyZeroFloat()));
  return isAtFirst ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

LogicalResult FormSearch::visitBias(BiasOp bias, ArrayRef<MapOp> maps,
                                    ScoreSum &sum) {
  std::optional<double> once = matchOnce(bias);
  if (&sum != &form.by || !maps.empty() || !once || !(*once >= 0) ||
      !std::isfinite(*once))
    return refuse(bias, "a term that is no product of a query and a key; "
                        "expected at most a number that each row adds once to "
                        "what divides it, at the first key");
  sum.epsilon += *once;
  if (!std::isfinite(sum.epsilon))
    return refuse(bias, "with others before it, it adds a number that is not "
                        "finite to what divides a row");
  return success();
}

/// Why what `op` computes is not known of a token alone, or nothing.
static std::string getDependence(Operation *op) {
  if (auto freqs = dyn_cast<FreqsMapOp>(op))
    if (!freqs.getBody().getArgument(1).use_empty())
      return "its frequencies depend on the length of the call";
  if (auto position = dyn_cast<PositionOp>(op);
      position && position.getSide() == Side::query &&
      position.getLaw().getAlignment() == Alignment::top_left)
    return "its positions count from the first query";
  if (isa<PrefixSumOp>(op))
    return "it depends on a sum over the keys before the token";
  if (auto atQuery = dyn_cast<AtQueryOp>(op);
      atQuery && atQuery.getAlignment() == Alignment::top_left)
    return "it reads another key than the query's own";
  return "";
}

/// Whether vectors, or what multiplies them, are known of each token alone.
LogicalResult FormSearch::checkTokens(Value value) {
  llvm::SetVector<Operation *> ops;
  if (Operation *op = value.getDefiningOp())
    ops.insert(op);
  for (size_t i = 0; i < ops.size(); ++i) {
    std::string reason = getDependence(ops[i]);
    if (!reason.empty())
      return refuse(ops[i], "its scores are not products of what each token "
                            "has alone: " +
                                reason);
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        ops.insert(op);
  }
  return success();
}

LogicalResult FormSearch::checkMask(Value score, const ScoreSum &sum) {
  if (sum.products.empty())
    return refuse(score.getDefiningOp(),
                  "its scores are no products of queries and keys");
  if (sum.isCausal)
    return success();
  return refuse(score.getDefiningOp(),
                "a query sees keys behind its own place; expected "
                "mask(#posenc.causal)");
}

/// The maps that make products decay.
static SmallVector<MapOp> getDecays(const Form &form, const Product &product) {
  return llvm::filter_to_vector(product.maps, [&](MapOp map) {
    return !form.maps.find(map)->second.decay.empty();
  });
}

LogicalResult FormSearch::checkDecays(const ScoreSum &sum) {
  for (const Product &product : sum.products)
    if (getDecays(form, product) != getDecays(form, sum.products.front()))
      return refuse(product.dot, "products of one sum decay differently");
  return success();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// A region over tables.
struct Decay {
  SmallVector<Value> tables;
  Region region;

  bool isEmpty() { return region.empty(); }
};

/// The products of a sum, with what multiplies them in their vectors.
struct Vectors {
  SmallVector<Value> queries, keys;
  SmallVector<double> scales;
};

class Rewriter {
public:
  Rewriter(KernelOp kernel, const Form &form)
      : kernel(kernel), form(form), builder(kernel.getContext()) {
    builder.setInsertionPoint(kernel.getBody().front().getTerminator());
  }

  /// Null, with an obstacle, if sums of `by` decay otherwise than weights.
  RecurrenceOp run(Obstacle &obstacle);

private:
  Value multiply(Value vector, MapOp map, ArrayRef<RegionFactor> factors);
  Vectors makeVectors(const ScoreSum &sum, bool keepsScales);
  void makeDecay(const Product &product, Decay &decay);

  KernelOp kernel;
  const Form &form;
  OpBuilder builder;
};
} // namespace

Value Rewriter::multiply(Value vector, MapOp map,
                         ArrayRef<RegionFactor> factors) {
  if (factors.empty())
    return vector;
  Region region;
  SmallVector<Value> inputs = buildFactors(builder, region, map, factors);
  auto scale = RowScaleOp::create(builder, map.getLoc(), vector.getType(),
                                  vector, inputs);
  scale.getBody().takeBody(region);
  return scale;
}

/// Queries times the constants unless scales are kept apart.
Vectors Rewriter::makeVectors(const ScoreSum &sum, bool keepsScales) {
  Vectors vectors;
  for (const Product &product : sum.products) {
    DotOp dot = product.dot;
    Value query = dot.getQuery(), key = dot.getKey();
    double scale = dot.getScale().convertToDouble();
    for (MapOp map : product.maps) {
      const MapFactors &factors = form.maps.find(map)->second;
      scale *= factors.constant;
      query = multiply(query, map, factors.ofQuery);
      key = multiply(key, map, factors.ofKey);
    }
    if (!keepsScales && scale != 1) {
      auto scaled = RowScaleOp::create(builder, dot.getLoc(), query.getType(),
                                       query, ValueRange());
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&scaled.getBody());
      Value number = arith::ConstantOp::create(builder, dot.getLoc(),
                                               builder.getF64FloatAttr(scale));
      YieldOp::create(builder, dot.getLoc(), number);
      query = scaled;
    }
    vectors.queries.push_back(query);
    vectors.keys.push_back(key);
    vectors.scales.push_back(scale);
  }
  return vectors;
}

void Rewriter::makeDecay(const Product &product, Decay &decay) {
  for (MapOp map : getDecays(form, product)) {
    Region region;
    SmallVector<Value> inputs =
        buildFactors(builder, region, map, form.maps.find(map)->second.decay);
    if (decay.isEmpty())
      decay.region.takeBody(region);
    else
      multiplyRegions(builder, decay.region, region);
    llvm::append_range(decay.tables, inputs);
  }
}

static bool areSameTables(Value a, Value b) {
  auto first = a.getDefiningOp<TableOp>(), second = b.getDefiningOp<TableOp>();
  return a == b || (first && second && first.getLaw() == second.getLaw() &&
                    first.getType() == second.getType());
}

static bool areSame(Decay &a, Decay &b) {
  return a.tables.size() == b.tables.size() &&
         std::equal(a.tables.begin(), a.tables.end(), b.tables.begin(),
                    areSameTables) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.region, &b.region, OperationEquivalence::IgnoreLocations);
}

RecurrenceOp Rewriter::run(Obstacle &obstacle) {
  Decay decay, ofBy;
  makeDecay(form.weights.products.front(), decay);
  if (!form.by.products.empty())
    makeDecay(form.by.products.front(), ofBy);
  if (!ofBy.isEmpty() && !areSame(decay, ofBy)) {
    obstacle = {form.by.products.front().dot,
                "what divides the output decays otherwise than the output"};
    return RecurrenceOp();
  }
  Vectors weights = makeVectors(form.weights, /*keepsScales=*/true);
  Vectors by = makeVectors(form.by, /*keepsScales=*/false);
  WeightedSumOp sum = form.sum;
  auto recurrence = RecurrenceOp::create(
      builder, sum.getLoc(), sum.getType(), weights.queries, weights.keys,
      sum.getValue(), by.queries, by.keys, decay.tables,
      builder.getDenseF64ArrayAttr(weights.scales),
      form.by.epsilon != 0 ? builder.getF64FloatAttr(form.by.epsilon)
                           : FloatAttr(),
      !ofBy.isEmpty());
  recurrence.getDecay().takeBody(decay.region);
  sum.replaceAllUsesWith(recurrence.getResult());
  eraseDead(kernel.getBody().front());
  return recurrence;
}

/// Keys of a call with a state are new tokens, and so are its queries.
static void countFromStart(Block &body) {
  for (PositionOp position : body.getOps<PositionOp>())
    if (auto iota = dyn_cast<IotaAttr>(position.getLaw()))
      position.setLawAttr(
          AppendedAttr::get(iota.getContext(), iota.getOffset()));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult formState(KernelOp kernel) {
  eraseDead(kernel.getBody().front());
  FormSearch search(kernel);
  Obstacle obstacle;
  std::optional<Form> form = search.run();
  if (!form)
    obstacle = search.getObstacle();
  else if (Rewriter(kernel, *form).run(obstacle)) {
    countFromStart(kernel.getBody().front());
    return success();
  }
  InFlightDiagnostic diag = kernel.emitOpError(
      "cannot have keys(state): no state stands for its earlier keys");
  diag.attachNote(obstacle.op->getLoc()) << obstacle.reason;
  return diag;
}

namespace {
struct FormRecurrences
    : posenc::impl::PosencFormRecurrencesBase<FormRecurrences> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel.isExpanded() && kernel.hasState() && !kernel.getRecurrence() &&
          failed(formState(kernel)))
        signalPassFailure();
  }
};
} // namespace
