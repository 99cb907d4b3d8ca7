// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps of scores that are products, proved from their regions.
#include "posenc/Analysis/MapFactors.h"

#include "posenc/Analysis/BiasTraits.h"
#include "posenc/IR/ScalarRegion.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What numbers depend on
//===----------------------------------------------------------------------===//

namespace {
/// Nothing of these: the head alone.
enum Dependence : unsigned {
  OnScore = 1,
  OnQuery = 2,
  OnKey = 4,
  OnDistance = 8,
  OnBatch = 16,
  OnPosition = 32, // of the query or key
  OnPair = 64      // in a way that is not known
};
} // namespace

/// Whether a position counts storage indices from 0 on, queries from their
/// place among the keys.
static std::optional<int64_t> getPlaceOffset(Value position) {
  auto op = position.getDefiningOp<PositionOp>();
  auto law = op ? dyn_cast<IotaAttr>(op.getLaw()) : IotaAttr();
  if (!law || (op.getSide() == Side::query &&
               law.getAlignment() != Alignment::bottom_right))
    return std::nullopt;
  return law.getOffset();
}

/// 1 or -1 if the relation is the distance between places, or its opposite.
static std::optional<int> getDistanceSign(Value relation) {
  auto op = relation.getDefiningOp<RelationOp>();
  auto law = op ? dyn_cast<DifferenceAttr>(op.getLaw()) : DifferenceAttr();
  if (!law)
    return std::nullopt;
  std::optional<int64_t> ofQuery = getPlaceOffset(op.getQuery()),
                         ofKey = getPlaceOffset(op.getKey());
  if (!ofQuery || ofQuery != ofKey)
    return std::nullopt;
  return law.getOrientation() == Orientation::query_minus_key ? 1 : -1;
}

/// Whether a table's numbers are sums over the keys up to a token.
static bool isRunningSum(Value table) {
  if (auto atQuery = table.getDefiningOp<AtQueryOp>())
    return isRunningSum(atQuery.getTable());
  return static_cast<bool>(table.getDefiningOp<PrefixSumOp>());
}

static unsigned classifyTable(Value input, unsigned rowDependence) {
  auto type = cast<TableType>(input.getType());
  auto atQuery = input.getDefiningOp<AtQueryOp>();
  if (isRunningSum(input) || type.hasAxis(TableAxis::channel) ||
      (atQuery && atQuery.getAlignment() != Alignment::bottom_right))
    return OnPair;
  unsigned result = 0;
  if (type.hasAxis(TableAxis::row))
    result |= rowDependence & OnDistance ? OnPair : rowDependence;
  if (type.hasAxis(TableAxis::query))
    result |= OnQuery;
  if (type.hasAxis(TableAxis::key))
    result |= OnKey;
  if (type.hasAxis(TableAxis::batch))
    result |= OnBatch;
  return result;
}

