// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Terms.h"
#include "Numerics.h"
#include "RegionExpr.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::Var;
using llvm::SmallVector;
using mlir::FailureOr;

//===----------------------------------------------------------------------===//
// Regions' inputs
//===----------------------------------------------------------------------===//

std::optional<int64_t> posenc::getSumExtent(mlir::ValueRange inputs) {
  for (mlir::Value input : inputs)
    if (auto sum = input.getDefiningOp<SumIndexOp>())
      return sum.getExtent();
  return std::nullopt;
}

FailureOr<SmallVector<TermInput>> TermSource::read(mlir::ValueRange inputs,
                                                   const TokenPlace &place,
                                                   Expr summed) {
  SmallVector<TermInput> result;
  TermInput row;
  for (mlir::Value input : inputs) {
    bool isTable = llvm::isa<TableType>(input.getType());
    FailureOr<TermInput> term = isTable ? readTable(input, place, row, summed)
                                        : readIndex(input, place, summed);
    if (mlir::failed(term))
      return mlir::failure();
    if (!isTable)
      row = *term;
    result.push_back(*term);
  }
  return result;
}

FailureOr<TermInput>
TermSource::readIndex(mlir::Value index, const TokenPlace &place, Expr summed) {
  mlir::Operation *op = index.getDefiningOp();
  if (auto positionOp = llvm::dyn_cast<PositionOp>(op))
    return position(positionOp, place);
  if (auto relationOp = llvm::dyn_cast<RelationOp>(op))
    return relation(relationOp, place);
  if (auto map = llvm::dyn_cast<RelationMapOp>(op))
    return relationMap(map, place);
  if (auto remap = llvm::dyn_cast<RemapOp>(op)) {
    FailureOr<TermInput> term = readIndex(remap.getPosition(), place);
    if (mlir::succeeded(term))
      term->value =
          evaluateRegion(remap.getBody(), {Halide::cast<double>(term->value)},
                         Halide::Float(64));
    return term;
  }
  if (llvm::isa<SumIndexOp>(op) && summed.defined()) {
    TermInput term;
    term.value = summed;
    return term;
  }
  return op->emitOpError("cannot be generated as an input of a region");
}

FailureOr<TermInput> TermSource::position(PositionOp op,
                                          const TokenPlace &place) {
  TermInput term;
  bool isQuery = op.getSide() == Side::query;
  term.dependsOnRow = isQuery;
  term.dependsOnKey = !isQuery;
  if (auto law = llvm::dyn_cast<IotaAttr>(op.getLaw())) {
    Expr index = isQuery ? place.rowIndex : place.keyIndex;
    if (isQuery && law.getAlign() == Alignment::bottom_right)
      index = index + params.number(TileArgKind::QueryShift);
    term.value = index + static_cast<int>(law.getOffset());
    return term;
  }
  if (auto law = llvm::dyn_cast<AppendedAttr>(op.getLaw())) {
    // Keys have the first new token's place in their first index.
    Expr index = isQuery
                     ? place.rowIndex + params.number(TileArgKind::QueryShift)
                     : place.keyIndex;
    term.value = index + static_cast<int>(law.getOffset());
    return term;
  }
  if (llvm::isa<PositionTensorAttr>(op.getLaw())) {
    term.value = params.positions(op)(isQuery ? place.row : place.key);
    return term;
  }
  return op.emitOpError("has a position law that cannot be generated: ")
         << op.getLaw();
}

FailureOr<TermInput> TermSource::relation(RelationOp op,
                                          const TokenPlace &place) {
  FailureOr<TermInput> query = readIndex(op.getQuery(), place),
                       key = readIndex(op.getKey(), place);
  if (mlir::failed(query) || mlir::failed(key))
    return mlir::failure();
  TermInput term;
  term.dependsOnRow = term.dependsOnKey = true;
  mlir::Attribute law = op.getLaw();
  Expr distance = query->value - key->value;
  auto oriented = [&](Orientation orientation) {
    return orientation == Orientation::query_minus_key ? distance : -distance;
  };
  if (auto difference = llvm::dyn_cast<DifferenceAttr>(law)) {
    term.value = oriented(difference.getOrientation());
  } else if (auto clipped = llvm::dyn_cast<ClippedDistanceAttr>(law)) {
    int limit = static_cast<int>(clipped.getMax());
    term.value =
        clamp(oriented(clipped.getOrientation()), -limit, limit) + limit;
  } else if (auto bucket = llvm::dyn_cast<ThresholdBucketAttr>(law)) {
    Expr reached = 0;
    for (int64_t threshold : bucket.getThresholds().asArrayRef())
      reached = reached + Halide::cast<int>(abs(distance) >=
                                            Halide::cast<uint32_t>(
                                                static_cast<int>(threshold)));
    int offset = static_cast<int>(bucket.getFutureOffset());
    term.value =
        select(distance >= 0, reached, offset < 0 ? Expr(0) : reached + offset);
  } else {
    return op.emitOpError("has a relation law that cannot be generated: ")
           << law;
  }
  return term;
}

