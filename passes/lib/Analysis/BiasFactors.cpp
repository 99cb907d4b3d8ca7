// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A posenc.bias as a sum of products of a number of the query and one of the
// key, proved from its region.
#include "posenc/Analysis/BiasFactors.h"

#include "posenc/Analysis/BiasTraits.h"
#include "posenc/IR/ScalarRegion.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

namespace {
/// What a number depends on.
struct Needs {
  bool query = false, key = false, index = false;

  bool ofPair() const { return query && key; }
  void join(const Needs &other) {
    query |= other.query;
    key |= other.key;
    index |= other.index;
  }
};
} // namespace

struct posenc::Factor {
  enum Kind { Part, Position, Number, Neg, Add, Mul, Div, Cos, Sin };

  Kind kind;
  Needs needs;
  /// Part: a value of the bias's region. Position: a !posenc.coord.
  Value value;
  double number = 0;
  FactorRef lhs = nullptr, rhs = nullptr;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static FactorRef make(Factor::Kind kind, const FactorRef &lhs,
                      const FactorRef &rhs = nullptr) {
  Needs needs = lhs->needs;
  if (rhs)
    needs.join(rhs->needs);
  return std::make_shared<Factor>(
      Factor{kind, needs, /*value=*/{}, /*number=*/0, lhs, rhs});
}

static FactorRef makePart(Value value, Needs needs) {
  return std::make_shared<Factor>(Factor{Factor::Part, needs, value});
}

static FactorRef makePosition(Value coord, Needs needs) {
  return std::make_shared<Factor>(Factor{Factor::Position, needs, coord});
}

static FactorRef makeNumber(double number) {
  return std::make_shared<Factor>(Factor{Factor::Number, {}, {}, number});
}

/// Null is 1.
static FactorRef multiply(const FactorRef &lhs, const FactorRef &rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return make(Factor::Mul, lhs, rhs);
}

static FactorRef add(const FactorRef &lhs, const FactorRef &rhs) {
  return lhs && rhs ? make(Factor::Add, lhs, rhs) : lhs ? lhs : rhs;
}

//===----------------------------------------------------------------------===//
// Factoring
//===----------------------------------------------------------------------===//

namespace {
/// `common` depends on neither side.
struct Term {
  FactorRef query, key, common;
};
using Terms = SmallVector<Term>;

class Factoring {
public:
  Factoring(BiasOp bias, std::string &reason) : bias(bias), reason(reason) {}

  FailureOr<SmallVector<FactorProduct>> run();

private:
  LogicalResult readInputs();
  std::optional<Needs> getInputNeeds(Value input, Value row);
  Needs getNeeds(Value value);

  FailureOr<Terms> refuse(const Twine &why) {
    if (reason.empty())
      reason = why.str();
    return failure();
  }
  FailureOr<Terms> factor(Value value);
  FailureOr<Terms> factorInput(BlockArgument argument);
  FailureOr<Terms> factorProduct(Value lhs, Value rhs, bool even = false);
  FailureOr<Terms> factorQuotient(Value lhs, Value rhs, bool even = false);
  FailureOr<Terms> factorEven(Value value);
  FailureOr<Terms> factorWave(Operation *wave);

  LogicalResult checkBounds(const FactorRef &factor);
  bool isBounded(Value part);
  bool isBounded(const FactorRef &factor);

