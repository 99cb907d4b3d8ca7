// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between which numbers positions, relations and functions of them lie for some
// queries and some keys.
#include "DriverIntervals.h"
#include "DriverScalar.h"
#include "DriverTables.h"

#include "posenc/IR/ScalarRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace posenc;
using arith::CmpFPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// The bounds of what may be any number, or none: all that reads them is NaN.
static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// Bounds of what a region computes. Functions that are not rounded exactly, or
/// not everywhere in the same way, are taken to give anything. Minima and
/// maxima keep NaN.
class IntervalAlgebra {
public:
  explicit IntervalAlgebra(DriverBuilder &b) : b(b) {}

  Interval constant(double value) { return {f64(value), f64(value)}; }
  Interval truth(bool value) { return {b.bit(value), b.bit(value)}; }
  Interval apply(ScalarFunction function, ArrayRef<Interval> x);
  Interval compare(CmpFPredicate predicate, Interval a, Interval b);
  Interval select(Interval condition, Interval ifTrue, Interval ifFalse) {
    Interval either = unite(ifTrue, ifFalse);
    auto choose = [&](Value whenTrue, Value whenFalse, Value unknown) {
      return b.select(condition.low, whenTrue,
                      b.select(condition.high, unknown, whenFalse));
    };
    return {choose(ifTrue.low, ifFalse.low, either.low),
            choose(ifTrue.high, ifFalse.high, either.high)};
  }

private:
  Value f64(double value) {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  }
  Value test(CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value negate(Value x) { return arith::XOrIOp::create(b, x, b.bit(true)); }
  Value least(Value x, Value y) { return arith::MinimumFOp::create(b, x, y); }
  Value most(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b, x, y);
  }
  template <typename OpT>
  Interval applyRising(Interval x) {
    return {OpT::create(b, x.low), OpT::create(b, x.high)};
  }
  Interval unite(Interval x, Interval y) {
    if (x.low.getType().isF64())
      return {least(x.low, y.low), most(x.high, y.high)};
    return {both(x.low, y.low), either(x.high, y.high)};
  }
  /// The extremes of an operation at the corners.
  template <typename OpT>
  Interval applyCorners(Interval x, Interval y) {
    Value a = make<OpT>(x.low, y.low), c = make<OpT>(x.low, y.high),
          d = make<OpT>(x.high, y.low), e = make<OpT>(x.high, y.high);
    return {least(least(a, c), least(d, e)), most(most(a, c), most(d, e))};
  }
  Interval add(Interval x, Interval y) {
    return {make<arith::AddFOp>(x.low, y.low),
            make<arith::AddFOp>(x.high, y.high)};
  }
  Interval divide(Interval x, Interval y);
  Interval notTruth(Interval x) { return {negate(x.high), negate(x.low)}; }
  Interval less(Interval x, Interval y, bool orEqual);
  Interval equal(Interval x, Interval y);

  DriverBuilder &b;
};
} // namespace

Interval IntervalAlgebra::divide(Interval x, Interval y) {
  Value zero = f64(0.0);
  Value hasSign = either(test(CmpFPredicate::OGT, y.low, zero),
                         test(CmpFPredicate::OLT, y.high, zero));
  Interval quotients = applyCorners<arith::DivFOp>(x, y);
  return {b.select(hasSign, quotients.low, f64(unknown)),
          b.select(hasSign, quotients.high, f64(unknown))};
}

Interval IntervalAlgebra::apply(ScalarFunction function, ArrayRef<Interval> x) {
  auto negative = [&](Interval of) -> Interval {
    return {arith::NegFOp::create(b, of.high),
            arith::NegFOp::create(b, of.low)};
  };
  switch (function) {
  case ScalarFunction::Neg:
    return negative(x[0]);
  case ScalarFunction::Abs: {
    Interval mirrored = negative(x[0]);
    return {most(most(x[0].low, mirrored.low), f64(0.0)),
            most(x[0].high, mirrored.high)};
  }
  case ScalarFunction::Ceil:
    return applyRising<math::CeilOp>(x[0]);
  case ScalarFunction::Floor:
    return applyRising<math::FloorOp>(x[0]);
  case ScalarFunction::Trunc:
    return applyRising<math::TruncOp>(x[0]);
  case ScalarFunction::Add:
    return add(x[0], x[1]);
  case ScalarFunction::Sub:
    return add(x[0], negative(x[1]));
  case ScalarFunction::Mul:
    return applyCorners<arith::MulFOp>(x[0], x[1]);
  case ScalarFunction::Div:
    return divide(x[0], x[1]);
  case ScalarFunction::Maximum:
  case ScalarFunction::Maxnum:
    return {most(x[0].low, x[1].low), most(x[0].high, x[1].high)};
  case ScalarFunction::Minimum:
  case ScalarFunction::Minnum:
    return {least(x[0].low, x[1].low), least(x[0].high, x[1].high)};
  case ScalarFunction::And:
    return {both(x[0].low, x[1].low), both(x[0].high, x[1].high)};
  case ScalarFunction::Or:
    return {either(x[0].low, x[1].low), either(x[0].high, x[1].high)};
  case ScalarFunction::Xor: {
    Interval differs = {both(x[0].low, negate(x[1].high)),
                        both(x[0].high, negate(x[1].low))};
    Interval reversed = {both(x[1].low, negate(x[0].high)),
                         both(x[1].high, negate(x[0].low))};
    return {either(differs.low, reversed.low),
            either(differs.high, reversed.high)};
  }
  default:
    return {f64(unknown), f64(unknown)};
  }
}