/// Of each argument of a map's region.
static SmallVector<unsigned> classifyArguments(MapOp map) {
  SmallVector<unsigned> result(map.getScores().size(), OnScore);
  unsigned row = OnPair;
  for (Value input : map.getInputs()) {
    if (isa<TableType>(input.getType())) {
      result.push_back(classifyTable(input, row));
      continue;
    }
    if (isa<CoordType>(input.getType())) {
      std::optional<Side> side = getSide(input);
      row =
          !side
              ? unsigned(OnPair)
              : unsigned(OnPosition | (*side == Side::query ? OnQuery : OnKey));
    } else {
      row = getDistanceSign(input) ? OnDistance : OnPair;
    }
    result.push_back(row);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
class Factorization {
public:
  Factorization(MapOp map, Obstacle &obstacle) : map(map), obstacle(obstacle) {
    Block &body = map.getBody().front();
    SmallVector<unsigned> arguments = classifyArguments(map);
    for (auto [argument, dependence] :
         llvm::zip_equal(body.getArguments(), arguments))
      dependences[argument] = dependence;
    for (Operation &op : body.without_terminator()) {
      unsigned dependence = 0;
      for (Value operand : op.getOperands())
        dependence |= dependences[operand];
      for (Value result : op.getResults())
        dependences[result] = dependence;
    }
  }

  std::optional<MapFactors> run() {
    if (map.getScores().size() != 1) {
      (void)refuse(map, "a function of several scores");
      return std::nullopt;
    }
    Value result = map.getBody().front().getTerminator()->getOperand(0);
    if (failed(multiply(result, /*divides=*/false)))
      return std::nullopt;
    if (!hasScore) {
      (void)refuse(map, "no multiple of its score");
      return std::nullopt;
    }
    if ((exponentSides & OnQuery) && (exponentSides & OnKey)) {
      (void)refuse(map, "an exponential of positions that are not under their "
                        "distance");
      return std::nullopt;
    }
    return std::move(factors);
  }

private:
  /// An exponent that is being taken apart.
  struct Exponent {
    RegionFactor::Form form;
    bool isNegative;
    SmallVector<std::pair<Value, bool>> coefficients;
  };

  LogicalResult refuse(Operation *op, const Twine &what) {
    obstacle = {op, ("it is " + what).str()};
    return failure();
  }
  Operation *getPlace(Value value) {
    Operation *op = value.getDefiningOp();
    return op ? op : map;
  }
  unsigned getDependence(Value value) { return dependences.lookup(value); }
  bool isOfOneToken(unsigned dependence) {
    bool both = (dependence & OnQuery) && (dependence & OnKey);
    return !both && !(dependence & (OnScore | OnDistance | OnPair));
  }
  void add(unsigned dependence, RegionFactor factor) {
    ((dependence & OnKey) ? factors.ofKey : factors.ofQuery)
        .push_back(std::move(factor));
  }

  LogicalResult multiply(Value value, bool divides);
  LogicalResult multiplyPower(math::PowFOp power, bool divides);
  LogicalResult raise(Value value, Exponent exponent);

  MapOp map;
  Obstacle &obstacle;
  llvm::DenseMap<Value, unsigned> dependences;
  MapFactors factors;
  bool hasScore = false;
  unsigned exponentSides = 0; // of positions
};
} // namespace

LogicalResult Factorization::multiply(Value value, bool divides) {
  unsigned dependence = getDependence(value);
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getArgNumber() == 0) {
    if (divides || hasScore)
      return refuse(map, "no multiple of its score");
    hasScore = true;
    return success();
  }
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    double number = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
    factors.constant *= divides ? 1 / number : number;
    return success();
  }
  if (isOfOneToken(dependence)) {
    RegionFactor factor;
    factor.values.push_back({value, divides});
    add(dependence, std::move(factor));
    return success();
  }
  if (argument)
    return refuse(map, "a function of query and key that is no power of their "
                       "distance");
  Operation *op = value.getDefiningOp();
  if (auto negation = dyn_cast<arith::NegFOp>(op)) {
    factors.constant = -factors.constant;
    return multiply(negation.getOperand(), divides);
  }
  if (auto product = dyn_cast<arith::MulFOp>(op))
    return success(succeeded(multiply(product.getLhs(), divides)) &&
                   succeeded(multiply(product.getRhs(), divides)));
  if (auto quotient = dyn_cast<arith::DivFOp>(op))
    return success(succeeded(multiply(quotient.getLhs(), divides)) &&
                   succeeded(multiply(quotient.getRhs(), !divides)));
  if (dependence & OnScore)
    return refuse(op, "no multiple of its score");
  if (isa<math::ExpOp>(op))
    return raise(op->getOperand(0), {RegionFactor::Exp, divides, {}});
  if (isa<math::Exp2Op>(op))
    return raise(op->getOperand(0), {RegionFactor::Exp2, divides, {}});
  if (auto power = dyn_cast<math::PowFOp>(op))
    return multiplyPower(power, divides);
  return refuse(op, "a function of query and key that is no power of their "
                    "distance");
}

/// A number of the head to the power of the distance.
LogicalResult Factorization::multiplyPower(math::PowFOp power, bool divides) {
  auto exponent = dyn_cast<BlockArgument>(power.getRhs());
  std::optional<int> sign;
  if (exponent && getDependence(exponent) == OnDistance)
    sign = getDistanceSign(map.getInputs()[exponent.getArgNumber() - 1]);
  if (!sign || getDependence(power.getLhs()) != 0)
    return refuse(power, "a power that is not one of a number of the head by "
                         "the distance");
  RegionFactor factor;
  factor.values.push_back({power.getLhs(), divides != (*sign < 0)});
  factors.decay.push_back(std::move(factor));
  return success();
}

/// Sums in exponents are products; multiples of the distance are decays.
LogicalResult Factorization::raise(Value value, Exponent exponent) {
  unsigned dependence = getDependence(value);
  RegionFactor factor = {exponent.form, exponent.isNegative,
                         exponent.coefficients};
  if (isOfOneToken(dependence)) {
    if (dependence & OnPosition)
      exponentSides |= dependence;
    factor.values.push_back({value, false});
    add(dependence, std::move(factor));
    return success();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && dependence == OnDistance) {
    int sign = *getDistanceSign(map.getInputs()[argument.getArgNumber() - 1]);
    factor.isNegative ^= sign < 0;
    factors.decay.push_back(std::move(factor));
    return success();
  }
  Operation *op = value.getDefiningOp();
  auto flipped = [&] {
    Exponent result = exponent;
    result.isNegative = !result.isNegative;
    return result;
  };
  if (op && isa<arith::NegFOp>(op))
    return raise(op->getOperand(0), flipped());
  if (op && isa<arith::AddFOp, arith::SubFOp>(op))
    return success(
        succeeded(raise(op->getOperand(0), exponent)) &&
        succeeded(raise(op->getOperand(1),
                        isa<arith::SubFOp>(op) ? flipped() : exponent)));
  if (op && isa<arith::MulFOp, arith::DivFOp>(op)) {
    bool divides = isa<arith::DivFOp>(op);
    for (unsigned other : {1u, 0u}) {
      if (getDependence(op->getOperand(other)) != 0 || (divides && !other))
        continue;
      exponent.coefficients.push_back({op->getOperand(other), divides});
      return raise(op->getOperand(1 - other), std::move(exponent));
    }
  }
  return refuse(getPlace(value), "an exponential of query and key that is no "
                                 "power by their distance");
}