  BiasOp bias;
  std::string &reason;
  int64_t extent = 0;
  llvm::DenseMap<Value, Needs> needs;
};
} // namespace

/// Terms behind each other would be many products of one rounding each.
static constexpr size_t kMostTerms = 8;

/// What a number outside regions depends on; nothing if it cannot stand in a
/// table of one side.
std::optional<Needs> Factoring::getInputNeeds(Value input, Value row) {
  Needs result;
  Operation *op = input.getDefiningOp();
  if (auto index = dyn_cast<SumIndexOp>(op)) {
    extent = index.getExtent();
    result.index = true;
    return result;
  }
  if (auto position = dyn_cast<PositionOp>(op)) {
    (position.getSide() == Side::query ? result.query : result.key) = true;
    return result;
  }
  if (auto table = dyn_cast<TableType>(input.getType())) {
    if (auto atQuery = dyn_cast<AtQueryOp>(op))
      op = atQuery.getTable().getDefiningOp();
    if (!isa_and_nonnull<TableOp>(op))
      return std::nullopt;
    result.query = table.hasAxis(TableAxis::query);
    result.key = table.hasAxis(TableAxis::key);
    result.index = table.hasAxis(TableAxis::channel);
    if (table.hasAxis(TableAxis::row)) {
      std::optional<Needs> ofRow = getInputNeeds(row, {});
      if (!ofRow)
        return std::nullopt;
      result.join(*ofRow);
    }
    return result;
  }
  if (!isa<RemapOp, RelationOp, RelationMapOp>(op))
    return std::nullopt;
  Value last;
  for (Value operand : op->getOperands()) {
    // An index of the map's own is none of the bias.
    if (operand.getDefiningOp<SumIndexOp>())
      return std::nullopt;
    std::optional<Needs> nested = getInputNeeds(operand, last);
    if (!nested)
      return std::nullopt;
    if (!isa<TableType>(operand.getType()))
      last = operand;
    result.join(*nested);
  }
  return result;
}

LogicalResult Factoring::readInputs() {
  Value row;
  llvm::BitVector used = analyzeBias(bias).usedInputs;
  for (auto [number, input] : llvm::enumerate(bias.getInputs())) {
    if (!isa<TableType>(input.getType()))
      row = input;
    if (!used[number])
      continue;
    std::optional<Needs> ofInput = getInputNeeds(input, row);
    if (!ofInput) {
      (void)refuse("input #" + Twine(number) + " is computed by " +
                   input.getDefiningOp()->getName().getStringRef());
      return failure();
    }
    needs[bias.getBody().getArgument(number)] = *ofInput;
  }
  return success();
}

Needs Factoring::getNeeds(Value value) {
  if (auto known = needs.find(value); known != needs.end())
    return known->second;
  Needs result;
  if (Operation *op = value.getDefiningOp())
    for (Value operand : op->getOperands())
      result.join(getNeeds(operand));
  needs[value] = result;
  return result;
}

/// A distance is a number of the query and one of the key.
FailureOr<Terms> Factoring::factorInput(BlockArgument argument) {
  Value input = bias.getInputs()[argument.getArgNumber()];
  auto relation = input.getDefiningOp<RelationOp>();
  auto law =
      relation ? dyn_cast<DifferenceAttr>(relation.getLaw()) : DifferenceAttr();
  if (!law)
    return refuse("input #" + Twine(argument.getArgNumber()) +
                  " is no sum of products of a number of the query and one of "
                  "the key");
  Needs ofQuery, ofKey;
  ofQuery.query = ofKey.key = true;
  FactorRef query = makePosition(relation.getQuery(), ofQuery);
  FactorRef key = makePosition(relation.getKey(), ofKey);
  if (law.getOrientation() == Orientation::query_minus_key)
    key = make(Factor::Neg, key);
  else
    query = make(Factor::Neg, query);
  return Terms{{query, nullptr, nullptr}, {nullptr, key, nullptr}};
}

static void negate(Terms &terms) {
  for (Term &term : terms)
    term.common =
        term.common ? make(Factor::Neg, term.common) : makeNumber(-1.0);
}

FailureOr<Terms> Factoring::factor(Value value) {
  Needs ofValue = getNeeds(value);
  if (!ofValue.ofPair()) {
    FactorRef part = makePart(value, ofValue);
    if (ofValue.query)
      return Terms{{part, nullptr, nullptr}};
    if (ofValue.key)
      return Terms{{nullptr, part, nullptr}};
    return Terms{{nullptr, nullptr, part}};
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return factorInput(argument);
  Operation *op = value.getDefiningOp();
  auto sum = [&](Value lhs, FailureOr<Terms> right,
                 bool isNegative) -> FailureOr<Terms> {
    FailureOr<Terms> left = factor(lhs);
    if (failed(left) || failed(right))
      return failure();
    if (isNegative)
      negate(*right);
    llvm::append_range(*left, *right);
    if (left->size() > kMostTerms)
      return refuse("it has more than " + Twine(kMostTerms) + " products");
    return left;
  };
  return llvm::TypeSwitch<Operation *, FailureOr<Terms>>(op)
      .Case([&](arith::AddFOp add) {
        return sum(add.getLhs(), factor(add.getRhs()), false);
      })
      .Case([&](arith::SubFOp sub) {
        return sum(sub.getLhs(), factor(sub.getRhs()), true);
      })
      .Case([&](math::FmaOp fma) {
        return sum(fma.getC(), factorProduct(fma.getA(), fma.getB()), false);
      })
      .Case([&](arith::NegFOp neg) {
        FailureOr<Terms> terms = factor(neg.getOperand());
        if (succeeded(terms))
          negate(*terms);
        return terms;
      })
      .Case([&](arith::MulFOp mul) {
        return factorProduct(mul.getLhs(), mul.getRhs());
      })
      .Case([&](arith::DivFOp div) {
        return factorQuotient(div.getLhs(), div.getRhs());
      })
      .Case<math::CosOp, math::SinOp>(
          [&](auto wave) { return factorWave(wave); })
      .Default([&](Operation *other) {
        return refuse("the " + other->getName().getStringRef() +
                      " of query and key is no sum of products");
      });
}

FailureOr<Terms> Factoring::factorProduct(Value lhs, Value rhs, bool even) {
  FailureOr<Terms> left = even ? factorEven(lhs) : factor(lhs);
  FailureOr<Terms> right = even ? factorEven(rhs) : factor(rhs);
  if (failed(left) || failed(right))
    return failure();
  if (left->size() * right->size() > kMostTerms)
    return refuse("it has more than " + Twine(kMostTerms) + " products");
  Terms result;
  for (const Term &a : *left)
    for (const Term &b : *right)
      result.push_back({multiply(a.query, b.query), multiply(a.key, b.key),
                        multiply(a.common, b.common)});
  return result;
}

FailureOr<Terms> Factoring::factorQuotient(Value lhs, Value rhs, bool even) {
  Needs divisor = getNeeds(rhs);
  if (divisor.ofPair())
    return refuse("it divides by a number of query and key");
  FailureOr<Terms> terms = even ? factorEven(lhs) : factor(lhs);
  if (failed(terms))
    return failure();
  FactorRef part = makePart(rhs, divisor);
  for (Term &term : *terms) {
    FactorRef &dividend = divisor.query ? term.query
                          : divisor.key ? term.key
                                        : term.common;
    dividend = make(Factor::Div, dividend ? dividend : makeNumber(1.0), part);
  }
  return terms;
}

/// The value or its opposite: an even function does not tell.
FailureOr<Terms> Factoring::factorEven(Value value) {
  if (!getNeeds(value).ofPair() || isa<BlockArgument>(value))
    return factor(value);
  Operation *op = value.getDefiningOp();
  if (isa<math::AbsFOp, arith::NegFOp>(op))
    return factorEven(op->getOperand(0));
  if (isa<arith::MulFOp>(op))
    return factorProduct(op->getOperand(0), op->getOperand(1), /*even=*/true);
  if (isa<arith::DivFOp>(op))
    return factorQuotient(op->getOperand(0), op->getOperand(1), /*even=*/true);
  return factor(value);
}

/// cos(a + b) = cos a cos b - sin a sin b, sin(a + b) = sin a cos b + cos a sin
/// b
FailureOr<Terms> Factoring::factorWave(Operation *wave) {
  bool isCos = isa<math::CosOp>(wave);
  Value argument = wave->getOperand(0);
  FailureOr<Terms> terms = isCos ? factorEven(argument) : factor(argument);
  if (failed(terms))
    return failure();
  FactorRef a, b;
  for (const Term &term : *terms) {
    if (term.query && term.key)
      return refuse("the argument of " + wave->getName().getStringRef() +
                    " is no sum of a number of the query and one of the key");
    FactorRef &angle = term.key ? b : a;
    angle = add(angle, multiply(term.key ? term.key : term.query, term.common));
  }
  auto of = [](Factor::Kind kind, const FactorRef &angle) {
    return make(kind, angle);
  };
  if (isCos)
    return Terms{{of(Factor::Cos, a), of(Factor::Cos, b), nullptr},
                 {of(Factor::Sin, a), of(Factor::Sin, b), makeNumber(-1.0)}};
  return Terms{{of(Factor::Sin, a), of(Factor::Cos, b), nullptr},
               {of(Factor::Cos, a), of(Factor::Sin, b), nullptr}};
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

/// Tables hold what somebody chose; positions, and what is summed up along the
/// keys, have no bound.
bool Factoring::isBounded(Value part) {
  if (auto argument = dyn_cast<BlockArgument>(part)) {
    Value input = bias.getInputs()[argument.getArgNumber()];
    return isa<TableType>(input.getType()) || input.getDefiningOp<SumIndexOp>();
  }
  Operation *op = part.getDefiningOp();
  if (isa<arith::ConstantOp, arith::CmpFOp, math::CosOp, math::SinOp,
          math::TanhOp, math::ErfOp>(op))
    return true;
  auto areBounded = [&](ValueRange operands) {
    return llvm::all_of(operands, [&](Value v) { return isBounded(v); });
  };
  if (isa<arith::DivFOp>(op)) {
    Needs divisor = getNeeds(op->getOperand(1));
    return !divisor.query && !divisor.key && isBounded(op->getOperand(0));
  }
  if (isa<arith::SelectOp>(op))
    return areBounded(op->getOperands().drop_front());
  if (isa<arith::NegFOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
          arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, math::AbsFOp, math::FmaOp, math::ExpOp>(op))
    return areBounded(op->getOperands());
  // Of what does not depend on the tokens there is one number.
  Needs ofPart = getNeeds(part);
  return !ofPart.query && !ofPart.key;
}

bool Factoring::isBounded(const FactorRef &factor) {
  switch (factor->kind) {
  case Factor::Part:
    return isBounded(factor->value);
  case Factor::Position:
    return false;
  case Factor::Number:
  case Factor::Cos:
  case Factor::Sin:
    return true;
  case Factor::Neg:
    return isBounded(factor->lhs);
  case Factor::Add:
  case Factor::Mul:
    return isBounded(factor->lhs) && isBounded(factor->rhs);
  case Factor::Div:
    return isBounded(factor->lhs) && !factor->rhs->needs.query &&
           !factor->rhs->needs.key;
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult Factoring::checkBounds(const FactorRef &factor) {
  if (!factor || isBounded(factor))
    return success();
  (void)refuse("a factor may grow with the position, and f32 products of large "
               "numbers cancel");
  return failure();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<FactorProduct>> Factoring::run() {
  if (failed(readInputs()))
    return failure();
  Value result = bias.getBody().front().getTerminator()->getOperand(0);
  FailureOr<Terms> terms = factor(result);
  if (failed(terms))
    return failure();
  SmallVector<FactorProduct> products;
  for (const Term &term : *terms) {
    // The sum of many numbers of one side is the small difference of large ones
    // too often.
    if (!term.query != !term.key) {
      (void)refuse("a summand depends on one side alone");
      return failure();
    }
    if (failed(checkBounds(term.query)) || failed(checkBounds(term.key)) ||
        failed(checkBounds(term.common)))
      return failure();
    FactorProduct product{multiply(term.query, term.common), term.key};
    auto isSummed = [](const FactorRef &factor) {
      return factor && factor->needs.index;
    };
    product.indexed = isSummed(product.query) || isSummed(product.key);
    if (product.indexed)
      product.channels = extent;
    else if (extent > 1)
      product.query = multiply(product.query, makeNumber(double(extent)));
    products.push_back(product);
  }
  return products;
}

FailureOr<SmallVector<FactorProduct>> posenc::factorBias(BiasOp bias,
                                                         std::string &reason) {
  return Factoring(bias, reason).run();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Writes a factor to a block whose first arguments are those of the bias.
class FactorWriter {
public:
  FactorWriter(BiasOp bias, Block *block)
      : block(block), loc(bias.getLoc()), builder(bias.getContext()) {
    builder.setInsertionPointToEnd(block);
    inputs.assign(bias.getInputs().begin(), bias.getInputs().end());
    for (BlockArgument argument : bias.getBody().getArguments())
      mapping.map(argument, block->addArgument(argument.getType(), loc));
  }

  Value write(const FactorRef &factor) {
    if (!factor)
      return constant(1.0);
    switch (factor->kind) {
    case Factor::Part:
      return copy(factor->value);
    case Factor::Position:
      return position(factor->value);
    case Factor::Number:
      return constant(factor->number);
    case Factor::Neg:
      return arith::NegFOp::create(builder, loc, write(factor->lhs));
    case Factor::Add:
      return binary<arith::AddFOp>(factor);
    case Factor::Mul:
      return binary<arith::MulFOp>(factor);
    case Factor::Div:
      return binary<arith::DivFOp>(factor);
    case Factor::Cos:
      return math::CosOp::create(builder, loc, write(factor->lhs));
    case Factor::Sin:
      return math::SinOp::create(builder, loc, write(factor->lhs));
    }
    llvm_unreachable("all kinds are handled");
  }

  void yield(Value value) { YieldOp::create(builder, loc, value); }

  /// The inputs of all arguments: the bias's, then positions.
  SmallVector<Value> inputs;

private:
  template <typename OpT>
  Value binary(const FactorRef &factor) {
    Value lhs = write(factor->lhs), rhs = write(factor->rhs);
    return OpT::create(builder, loc, lhs, rhs);
  }

  Value constant(double number) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(number));
  }

  Value copy(Value part) {
    if (Value known = mapping.lookupOrNull(part))
      return known;
    Operation *op = part.getDefiningOp();
    for (Value operand : op->getOperands())
      copy(operand);
    return builder.clone(*op, mapping)->getResult(0);
  }

  Value position(Value coord) {
    auto place = positions.find(coord);
    if (place != positions.end())
      return place->second;
    inputs.push_back(coord);
    return positions[coord] = block->addArgument(builder.getF64Type(), loc);
  }

  Block *block;
  Location loc;
  OpBuilder builder;
  IRMapping mapping;
  llvm::DenseMap<Value, Value> positions;
};
} // namespace

FactorRegion posenc::writeFactor(BiasOp bias, const FactorRef &factor,
                                 const FactorProduct &product) {
  FactorRegion result;
  result.body = std::make_unique<Region>();
  Block *block = new Block;
  result.body->push_back(block);
  FactorWriter writer(bias, block);
  writer.yield(writer.write(factor));
  llvm::BitVector used = findUsedInputs(writer.inputs, *block);
  for (auto [number, input] : llvm::enumerate(writer.inputs)) {
    // Without the index there is one channel.
    if (input.getDefiningOp<SumIndexOp>())
      used[number] = product.indexed;
    if (used[number])
      result.inputs.push_back(input);
  }
  block->eraseArguments(used.flip());
  return result;
}