/// Comparisons with NaN are false: then nothing is sure.
Interval IntervalAlgebra::less(Interval x, Interval y, bool orEqual) {
  auto sure = orEqual ? CmpFPredicate::OLE : CmpFPredicate::OLT;
  auto never = orEqual ? CmpFPredicate::OGT : CmpFPredicate::OGE;
  return {test(sure, x.high, y.low), negate(test(never, x.low, y.high))};
}

Interval IntervalAlgebra::equal(Interval x, Interval y) {
  Value arePoints = both(test(CmpFPredicate::OEQ, x.low, x.high),
                         test(CmpFPredicate::OEQ, y.low, y.high));
  Value apart = either(test(CmpFPredicate::OLT, x.high, y.low),
                       test(CmpFPredicate::OLT, y.high, x.low));
  return {both(arePoints, test(CmpFPredicate::OEQ, x.low, y.low)),
          negate(apart)};
}

Interval IntervalAlgebra::compare(CmpFPredicate predicate, Interval x,
                                  Interval y) {
  switch (predicate) {
  case CmpFPredicate::AlwaysFalse:
  case CmpFPredicate::UNO:
    return truth(false);
  case CmpFPredicate::AlwaysTrue:
  case CmpFPredicate::ORD:
    return truth(true);
  case CmpFPredicate::OEQ:
  case CmpFPredicate::UEQ:
    return equal(x, y);
  case CmpFPredicate::ONE:
  case CmpFPredicate::UNE:
    return notTruth(equal(x, y));
  case CmpFPredicate::OLT:
  case CmpFPredicate::ULT:
    return less(x, y, /*orEqual=*/false);
  case CmpFPredicate::OLE:
  case CmpFPredicate::ULE:
    return less(x, y, /*orEqual=*/true);
  case CmpFPredicate::OGT:
  case CmpFPredicate::UGT:
    return less(y, x, /*orEqual=*/false);
  case CmpFPredicate::OGE:
  case CmpFPredicate::UGE:
    return less(y, x, /*orEqual=*/true);
  }
  llvm_unreachable("unknown predicate");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value IntervalEmitter::f64(double value) {
  return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
}

Value IntervalEmitter::toF64(Value integer) {
  return arith::SIToFPOp::create(b, b.getF64Type(), integer);
}

Interval IntervalEmitter::anything() { return {f64(unknown), f64(unknown)}; }

Interval IntervalEmitter::emit(Value value) {
  auto entry = known.find(value);
  if (entry != known.end())
    return entry->second;
  Interval result =
      llvm::TypeSwitch<Operation *, Interval>(value.getDefiningOp())
          .Case([&](PositionOp op) { return emitPosition(op); })
          .Case([&](RemapOp op) {
            return emitRegion(op.getBody(), op.getPosition());
          })
          .Case([&](RelationOp op) { return emitRelation(op); })
          .Case([&](RelationMapOp op) { return emitRelationMap(op); })
          .Case([&](TableOp op) { return emitTable(op); })
          .Default([&](Operation *) { return anything(); });
  known[value] = result;
  return result;
}

Interval IntervalEmitter::emitRegion(Region &region, ValueRange inputs) {
  SmallVector<Interval> arguments;
  for (Value input : inputs)
    arguments.push_back(emit(input));
  return evaluateScalarRegion<Interval>(region, arguments, IntervalAlgebra(b));
}

Interval IntervalEmitter::emitExtremes(TokenRange tokens,
                                       function_ref<Value(Value)> number) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, tokens.begin, tokens.end, b.i64(1),
                                 ValueRange{f64(infinity), f64(-infinity)});
  b.setInsertionPointToStart(loop.getBody());
  Value value = number(loop.getInductionVar());
  Value low = arith::MinimumFOp::create(b, loop.getRegionIterArg(0), value);
  Value high = arith::MaximumFOp::create(b, loop.getRegionIterArg(1), value);
  scf::YieldOp::create(b, ValueRange{low, high});
  return {loop.getResult(0), loop.getResult(1)};
}

