// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Terms.h"
#include "Numerics.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::Var;
using llvm::SmallVector;
using mlir::FailureOr;

FailureOr<SmallVector<TermInput>> TermReader::read(mlir::ValueRange inputs,
                                                   Expr j) {
  SmallVector<TermInput> result;
  Expr lastRelation; // what a table's row axis is looked up by
  bool rowDependent = false, keyDependent = false;
  for (mlir::Value input : inputs) {
    FailureOr<TermInput> term = readOne(input, lastRelation, j);
    if (mlir::failed(term))
      return mlir::failure();
    if (llvm::isa<RelationType>(input.getType())) {
      lastRelation = term->value;
      rowDependent = term->dependsOnRow;
      keyDependent = term->dependsOnKey;
    } else if (auto type = llvm::dyn_cast<TableType>(input.getType());
               type && type.hasAxis(TableAxis::row)) {
      term->dependsOnRow |= rowDependent;
      term->dependsOnKey |= keyDependent;
    }
    result.push_back(*term);
  }
  return result;
}

FailureOr<TermInput> TermReader::readOne(mlir::Value input, Expr lastRelation,
                                         Expr j) {
  mlir::Operation *op = input.getDefiningOp();
  if (auto positionOp = llvm::dyn_cast_or_null<PositionOp>(op))
    return position(positionOp, j);
  if (auto relationOp = llvm::dyn_cast_or_null<RelationOp>(op))
    return relation(relationOp, j);
  if (auto tableOp = llvm::dyn_cast_or_null<TableOp>(op))
    return table(tableOp, lastRelation, j);
  return mlir::emitError(input.getLoc(),
                         "this input of a term cannot be generated");
}

FailureOr<TermInput> TermReader::position(PositionOp op, Expr j) {
  TermInput term;
  bool isQuery = op.getSide() == Side::query;
  term.dependsOnRow = isQuery;
  term.dependsOnKey = !isQuery;
  if (auto law = llvm::dyn_cast<IotaAttr>(op.getLaw())) {
    Expr index = isQuery ? context.number(TileArgKind::QueryBegin) + context.i +
                               context.number(TileArgKind::QueryShift)
                         : context.number(TileArgKind::KeyBegin) +
                               keys.validKey(context.t, j);
    term.value = index + static_cast<int>(law.getOffset());
    return term;
  }
  if (auto law = llvm::dyn_cast<PositionTensorAttr>(op.getLaw())) {
    term.value =
        isQuery
            ? context.params.buffer(TileArgKind::QueryPositions,
                                    law.getName())(context.validRow())
            : context.params.buffer(TileArgKind::KeyPositions,
                                    law.getName())(keys.validKey(context.t, j));
    return term;
  }
  return op.emitOpError("has a position law that cannot be generated: ")
         << op.getLaw();
}

FailureOr<TermInput> TermReader::relation(RelationOp op, Expr j) {
  auto side = [&](mlir::Value value) -> FailureOr<TermInput> {
    if (auto positionOp = value.getDefiningOp<PositionOp>())
      return position(positionOp, j);
    return op.emitOpError("expects positions made by posenc.position");
  };
  FailureOr<TermInput> query = side(op.getQuery()), key = side(op.getKey());
  if (mlir::failed(query) || mlir::failed(key))
    return mlir::failure();
  Expr distance = query->value - key->value;
  auto oriented = [&](Orientation orientation) {
    return orientation == Orientation::query_minus_key ? distance : -distance;
  };

  TermInput term;
  term.dependsOnRow = term.dependsOnKey = true;
  mlir::Attribute law = op.getLaw();
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

FailureOr<TermInput> TermReader::table(TableOp op, Expr lastRelation, Expr j) {
  Halide::ImageParam buffer = context.params.table(op);
  TableType type = op.getResult().getType();
  TermInput term;
  bool hasQuery = type.hasAxis(TableAxis::query),
       hasKey = type.hasAxis(TableAxis::key),
       hasRow = type.hasAxis(TableAxis::row);
  term.dependsOnRow = hasQuery;
  term.dependsOnKey = hasKey;
  if (hasRow && !lastRelation.defined())
    return op.emitOpError("has a row axis but no relation before it");
  if (hasQuery && hasKey && !hasRow) {
    term.isPairTable = true;
    term.value = pairTable(buffer, j);
    return term;
  }
  // In the order of TileArg::dims.
  std::vector<Expr> index;
  if (hasKey)
    index.push_back(keys.validKey(context.t, j));
  if (hasQuery)
    index.push_back(context.validRow());
  if (hasRow) {
    // Rows beyond the tile's last have distances of their own.
    Expr rows = buffer.dim(static_cast<int>(index.size())).extent();
    index.push_back(clamp(lastRelation, 0, rows - 1));
  }
  if (index.empty())
    index.emplace_back(0);
  term.value = buffer(index);
  return term;
}

/// A block of the table with rows as lanes.
///
/// Squares of lanes x lanes numbers are transposed in registers. Numbered row
/// by row, the index of a number is a string of bits, column bits last;
/// interleaving the first half of the numbers with the second rotates the
/// string by one bit, and half as many rotations as bits exchange rows and
/// columns. Each is one two-source permutation per vector on AVX-512.
Expr TermReader::pairTable(Halide::ImageParam table, Expr j) {
  for (Transposed &copy : transposed)
    if (copy.table.name() == table.name())
      return fromBits(copy.result(context.i, j, context.t));
  int lanes = static_cast<int>(context.shape.lanes);
  int half = lanes * lanes / 2;
  Var i = context.i, key = context.j, t = context.t;
  Transposed copy;
  copy.table = table;

  Func square("pair_square");
  copy.isWhole = keys.whole && context.shape.block % lanes == 0;
  Expr squareKey = keys.key(t, copy.keySquare * lanes + copy.element % lanes);
  if (!copy.isWhole)
    squareKey = min(squareKey, keys.end - 1);
  Expr row = copy.rowSquare * lanes + copy.element / lanes;
  square(copy.element, copy.keySquare, copy.rowSquare, t) =
      table(squareKey, clamp(row, 0, context.number(TileArgKind::Rows) - 1));
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

void TermReader::schedule(Func state, Halide::RVar block) {
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
