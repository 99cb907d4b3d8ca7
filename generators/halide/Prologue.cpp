// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Prologue.h"
#include "Numerics.h"
#include "Rotation.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {
class PrologueBuilder {
public:
  PrologueBuilder(const TileShape &shape, const TileParams &params)
      : shape(shape), params(params) {}

  mlir::FailureOr<Func> build(PrologueOp op);

private:
  /// Rows beyond the tile's last repeat it.
  Expr row() { return clamp(i, 0, params.number(TileArgKind::Rows) - 1); }
  Func transpose(Func rows, int64_t channels);
  Func rotate(Func query, TileRotateOp op);

  const TileShape &shape;
  const TileParams &params;
  Var i{"i"}, d{"d"};
};
} // namespace

/// (channel, row) -> (row, channel) through registers in square blocks; a
/// strided vector load would be a sequence of scalar ones.
Func PrologueBuilder::transpose(Func rows, int64_t channels) {
  Func block("transposed_block"), result("transposed");
  Var ib("ib"), db("db"), ii("ii"), di("di");
  int height = static_cast<int>(shape.transpose);
  int width = dividingWidth(channels, shape.transpose);
  block(i, d) = rows(d, i);
  result(i, d) = toBits(block(i, d));
  result.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, static_cast<int>(shape.rows))
      .bound(d, 0, static_cast<int>(channels))
      .tile(i, d, ib, db, ii, di, height, width)
      .vectorize(ii)
      .unroll(di);
  rows.compute_at(result, ib).vectorize(d, width).unroll(i);
  block.compute_at(result, ib).vectorize(i, height).vectorize(d, width);
  return result;
}

/// The angles are transposed like the queries: then pairs of either pairing are
/// two vectors, and nothing moves between lanes.
Func PrologueBuilder::rotate(Func query, TileRotateOp op) {
  RotatedPairs pairs(op);
  int count = static_cast<int>(pairs.pairs);
  int lanes = static_cast<int>(shape.lanes);

  Func rows("angle_rows");
  rows(d, i) = params.buffer(TileArgKind::Angles, op.getTable())(d, row());
  Func angles = transpose(rows, 2 * pairs.pairs);

  Func result("rotated");
  int updates = 0;
  result(i, d) = Halide::undef<int32_t>();
  auto copy = [&](int64_t begin, int64_t end) {
    if (begin >= end)
      return;
    RDom r(static_cast<int>(begin), static_cast<int>(end - begin), "copied");
    result(i, r) = query(i, r);
    result.update(updates++).reorder(i, r).vectorize(i, lanes).unroll(i);
  };
  copy(0, pairs.first);
  copy(pairs.first + 2 * pairs.pairs, shape.headDim);

  RDom r(0, 2, 0, count, "pair");
  result(i, pairs.channel(r.y, r.x)) = toBits(
      rotated(fromBits(query(i, pairs.channel(r.y, 0))),
              fromBits(query(i, pairs.channel(r.y, 1))),
              fromBits(angles(i, r.y)), fromBits(angles(i, r.y + count)), r.x));
  result.update(updates)
      .allow_race_conditions()
      .reorder(r.x, i, r.y)
      .vectorize(i, lanes)
      .unroll(r.x);
  result.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, static_cast<int>(shape.rows))
      .bound(d, 0, static_cast<int>(shape.headDim));
  return result;
}

mlir::FailureOr<Func> PrologueBuilder::build(PrologueOp op) {
  // Rotations are linear: all factors are applied where the queries are read.
  double scale = 1.0;
  llvm::SmallVector<TileRotateOp> rotations;
  for (mlir::Operation &part : op.getBody().front().without_terminator()) {
    if (auto factor = llvm::dyn_cast<TileScaleOp>(part))
      scale *= factor.getFactor().convertToDouble();
    else if (auto rotation = llvm::dyn_cast<TileRotateOp>(part))
      rotations.push_back(rotation);
    else
      return part.emitOpError("cannot be generated in a posenc.prologue");
  }

  Func rows("query_rows");
  rows(d, i) = params.buffer(TileArgKind::Query)(d, row()) *
               Expr(static_cast<float>(scale));
  Func query = transpose(rows, shape.headDim);
  for (TileRotateOp rotation : rotations)
    query = rotate(query, rotation);
  return query;
}

mlir::FailureOr<Func> posenc::buildPrologue(PrologueOp op,
                                            const TileShape &shape,
                                            const TileParams &params) {
  return PrologueBuilder(shape, params).build(op);
}