Interval IntervalEmitter::emitPosition(PositionOp op) {
  TokenRange tokens = op.getSide() == Side::query ? site.queries : site.keys;
  if (auto law = dyn_cast<PositionTensorAttr>(op.getLaw()))
    return emitExtremes(tokens, [&](Value token) {
      return toF64(
          b.load(b.getI32Type(),
                 emitPositionAddress(b, frame, kernel, law, op.getSide(),
                                     site.batch, token)));
    });
  auto law = dyn_cast<IotaAttr>(op.getLaw());
  if (!law)
    return anything();
  Value shift = b.i64(law.getOffset());
  if (op.getSide() == Side::query)
    shift = b.add(shift, emitQueryShift(b, frame, law.getAlign()));
  return {toF64(b.add(tokens.begin, shift)),
          toF64(b.add(b.sub(tokens.end, b.i64(1)), shift))};
}

Interval IntervalEmitter::emitRelation(RelationOp op) {
  IntervalAlgebra algebra(b);
  auto distance = [&](Orientation orientation) {
    Interval query = emit(op.getQuery()), key = emit(op.getKey());
    return orientation == Orientation::query_minus_key
               ? algebra.apply(ScalarFunction::Sub, {query, key})
               : algebra.apply(ScalarFunction::Sub, {key, query});
  };
  if (auto law = dyn_cast<DifferenceAttr>(op.getLaw()))
    return distance(law.getOrientation());
  if (auto law = dyn_cast<ClippedDistanceAttr>(op.getLaw())) {
    auto reach = static_cast<double>(law.getMax());
    Interval least =
        algebra.apply(ScalarFunction::Minimum, {distance(law.getOrientation()),
                                                algebra.constant(reach)});
    Interval clipped = algebra.apply(ScalarFunction::Maximum,
                                     {least, algebra.constant(-reach)});
    return algebra.apply(ScalarFunction::Add,
                         {clipped, algebra.constant(reach)});
  }
  return anything();
}

Interval IntervalEmitter::emitRelationMap(RelationMapOp op) {
  if (llvm::any_of(op.getInputs(), [](Value input) {
        return static_cast<bool>(input.getDefiningOp<SumIndexOp>());
      }))
    return anything();
  Interval number = emitRegion(op.getBody(), op.getInputs());
  std::optional<int64_t> rows = op.getRows();
  if (!rows)
    return number;
  IntervalAlgebra algebra(b);
  Interval low =
      algebra.apply(ScalarFunction::Maximum, {number, algebra.constant(0)});
  return algebra.apply(ScalarFunction::Minimum,
                       {low, algebra.constant(static_cast<double>(*rows - 1))});
}

/// Numbers of a batch entry, a head, and the tokens of one side.
Interval IntervalEmitter::emitTable(TableOp op) {
  bool hasQuery = op.getType().hasAxis(TableAxis::query);
  bool hasKey = op.getType().hasAxis(TableAxis::key);
  if (op.getType().hasAxis(TableAxis::row) ||
      op.getType().hasAxis(TableAxis::channel) || (hasQuery && hasKey))
    return anything();
  auto number = [&](Value query, Value key) {
    ScalarSite at;
    at.batch = site.batch;
    at.head = site.head;
    at.kernelHead = b.add(frame.firstHead(), site.head);
    at.query = query;
    at.key = key;
    return ScalarEmitter(b, frame, kernel, at).emitTable(op, {}, {});
  };
  if (hasQuery)
    return emitExtremes(site.queries,
                        [&](Value token) { return number(token, {}); });
  if (hasKey)
    return emitExtremes(site.keys,
                        [&](Value token) { return number({}, token); });
  Value one = number({}, {});
  return {one, one};
}

void IntervalEmitter::hoist(Value value) {
  if (isa<CoordType>(value.getType())) {
    if (findPosition(value).getSide() == Side::query)
      emit(value);
    return;
  }
  if (auto table = value.getDefiningOp<TableOp>()) {
    if (!table.getType().hasAxis(TableAxis::key))
      emit(value);
    return;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    hoist(operand);
}

void IntervalEmitter::emitQueries(SelectOp select) {
  for (ValueRange inputs : {select.getInputs(), select.getPositions()})
    for (Value input : inputs)
      hoist(input);
}

IntervalEmitter IntervalEmitter::withKeys(TokenRange keys) const {
  IntervalEmitter result(*this);
  result.site.keys = keys;
  return result;
}

Value IntervalEmitter::emitMayAllow(SelectOp select) {
  if (!select.getMaskAttr())
    return emitRegion(select.getBody(), select.getInputs()).high;
  auto mask = cast<MaskClauseAttrInterface>(Attribute(select.getMaskAttr()));
  Region region;
  Block &block = region.emplaceBlock();
  Type f64 = b.getF64Type();
  block.addArguments({f64, f64}, {b.getLoc(), b.getLoc()});
  OpBuilder inner(b.getContext());
  inner.setInsertionPointToEnd(&block);
  YieldOp::create(inner, b.getLoc(),
                  mask.buildPredicate(inner, b.getLoc(), block.getArguments()));
  return emitRegion(region, select.getPositions()).high;
}
