// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network of one number with one layer of rectifiers is piecewise linear in
// it, with a knot for each hidden unit: the bias is slope[piece] x +
// offset[piece], where the piece is the number of knots up to x.
#include "ScoreIdentities.h"

#include "posenc/IR/ScalarRegion.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

/// Finding the pieces takes the square of it.
static constexpr int64_t maxUnits = 1024;

namespace {

/// One number for each head and hidden unit.
using Weights = std::vector<double>;

/// w max(a x + b, 0) + c x + d for one number x that all heads and units share.
struct Unit {
  Value x; // null if there is none
  Weights w, a, b, c, d;
  bool isRectified = false;
};

/// Reads the network out of a bias.
class NetworkReader {
public:
  NetworkReader(BiasOp bias, unsigned index)
      : bias(bias), index(index),
        units(bias.getInputs()[index].getDefiningOp<SumIndexOp>().getExtent()),
        heads(bias->getParentOfType<KernelOp>().getHeads()) {}

  /// Whether a rectifier sees the hidden units.
  bool isCandidate();
  /// Why the bias is none; empty if it is.
  std::string read();

  BiasOp bias;
  unsigned index; // of the input that counts the hidden units
  int64_t units, heads;
  llvm::BitVector ofUnits; // inputs that depend on them
  Unit result;

private:
  Weights fill(double value) { return Weights(heads * units, value); }
  Unit number(Weights values);
  Unit number(double value) { return number(fill(value)); }
  Unit variable(Value x);
  std::string findInputs();
  std::optional<Weights> getConstants(Value table);
  bool isOfUnits(Value value) { return dependent.contains(value); }
  void findDependent();
  Unit scale(Unit unit, const Weights &factor);
  Unit negate(const Unit &unit) { return scale(unit, fill(-1)); }
  std::optional<Unit> add(const Unit &lhs, const Unit &rhs);
  std::optional<Unit> multiply(const Unit &lhs, const Unit &rhs);
  std::optional<Unit> divide(const Unit &lhs, const Unit &rhs);
  std::optional<Unit> maximum(const Unit &lhs, const Unit &rhs);
  std::optional<Unit> evaluate(Value value);
  std::optional<Unit> evaluateOp(Operation *op);
  std::optional<Unit> apply(ScalarFunction function, ArrayRef<Unit> in);

