// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where functions of the distance between two tokens are constant, proved by
// evaluating their regions on intervals.
//
// A number is `slope x + c`, where x is the storage index of the query, which
// may be any integer, and c lies in an interval. Numbers with a slope are
// integers, so that what is computed from them is exact and x leaves their
// differences; the others follow the bounds of their intervals, since rounding
// keeps the order of numbers.
#include "posenc/Analysis/RelationBands.h"

#include "posenc/IR/ScalarRegion.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace posenc;
using arith::CmpFPredicate;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// A number, or a truth value: 1 in `low` if it is sure and in `high` if it may
/// be.
struct Bound {
  double slope = 0, low = 0, high = 0;
  bool isKnown = false;

  bool isConstant() const { return isKnown && slope == 0 && low == high; }
};

class BoundAlgebra {
public:
  Bound constant(double value) { return make(0, value, value); }
  Bound truth(bool value) { return truth(value, value); }
  Bound compare(CmpFPredicate predicate, Bound a, Bound b);
  Bound select(Bound condition, Bound ifTrue, Bound ifFalse) {
    if (condition.low == condition.high)
      return condition.low == 1 ? ifTrue : ifFalse;
    return unite(ifTrue, ifFalse);
  }
  Bound apply(ScalarFunction function, ArrayRef<Bound> x);

  /// Unknown unless all is finite, and exact if there is a slope.
  static Bound make(double slope, double low, double high) {
    constexpr double exact = 0x1p52;
    bool isKnown = std::isfinite(low) && std::isfinite(high);
    if (slope != 0)
      for (double number : {slope, low, high})
        isKnown &= std::abs(number) < exact && std::trunc(number) == number;
    return isKnown ? Bound{slope, low, high, true} : Bound();
  }
  static Bound negate(Bound x) { return make(-x.slope, -x.high, -x.low); }
  static Bound add(Bound x, Bound y) {
    return make(x.slope + y.slope, x.low + y.low, x.high + y.high);
  }

private:
  static Bound truth(bool isSure, bool mayBe) {
    return {0, double(isSure), double(mayBe), true};
  }
  static Bound unite(Bound x, Bound y) {
    if (!x.isKnown || !y.isKnown || x.slope != y.slope)
      return {};
    return make(x.slope, std::min(x.low, y.low), std::max(x.high, y.high));
  }
  static Bound negateTruth(Bound x) { return truth(!x.high, !x.low); }
  /// The extremes of an operation at the corners.
  template <typename FunctionT>
  static Bound applyCorners(Bound x, Bound y, FunctionT function) {
    double corners[] = {function(x.low, y.low), function(x.low, y.high),
                        function(x.high, y.low), function(x.high, y.high)};
    if (llvm::any_of(corners, [](double c) { return std::isnan(c); }))
      return {};
    return make(0, *llvm::min_element(corners), *llvm::max_element(corners));
  }
  static Bound multiply(Bound x, Bound y);
  static Bound less(Bound x, Bound y, bool orEqual) {
    return orEqual ? truth(x.high <= y.low, x.low <= y.high)
                   : truth(x.high < y.low, x.low < y.high);
  }
  static Bound equal(Bound x, Bound y) {
    bool arePoints = x.low == x.high && y.low == y.high;
    return truth(arePoints && x.low == y.low,
                 x.low <= y.high && y.low <= x.high);
  }
};
} // namespace

Bound BoundAlgebra::multiply(Bound x, Bound y) {
  if (x.slope == 0 && y.slope == 0)
    return applyCorners(x, y, std::multiplies<double>());
  if (x.slope != 0)
    std::swap(x, y);
  if (x.slope != 0 || !x.isConstant() || std::trunc(x.low) != x.low)
    return {};
  Bound scaled = applyCorners({0, x.low, x.low, true}, {0, y.low, y.high, true},
                              std::multiplies<double>());
  return scaled.isKnown ? make(x.low * y.slope, scaled.low, scaled.high)
                        : Bound();
}