FailureOr<TermInput> TermSource::relationMap(RelationMapOp op,
                                             const TokenPlace &place) {
  std::optional<int64_t> extent = getSumExtent(op.getInputs());
  Halide::RDom r;
  if (extent)
    r = Halide::RDom(0, static_cast<int>(*extent), "summed");
  FailureOr<SmallVector<TermInput>> inputs =
      read(op.getInputs(), place, extent ? Expr(r.x) : Expr());
  if (mlir::failed(inputs))
    return mlir::failure();
  TermInput term;
  SmallVector<Expr> arguments;
  for (const TermInput &input : *inputs) {
    term.dependsOnRow |= input.dependsOnRow;
    term.dependsOnKey |= input.dependsOnKey;
    arguments.push_back(Halide::cast<double>(input.value));
  }
  term.value = evaluateRegion(op.getBody(), arguments, Halide::Float(64));
  if (extent)
    term.value = Halide::sum(r, term.value);
  if (std::optional<int64_t> rows = op.getRows())
    term.value =
        clamp(term.value, Halide::Internal::make_const(Halide::Float(64), 0),
              Halide::Internal::make_const(Halide::Float(64), *rows - 1));
  return term;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Expr posenc::roundToInt(Expr value) {
  if (value.type().is_int())
    return value;
  Expr half = Halide::Internal::make_const(value.type(), 0.5);
  return Halide::cast<int>(
      select(value < 0, ceil(value - half), floor(value + half)));
}

/// The row of a dimension that is nearest to a real number.
static Expr clampRow(Expr row, Halide::Internal::Dimension dim) {
  if (row.type().is_float()) {
    Expr low = Halide::cast(row.type(), dim.min()),
         high = Halide::cast(row.type(), dim.max());
    row = max(min(row, high), low);
  }
  return clamp(roundToInt(row), dim.min(), dim.max());
}

FailureOr<TermInput> TermSource::readTable(mlir::Value table,
                                           const TokenPlace &place,
                                           TermInput row, Expr channel) {
  TableType type = llvm::cast<TableType>(table.getType());
  mlir::Operation *op = table.getDefiningOp();
  TermInput term;
  bool hasQuery = type.hasAxis(TableAxis::query),
       hasKey = type.hasAxis(TableAxis::key),
       hasRow = type.hasAxis(TableAxis::row),
       hasChannel = type.hasAxis(TableAxis::channel);
  bool isOfRowsHead = type.hasAxis(TableAxis::head) && place.head.defined();
  term.dependsOnRow = hasQuery || isOfRowsHead || (hasRow && row.dependsOnRow);
  term.dependsOnKey = hasKey || (hasRow && row.dependsOnKey);
  if ((hasRow && !row.value.defined()) || (hasChannel && !channel.defined()))
    return op->emitOpError("has an axis that nothing looks up");

  if (auto map = llvm::dyn_cast<TableMapOp>(op)) {
    Expr index = row.value;
    if (index.type().is_float())
      index = roundToInt(index);
    term.value = evaluateRegion(
        map.getBody(),
        {Halide::cast<double>(index), Halide::cast<double>(channel)},
        Halide::Float(64));
    return term;
  }
  if (!llvm::isa<TableOp, TileLoadTableOp, AtQueryOp>(op))
    return op->emitOpError("cannot be generated as a table");

  TileParams::Table param = params.table(table);
  term.isPairTable = hasQuery && hasKey;
  if (term.isPairTable && !hasRow && !hasChannel) {
    term.value = readPair(param, place);
    return term;
  }
  std::vector<Expr> index;
  for (auto [dim, axis] : llvm::enumerate(param.dims))
    switch (axis) {
    case TableAxis::channel:
      index.push_back(channel);
      break;
    case TableAxis::key:
      index.push_back(place.key);
      break;
    case TableAxis::query:
      index.push_back(place.row);
      break;
    case TableAxis::head:
      index.push_back(place.head);
      break;
    default:
      // Rows beyond the tile's last have distances of their own.
      index.push_back(
          clampRow(row.value, param.buffer.dim(static_cast<int>(dim))));
    }
  if (index.empty())
    index.emplace_back(0);
  if (!param.hasRest) {
    term.value = param.at(index);
    return term;
  }
  auto part = [&](int number) {
    std::vector<Expr> place = index;
    place.emplace_back(number);
    return Halide::cast<double>(param.buffer(place));
  };
  term.value = part(0) + part(1);
  term.isPrecise = true;
  return term;
}

Expr TermSource::readPair(const TileParams::Table &table,
                          const TokenPlace &place) {
  std::vector<Expr> index = {place.key, place.row};
  if (table.dims.back() == TableAxis::head)
    index.push_back(place.head);
  return table.at(index);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

TokenPlace BlockTerms::getPlace(Expr j) const {
  TokenPlace place;
  Expr row = context.validRow(context.i);
  place.row = context.query(row);
  place.rowIndex = context.queryIndex(context.i);
  if (context.shape.hasHeads)
    place.head = context.head(row);
  place.key = keys.validKey(context.t, j);
  place.keyIndex = context.number(TileArgKind::KeyBegin) + place.key;
  // readPair needs the key within its block.
  place.inBlock = j;
  return place;
}

/// A block of the table with rows as lanes.
///
/// Squares of lanes x lanes numbers are transposed in registers. Numbered row
/// by row, the index of a number is a string of bits, column bits last;
/// interleaving the first half of the numbers with the second rotates the
/// string by one bit, and half as many rotations as bits exchange rows and
/// columns. Each is one two-source permutation per vector on AVX-512.
Expr BlockTerms::readPair(const TileParams::Table &table,
                          const TokenPlace &place) {
  Expr j = place.inBlock;
  for (Transposed &copy : transposed)
    if (copy.table.name() == table.buffer.name())
      return fromBits(copy.result(context.i, j, context.t));
  int lanes = static_cast<int>(context.shape.lanes);
  int half = lanes * lanes / 2;
  Var i = context.i, key = context.j, t = context.t;
  Transposed copy;
  copy.table = table.buffer;

  Func square("pair_square");
  copy.isWhole = keys.whole && context.shape.block % lanes == 0;
  Expr squareKey = keys.key(t, copy.keySquare * lanes + copy.element % lanes);
  if (!copy.isWhole)
    squareKey = min(squareKey, keys.end - 1);
  Expr row = context.validRow(copy.rowSquare * lanes + copy.element / lanes);
  TokenPlace pair;
  pair.row = context.query(row);
  pair.key = squareKey;
  pair.head = context.head(row);
  square(copy.element, copy.keySquare, copy.rowSquare, t) =
      TermSource::readPair(table, pair);
  copy.squares.push_back(square);
  for (int bits = lanes; bits > 1; bits /= 2) {
    Func next("pair_square");
    next(copy.element, copy.keySquare, copy.rowSquare, t) =
        copy.squares.back()(copy.element / 2 + copy.element % 2 * half,
                            copy.keySquare, copy.rowSquare, t);
    copy.squares.push_back(next);
  }
  copy.result = Func("pairs");
  copy.result(i, key, t) = toBits(copy.squares.back()(
      key % lanes * lanes + i % lanes, key / lanes, i / lanes, t));
  transposed.push_back(copy);
  return fromBits(copy.result(i, j, t));
}

void BlockTerms::schedule(Func state, Halide::RVar block) {
  int lanes = static_cast<int>(context.shape.lanes);
  Var i = context.i, j = context.j;
  for (Transposed &copy : transposed) {
    Var ii("ii"), ji("ji"), eo("eo"), ei("ei"), odd("odd");
    // A square's rows are whole cache lines of the table; the next square
    // continues them.
    copy.result.compute_at(state, block)
        .store_in(kTileMemory)
        .bound_storage(j, static_cast<int>(llvm::alignTo(
                              context.shape.blockCapacity(), lanes)))
        .tile(i, j, copy.rowSquare, copy.keySquare, ii, ji, lanes, lanes,
              Halide::TailStrategy::RoundUp)
        .reorder(ii, ji, copy.keySquare, copy.rowSquare)
        .vectorize(ii)
        .unroll(ji);
    for (Func square : copy.squares)
      square.compute_at(copy.result, copy.keySquare)
          .bound(copy.element, 0, lanes * lanes);
    copy.squares[0].split(copy.element, eo, ei, lanes);
    // Two strided stores, of even and of odd numbers, are made one dense store.
    for (size_t n = 1; n < copy.squares.size(); ++n)
      copy.squares[n]
          .split(copy.element, eo, odd, 2)
          .split(eo, eo, ei, lanes)
          .reorder(ei, odd, eo)
          .vectorize(ei)
          .unroll(odd)
          .unroll(eo);
    // Whole rows of a square where the table has them; number by number where
    // keys may end or the caller's strides are unusual.
    if (copy.isWhole)
      copy.squares[0]
          .specialize(copy.table.dim(0).stride() == 1)
          .vectorize(ei)
          .unroll(eo);
  }
}