  llvm::DenseSet<Value> dependent;
  llvm::DenseMap<Value, std::optional<Unit>> known;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arithmetic of units
//===----------------------------------------------------------------------===//

static Weights combine(const Weights &lhs, const Weights &rhs,
                       function_ref<double(double, double)> function) {
  Weights result;
  for (auto [a, b] : llvm::zip_equal(lhs, rhs))
    result.push_back(function(a, b));
  return result;
}

Unit NetworkReader::number(Weights values) {
  Unit unit{{}, fill(0), fill(0), fill(0), fill(0), std::move(values)};
  return unit;
}

Unit NetworkReader::variable(Value x) {
  Unit unit = number(0.0);
  unit.x = x;
  unit.c = fill(1);
  return unit;
}

Unit NetworkReader::scale(Unit unit, const Weights &factor) {
  for (Weights *weights : {&unit.w, &unit.c, &unit.d})
    *weights = combine(*weights, factor, std::multiplies<double>());
  return unit;
}

std::optional<Unit> NetworkReader::add(const Unit &lhs, const Unit &rhs) {
  if ((lhs.x && rhs.x && lhs.x != rhs.x) ||
      (lhs.isRectified && rhs.isRectified))
    return std::nullopt;
  Unit sum = lhs.isRectified ? lhs : rhs;
  sum.x = lhs.x ? lhs.x : rhs.x;
  sum.c = combine(lhs.c, rhs.c, std::plus<double>());
  sum.d = combine(lhs.d, rhs.d, std::plus<double>());
  return sum;
}

std::optional<Unit> NetworkReader::multiply(const Unit &lhs, const Unit &rhs) {
  if (!rhs.x)
    return scale(lhs, rhs.d);
  return lhs.x ? std::nullopt : std::optional(scale(rhs, lhs.d));
}

std::optional<Unit> NetworkReader::divide(const Unit &lhs, const Unit &rhs) {
  if (rhs.x || llvm::is_contained(rhs.d, 0.0))
    return std::nullopt;
  return scale(lhs, combine(fill(1), rhs.d, std::divides<double>()));
}

/// max(x, y) = max(x - y, 0) + y
std::optional<Unit> NetworkReader::maximum(const Unit &lhs, const Unit &rhs) {
  if (lhs.isRectified || rhs.isRectified)
    return std::nullopt;
  if (!lhs.x && !rhs.x)
    return number(combine(lhs.d, rhs.d,
                          [](double a, double b) { return std::fmax(a, b); }));
  std::optional<Unit> difference = add(lhs, negate(rhs));
  if (!difference)
    return std::nullopt;
  Unit result = rhs;
  result.x = difference->x;
  result.isRectified = true;
  result.w = fill(1);
  result.a = difference->c;
  result.b = difference->d;
  return result;
}

std::optional<Unit> NetworkReader::apply(ScalarFunction function,
                                         ArrayRef<Unit> in) {
  switch (function) {
  case ScalarFunction::Neg:
    return negate(in[0]);
  case ScalarFunction::Add:
    return add(in[0], in[1]);
  case ScalarFunction::Sub:
    return add(in[0], negate(in[1]));
  case ScalarFunction::Mul:
    return multiply(in[0], in[1]);
  case ScalarFunction::Div:
    return divide(in[0], in[1]);
  case ScalarFunction::Maximum:
  case ScalarFunction::Maxnum:
    return maximum(in[0], in[1]);
  case ScalarFunction::Minimum:
  case ScalarFunction::Minnum: {
    std::optional<Unit> result = maximum(negate(in[0]), negate(in[1]));
    return result ? std::optional(negate(*result)) : std::nullopt;
  }
  case ScalarFunction::Fma: {
    std::optional<Unit> product = multiply(in[0], in[1]);
    return product ? add(*product, in[2]) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The constants that the hidden units look up, by head.
std::optional<Weights> NetworkReader::getConstants(Value table) {
  auto op = table.getDefiningOp<TableOp>();
  auto constants = op ? dyn_cast<ConstantsAttr>(op.getLaw()) : ConstantsAttr();
  if (!constants || op.getType().hasAxis(TableAxis::channel))
    return std::nullopt;
  ArrayRef<double> values = constants.getValues().asArrayRef();
  bool hasHeads = op.getType().hasAxis(TableAxis::head);
  bool headsLast = op.getType().getAxes().back() == TableAxis::head;
  int64_t rows = values.size() / (hasHeads ? heads : 1);
  Weights result;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t unit = 0; unit < units; ++unit)
      result.push_back(values[!hasHeads   ? unit
                              : headsLast ? unit * heads + head
                                          : head * rows + unit]);
  return result;
}

/// Which inputs depend on the hidden units, and the numbers that they are.
std::string NetworkReader::findInputs() {
  ofUnits.resize(bias.getInputs().size());
  ofUnits.set(index);
  Weights counted;
  for (int64_t n = 0; n < heads * units; ++n)
    counted.push_back(static_cast<double>(n % units));
  known[bias.getBody().getArgument(index)] = number(std::move(counted));
  Value row;
  for (auto [place, input] : llvm::enumerate(bias.getInputs())) {
    auto type = dyn_cast<TableType>(input.getType());
    if (!type) {
      row = input;
      continue;
    }
    bool isRow = type.hasAxis(TableAxis::row) && row == bias.getInputs()[index];
    if (!isRow && !(type.hasAxis(TableAxis::channel) && place > index))
      continue;
    ofUnits.set(place);
    std::optional<Weights> constants = getConstants(input);
    if (!constants)
      return "its weights are not constants, so that its knots are not known "
             "when compiled";
    known[bias.getBody().getArgument(place)] = number(std::move(*constants));
  }
  return "";
}

void NetworkReader::findDependent() {
  for (unsigned place : ofUnits.set_bits())
    dependent.insert(bias.getBody().getArgument(place));
  for (Operation &op : bias.getBody().front().without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value v) { return isOfUnits(v); }))
      dependent.insert(op.getResult(0));
}

std::optional<Unit> NetworkReader::evaluate(Value value) {
  auto entry = known.find(value);
  if (entry != known.end())
    return entry->second;
  std::optional<Unit> unit;
  if (Operation *op = value.getDefiningOp())
    unit = evaluateOp(op);
  // What does not depend on the units may be any number.
  if (!isOfUnits(value) && (!unit || unit->isRectified))
    unit = variable(value);
  known[value] = unit;
  return unit;
}

std::optional<Unit> NetworkReader::evaluateOp(Operation *op) {
  if (auto literal = dyn_cast<arith::ConstantOp>(op)) {
    auto real = dyn_cast<FloatAttr>(literal.getValue());
    return real ? std::optional(number(real.getValueAsDouble())) : std::nullopt;
  }
  std::optional<ScalarFunction> function = getScalarFunction(op);
  if (!function)
    return std::nullopt;
  SmallVector<Unit> in;
  for (Value operand : op->getOperands()) {
    std::optional<Unit> term = evaluate(operand);
    if (!term)
      return std::nullopt;
    in.push_back(std::move(*term));
  }
  return apply(*function, in);
}

bool NetworkReader::isCandidate() {
  // Inputs that are no constants count too: they are what is reported.
  (void)findInputs();
  findDependent();
  return llvm::any_of(bias.getBody().front().without_terminator(),
                      [&](Operation &op) {
                        return isa<arith::MaximumFOp, arith::MaxNumFOp,
                                   arith::MinimumFOp, arith::MinNumFOp>(op) &&
                               isOfUnits(op.getResult(0));
                      });
}

std::string NetworkReader::read() {
  if (units > maxUnits)
    return "it has more than " + std::to_string(maxUnits) + " hidden units";
  std::string reason = findInputs();
  if (!reason.empty())
    return reason;
  std::optional<Unit> unit =
      evaluate(bias.getBody().front().getTerminator()->getOperand(0));
  if (!unit || !unit->x || !unit->isRectified)
    return "its hidden units are no rectifiers of affine functions of one "
           "number";
  result = std::move(*unit);
  return "";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Knots, slopes and offsets in the order (row, head) of tables.
struct Pieces {
  Weights knots, slopes, offsets;
};

} // namespace

/// Where a unit's rectifier begins or ends; infinite or NaN if nowhere.
static double getKnot(const Unit &unit, int64_t n) {
  return -unit.b[n] / unit.a[n];
}

/// Whether a unit's rectifier is positive in a piece, given a number inside.
/// The signs of the slopes decide in the outer pieces, where numbers are so
/// large that a sum with 1 may not change them.
static bool isActive(const Unit &unit, int64_t n, int64_t piece, int64_t last,
                     double inside) {
  double knot = getKnot(unit, n);
  if (!std::isfinite(knot))
    return unit.b[n] > 0;
  bool isBehind = piece != 0 && (piece == last || inside > knot);
  return isBehind == (unit.a[n] > 0);
}

/// The sorted knots of a head, as many as units.
static Weights findKnots(const NetworkReader &network, int64_t head) {
  const Unit &unit = network.result;
  Weights knots;
  for (int64_t m = 0; m < network.units; ++m) {
    int64_t n = head * network.units + m;
    double knot = getKnot(unit, n);
    if (unit.w[n] != 0 && std::isfinite(knot))
      knots.push_back(knot);
  }
  llvm::sort(knots);
  // Pieces of length 0 are never read.
  knots.resize(network.units, knots.empty() ? 0 : knots.back());
  return knots;
}

static Pieces findPieces(const NetworkReader &network) {
  const Unit &unit = network.result;
  int64_t heads = network.heads, units = network.units;
  Pieces pieces{Weights(units * heads), Weights((units + 1) * heads),
                Weights((units + 1) * heads)};
  for (int64_t head = 0; head < heads; ++head) {
    Weights knots = findKnots(network, head);
    for (int64_t m = 0; m < units; ++m)
      pieces.knots[m * heads + head] = knots[m];
    for (int64_t piece = 0; piece <= units; ++piece) {
      bool isOuter = piece == 0 || piece == units;
      double inside = isOuter ? 0 : (knots[piece - 1] + knots[piece]) / 2;
      double slope = 0, offset = 0;
      for (int64_t n = head * units; n < (head + 1) * units; ++n) {
        bool active = isActive(unit, n, piece, units, inside);
        slope += unit.c[n] + (active ? unit.w[n] * unit.a[n] : 0);
        offset += unit.d[n] + (active ? unit.w[n] * unit.b[n] : 0);
      }
      pieces.slopes[piece * heads + head] = slope;
      pieces.offsets[piece * heads + head] = offset;
    }
  }
  return pieces;
}

/// Fills a region with what computes x, and lets `finish` make the result of x
/// and the arguments behind those of the inputs that stay.
static void
fillRegion(OpBuilder &builder, const NetworkReader &network, Region &region,
           ValueRange inputs,
           function_ref<Value(Value x, ValueRange arguments)> finish) {
  Location loc = network.bias->getLoc();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(inputs.size(), builder.getF64Type());
  SmallVector<Location> locs(inputs.size(), loc);
  Block *block = builder.createBlock(&region, {}, types, locs);
  Block &body = network.bias->getRegion(0).front();
  IRMapping mapping;
  unsigned next = 0;
  for (BlockArgument argument : body.getArguments())
    if (!network.ofUnits[argument.getArgNumber()])
      mapping.map(argument, block->getArgument(next++));
  for (Operation &op : body.without_terminator())
    if (llvm::all_of(op.getOperands(),
                     [&](Value v) { return mapping.contains(v); }))
      builder.clone(op, mapping);
  Value result = finish(mapping.lookup(network.result.x),
                        block->getArguments().drop_front(next));
  YieldOp::create(builder, loc, result);
  eraseDead(*block);
}

static Value makeTable(OpBuilder &builder, Location loc,
                       const Weights &values) {
  MLIRContext *context = builder.getContext();
  return TableOp::create(
      builder, loc, TableType::get(context, {TableAxis::row, TableAxis::head}),
      ConstantsAttr::get(context, DenseF64ArrayAttr::get(context, values), 0));
}

static void rewrite(NetworkReader &network) {
  BiasOp bias = network.bias;
  OpBuilder builder(bias);
  Location loc = bias.getLoc();
  Pieces pieces = findPieces(network);
  SmallVector<Value> inputs;
  for (auto [place, input] : llvm::enumerate(bias.getInputs()))
    if (!network.ofUnits[place])
      inputs.push_back(input);
  SmallVector<Value> counted(inputs);
  counted.push_back(bias.getInputs()[network.index]);
  counted.push_back(makeTable(builder, loc, pieces.knots));
  auto piece = RelationMapOp::create(
      builder, loc, counted, builder.getI64IntegerAttr(network.units + 1));
  fillRegion(builder, network, piece.getBody(), counted,
             [&](Value x, ValueRange arguments) -> Value {
               auto number = [&](double value) -> Value {
                 return arith::ConstantOp::create(
                     builder, loc, builder.getF64FloatAttr(value));
               };
               Value reached = arith::CmpFOp::create(
                   builder, loc, arith::CmpFPredicate::OGE, x, arguments[1]);
               Value one = number(1), zero = number(0);
               return arith::SelectOp::create(builder, loc, reached, one, zero);
             });
  SmallVector<Value> looked(inputs);
  looked.push_back(piece);
  looked.push_back(makeTable(builder, loc, pieces.slopes));
  looked.push_back(makeTable(builder, loc, pieces.offsets));
  auto linear = BiasOp::create(builder, loc, looked);
  fillRegion(
      builder, network, linear.getBody(), looked,
      [&](Value x, ValueRange arguments) -> Value {
        Value product = arith::MulFOp::create(builder, loc, arguments[1], x);
        return arith::AddFOp::create(builder, loc, product, arguments[2]);
      });
  bias.getResult().replaceAllUsesWith(linear);
  bias.erase();
}

bool posenc::foldNetworks(KernelOp kernel) {
  bool changed = false;
  for (BiasOp bias :
       llvm::make_early_inc_range(kernel.getBody().getOps<BiasOp>())) {
    auto index = llvm::find_if(bias.getInputs(), [](Value input) {
      return static_cast<bool>(input.getDefiningOp<SumIndexOp>());
    });
    if (index == bias.getInputs().end())
      continue;
    NetworkReader network(
        bias, static_cast<unsigned>(index - bias.getInputs().begin()));
    if (!network.isCandidate())
      continue;
    std::string reason = network.read();
    if (!reason.empty()) {
      reportMissed(bias.getLoc(), "PiecewiseLinear",
                   "kept a sum over rectified hidden units: " + reason);
      continue;
    }
    reportPassed(bias.getLoc(), "PiecewiseLinear",
                 "made " + Twine(network.units) +
                     " rectified hidden units a piecewise linear function");
    rewrite(network);
    changed = true;
  }
  return changed;
}
