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

/// A block of the table with rows as lanes, copied through registers.
Expr TermReader::pairTable(Halide::ImageParam table, Expr j) {
  for (Transposed &copy : transposed)
    if (copy.table == table.name())
      return fromBits(copy.result(context.i, j, context.t));
  Transposed copy;
  copy.table = table.name();
  copy.rows = Func("pair_rows");
  copy.block = Func("pair_block");
  copy.result = Func("pairs");
  Var i = context.i, key = context.j, t = context.t;
  copy.rows(key, i, t) = table(keys.validKey(t, key), context.validRow());
  copy.block(i, key, t) = copy.rows(key, i, t);
  copy.result(i, key, t) = toBits(copy.block(i, key, t));
  transposed.push_back(copy);
  return fromBits(copy.result(i, j, t));
}

void TermReader::schedule(Func state, Halide::RVar block) {
  int height = static_cast<int>(context.shape.transpose);
  int width = static_cast<int>(context.shape.keys);
  width = std::min(width, 4);
  for (Transposed &copy : transposed) {
    Var i = context.i, j = context.j;
    Var ib("ib"), jb("jb"), ii("ii"), ji("ji");
    copy.result.compute_at(state, block)
        .store_in(kTileMemory)
        .bound_storage(j, static_cast<int>(context.shape.blockCapacity()))
        .tile(i, j, ib, jb, ii, ji, height, width,
              Halide::TailStrategy::RoundUp)
        .vectorize(ii)
        .unroll(ji);
    copy.rows.compute_at(copy.result, ib)
        .bound_extent(j, width)
        .vectorize(j, width)
        .unroll(i);
    copy.block.compute_at(copy.result, ib)
        .bound_extent(j, width)
        .vectorize(i, height)
        .vectorize(j, width);
  }
}