Bound BoundAlgebra::apply(ScalarFunction function, ArrayRef<Bound> x) {
  switch (function) {
  case ScalarFunction::And:
    return truth(x[0].low && x[1].low, x[0].high && x[1].high);
  case ScalarFunction::Or:
    return truth(x[0].low || x[1].low, x[0].high || x[1].high);
  case ScalarFunction::Xor:
    if (x[0].low != x[0].high || x[1].low != x[1].high)
      return truth(false, true);
    return truth(x[0].low != x[1].low);
  default:
    break;
  }
  if (llvm::any_of(x, [](const Bound &bound) { return !bound.isKnown; }))
    return {};
  bool hasSlope =
      llvm::any_of(x, [](const Bound &bound) { return bound.slope != 0; });
  switch (function) {
  case ScalarFunction::Neg:
    return negate(x[0]);
  case ScalarFunction::Add:
    return add(x[0], x[1]);
  case ScalarFunction::Sub:
    return add(x[0], negate(x[1]));
  case ScalarFunction::Mul:
    return multiply(x[0], x[1]);
  case ScalarFunction::Ceil:
  case ScalarFunction::Floor:
  case ScalarFunction::Trunc: {
    auto round = [&](double number) {
      return function == ScalarFunction::Ceil    ? std::ceil(number)
             : function == ScalarFunction::Floor ? std::floor(number)
                                                 : std::trunc(number);
    };
    // Integers stay as they are.
    return make(x[0].slope, round(x[0].low), round(x[0].high));
  }
  default:
    break;
  }
  if (hasSlope)
    return {};
  switch (function) {
  case ScalarFunction::Abs: {
    Bound mirrored = negate(x[0]);
    return make(0, std::max({x[0].low, mirrored.low, 0.0}),
                std::max(x[0].high, mirrored.high));
  }
  case ScalarFunction::Div:
    if (x[1].low <= 0 && x[1].high >= 0)
      return {};
    return applyCorners(x[0], x[1], std::divides<double>());
  case ScalarFunction::Maximum:
  case ScalarFunction::Maxnum:
    return make(0, std::max(x[0].low, x[1].low),
                std::max(x[0].high, x[1].high));
  case ScalarFunction::Minimum:
  case ScalarFunction::Minnum:
    return make(0, std::min(x[0].low, x[1].low),
                std::min(x[0].high, x[1].high));
  default:
    // Not rounded exactly, or not everywhere in the same way.
    return {};
  }
}