std::optional<MapFactors> posenc::factorMap(MapOp map, Obstacle &obstacle) {
  return Factorization(map, obstacle).run();
}

//===----------------------------------------------------------------------===//
// Regions of factors
//===----------------------------------------------------------------------===//

/// What the factors read: operations in their order, and arguments.
static llvm::SetVector<Value> findNeeded(ArrayRef<RegionFactor> factors) {
  llvm::SetVector<Value> needed;
  for (const RegionFactor &factor : factors)
    for (auto [value, divides] : factor.values)
      needed.insert(value);
  for (size_t i = 0; i < needed.size(); ++i)
    if (Operation *op = needed[i].getDefiningOp())
      needed.insert_range(op->getOperands());
  return needed;
}

static Value buildNumber(OpBuilder &builder, Location loc, double number) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF64FloatAttr(number));
}

static Value buildProduct(OpBuilder &builder, Location loc,
                          const RegionFactor &factor, IRMapping &mapping) {
  Value product;
  auto multiply = [&](Value value, bool divides) {
    if (divides)
      product = arith::DivFOp::create(
          builder, loc, product ? product : buildNumber(builder, loc, 1),
          value);
    else
      product =
          product
              ? arith::MulFOp::create(builder, loc, product, value).getResult()
              : value;
  };
  for (auto [value, divides] : factor.values)
    multiply(mapping.lookup(value), divides);
  if (!product)
    product = buildNumber(builder, loc, 1);
  if (factor.isNegative)
    product = arith::NegFOp::create(builder, loc, product);
  switch (factor.form) {
  case RegionFactor::Plain:
    return product;
  case RegionFactor::Exp:
    return math::ExpOp::create(builder, loc, product);
  case RegionFactor::Exp2:
    return math::Exp2Op::create(builder, loc, product);
  }
  llvm_unreachable("all forms are handled");
}

SmallVector<Value> posenc::buildFactors(OpBuilder &builder, Region &region,
                                        MapOp map,
                                        ArrayRef<RegionFactor> factors) {
  Location loc = map.getLoc();
  Block &body = map.getBody().front();
  llvm::SetVector<Value> needed = findNeeded(factors);
  // A table is read together with what looks it up.
  llvm::BitVector used(map.getInputs().size());
  std::optional<unsigned> row;
  for (auto [index, input] : llvm::enumerate(map.getInputs())) {
    auto table = dyn_cast<TableType>(input.getType());
    if (!table)
      row = index;
    if (!needed.contains(body.getArgument(index + 1)))
      continue;
    used.set(index);
    if (table && table.hasAxis(TableAxis::row) && row)
      used.set(*row);
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  IRMapping mapping;
  SmallVector<Value> inputs;
  for (unsigned index : used.set_bits()) {
    inputs.push_back(map.getInputs()[index]);
    mapping.map(body.getArgument(index + 1),
                block->addArgument(builder.getF64Type(), loc));
  }
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return needed.contains(result); }))
      builder.clone(op, mapping);
  Value product;
  for (const RegionFactor &factor : factors) {
    Value value = buildProduct(builder, loc, factor, mapping);
    product =
        product
            ? arith::MulFOp::create(builder, loc, product, value).getResult()
            : value;
  }
  YieldOp::create(builder, loc, product);
  return inputs;
}

void posenc::multiplyRegions(OpBuilder &builder, Region &region,
                             Region &other) {
  Block &block = region.front();
  IRMapping mapping;
  for (BlockArgument argument : other.front().getArguments())
    mapping.map(argument,
                block.addArgument(argument.getType(), argument.getLoc()));
  Operation *yield = block.getTerminator();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(yield);
  for (Operation &op : other.front().without_terminator())
    builder.clone(op, mapping);
  Value value = mapping.lookup(other.front().getTerminator()->getOperand(0));
  yield->setOperand(0, arith::MulFOp::create(builder, yield->getLoc(),
                                             yield->getOperand(0), value));
}