Bound BoundAlgebra::compare(CmpFPredicate predicate, Bound a, Bound b) {
  // Known numbers are no NaN.
  if (predicate == CmpFPredicate::AlwaysFalse)
    return truth(false);
  if (predicate == CmpFPredicate::AlwaysTrue)
    return truth(true);
  if (!a.isKnown || !b.isKnown || a.slope != b.slope)
    return truth(false, true);
  switch (predicate) {
  case CmpFPredicate::OEQ:
  case CmpFPredicate::UEQ:
    return equal(a, b);
  case CmpFPredicate::ONE:
  case CmpFPredicate::UNE:
    return negateTruth(equal(a, b));
  case CmpFPredicate::OLT:
  case CmpFPredicate::ULT:
    return less(a, b, /*orEqual=*/false);
  case CmpFPredicate::OLE:
  case CmpFPredicate::ULE:
    return less(a, b, /*orEqual=*/true);
  case CmpFPredicate::OGT:
  case CmpFPredicate::UGT:
    return less(b, a, /*orEqual=*/false);
  case CmpFPredicate::OGE:
  case CmpFPredicate::UGE:
    return less(b, a, /*orEqual=*/true);
  case CmpFPredicate::ORD:
    return truth(true);
  default: // UNO
    return truth(false);
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
class Evaluator {
public:
  Evaluator(Alignment alignment, Distances distances)
      : alignment(alignment), distances(distances) {}

  Bound evaluate(Value value) {
    return llvm::TypeSwitch<Operation *, Bound>(value.getDefiningOp())
        .Case([&](PositionOp op) { return evaluatePosition(op); })
        .Case([&](RemapOp op) {
          return evaluateRegion(op.getBody(), op.getPosition());
        })
        .Case([&](RelationOp op) { return evaluateRelation(op); })
        .Case([&](RelationMapOp op) { return evaluateRelationMap(op); })
        .Default([](Operation *) { return Bound(); });
  }

  Bound evaluateRegion(Region &region, ValueRange inputs) {
    SmallVector<Bound> arguments;
    for (Value input : inputs)
      arguments.push_back(evaluate(input));
    return evaluateScalarRegion<Bound>(region, arguments, BoundAlgebra());
  }

private:
  Bound evaluatePosition(PositionOp op) {
    auto law = dyn_cast<IotaAttr>(op.getLaw());
    if (!law)
      return {};
    auto offset = static_cast<double>(law.getOffset());
    if (op.getSide() == Side::key)
      return BoundAlgebra::make(1, offset - double(distances.high),
                                offset - double(distances.low));
    if (law.getAlign() != alignment)
      return {};
    return BoundAlgebra::make(1, offset, offset);
  }

  Bound evaluateRelation(RelationOp op) {
    Bound query = evaluate(op.getQuery()), key = evaluate(op.getKey());
    if (!query.isKnown || !key.isKnown || query.slope != key.slope)
      return {};
    Bound distance = BoundAlgebra::add(query, BoundAlgebra::negate(key));
    if (auto law = dyn_cast<DifferenceAttr>(op.getLaw()))
      return law.getOrientation() == Orientation::query_minus_key
                 ? distance
                 : BoundAlgebra::negate(distance);
    // Both rise or fall with the distance, buckets on either side of 0.
    bool isMonotone = isa<ClippedDistanceAttr>(op.getLaw());
    if (!isMonotone && !isa<ThresholdBucketAttr>(op.getLaw()))
      return {};
    auto low = static_cast<int64_t>(distance.low),
         high = static_cast<int64_t>(distance.high);
    SmallVector<int64_t> places{low, high};
    if (!isMonotone && low < 0 && high >= 0)
      places.append({-1, 0});
    auto values = llvm::map_to_vector(places, [&](int64_t place) {
      return static_cast<double>(op.getLaw().apply(place));
    });
    return BoundAlgebra::make(0, *llvm::min_element(values),
                              *llvm::max_element(values));
  }

  Bound evaluateRelationMap(RelationMapOp op) {
    if (llvm::any_of(op.getInputs(), [](Value input) {
          return static_cast<bool>(input.getDefiningOp<SumIndexOp>());
        }))
      return {};
    Bound number = evaluateRegion(op.getBody(), op.getInputs());
    std::optional<int64_t> rows = op.getRows();
    if (!rows || !number.isKnown)
      return number;
    BoundAlgebra algebra;
    Bound low =
        algebra.apply(ScalarFunction::Maximum, {number, algebra.constant(0)});
    return algebra.apply(
        ScalarFunction::Minimum,
        {low, algebra.constant(static_cast<double>(*rows - 1))});
  }

  Alignment alignment;
  Distances distances;
};
} // namespace

std::optional<bool> DistanceFacts::decide(SelectOp select) const {
  Evaluator evaluator(alignment, distances);
  Bound allowed;
  if (!select.getMaskAttr()) {
    // A table of pairs may mask a pair in both scores.
    if (llvm::any_of(select.getInputs(), [](Value input) {
          return isa<TableType>(input.getType());
        }))
      return std::nullopt;
    allowed = evaluator.evaluateRegion(select.getBody(), select.getInputs());
  } else {
    auto mask =
        dyn_cast<MaskClauseAttrInterface>(Attribute(select.getMaskAttr()));
    if (!mask || select.getPositions().empty())
      return std::nullopt;
    MLIRContext *context = select.getContext();
    Location loc = select.getLoc();
    Region region;
    Block &block = region.emplaceBlock();
    Type f64 = Float64Type::get(context);
    block.addArguments({f64, f64}, {loc, loc});
    OpBuilder builder(context);
    builder.setInsertionPointToEnd(&block);
    YieldOp::create(builder, loc,
                    mask.buildPredicate(builder, loc, block.getArguments()));
    allowed = evaluator.evaluateRegion(region, select.getPositions());
  }
  if (!allowed.isConstant())
    return std::nullopt;
  return allowed.low == 1;
}

std::optional<int64_t> DistanceFacts::getConstant(Value relation) const {
  Bound value = Evaluator(alignment, distances).evaluate(relation);
  if (!value.isConstant() || std::trunc(value.low) != value.low)
    return std::nullopt;
  return static_cast<int64_t>(value.low);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The longest run that ends at one end of `all`.
static std::optional<DistanceRun> findRun(Distances all, bool fromHigh,
                                          DistanceFunction function) {
  auto take = [&](int64_t size) {
    return fromHigh ? Distances{all.high - size + 1, all.high}
                    : Distances{all.low, all.low + size - 1};
  };
  std::optional<int64_t> value = function(take(1));
  if (!value)
    return std::nullopt;
  // Shorter runs are known if longer ones are.
  int64_t known = 1, unknown = all.size() + 1;
  while (unknown - known > 1) {
    int64_t size = known + (unknown - known) / 2;
    (function(take(size)) ? known : unknown) = size;
  }
  return DistanceRun{take(known), *value};
}

SmallVector<DistanceRun> posenc::findDistanceRuns(Distances all,
                                                  int64_t shortest,
                                                  DistanceFunction function) {
  SmallVector<DistanceRun> runs[2];
  for (bool fromHigh : {true, false})
    while (!all.isEmpty()) {
      std::optional<DistanceRun> run = findRun(all, fromHigh, function);
      if (!run || run->distances.size() < shortest)
        break;
      (fromHigh ? all.high : all.low) =
          fromHigh ? run->distances.low - 1 : run->distances.high + 1;
      runs[fromHigh].push_back(*run);
    }
  SmallVector<DistanceRun> result = std::move(runs[true]);
  llvm::append_range(result, llvm::reverse(runs[false]));
  return result;
}

bool posenc::isSameForAllPairs(Value relation) {
  auto map = relation.getDefiningOp<RelationMapOp>();
  return map && map.getInputs().empty();
}

std::optional<Alignment> posenc::findAlignment(Block &block) {
  for (PositionOp position : block.getOps<PositionOp>())
    if (auto law = dyn_cast<IotaAttr>(position.getLaw());
        law && position.getSide() == Side::query)
      return law.getAlign();
  return std::nullopt;
}
