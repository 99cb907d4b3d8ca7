// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyTransform.h"
#include "Numerics.h"
#include "Rotation.h"

using namespace posenc;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

/// The keys after one rotation; each row is computed in one go before the next
/// operation looks at it.
static Func rotate(Func keys, TileRotateOp op, Halide::ImageParam angles,
                   int64_t headDim, int64_t lanes, Var d, Var j) {
  RotatedPairs pairs(op);
  int count = static_cast<int>(pairs.pairs);
  Func result("rotated");
  int updates = 0;
  result(d, j) = Halide::undef<float>();
  auto copy = [&](int64_t begin, int64_t end) {
    if (begin >= end)
      return;
    RDom r(static_cast<int>(begin), static_cast<int>(end - begin), "copied");
    result(r, j) = keys(r, j);
    result.update(updates++).vectorize(r, dividingWidth(end - begin, lanes));
  };
  copy(0, pairs.first);
  copy(pairs.first + 2 * pairs.pairs, headDim);

  // Both channels of a pair are stored together: with interleaved pairing that
  // makes one dense store of two strided ones.
  RDom r(0, 2, 0, count, "pair");
  result(pairs.channel(r.y, r.x), j) =
      rotated(keys(pairs.channel(r.y, 0), j), keys(pairs.channel(r.y, 1), j),
              angles(r.y, j), angles(r.y + count, j), r.x);
  result.update(updates)
      .allow_race_conditions()
      .reorder(r.x, r.y, j)
      .vectorize(r.y, dividingWidth(count, lanes))
      .unroll(r.x);
  return result;
}

mlir::FailureOr<Halide::Pipeline>
posenc::buildKeyTransform(PlanOp plan, const TileParams &params,
                          int64_t lanes) {
  Var d("d"), j("j");
  int64_t headDim = plan.getHeadDim();
  Func keys("key_rows"), out("keys");
  keys(d, j) = params.buffer(TileArgKind::Key)(d, j);
  for (mlir::Operation &part :
       plan.getKeysOp().getBody().front().without_terminator()) {
    auto rotation = llvm::dyn_cast<TileRotateOp>(part);
    if (!rotation)
      return part.emitOpError("cannot be generated in posenc.keys");
    keys = rotate(keys, rotation,
                  params.buffer(TileArgKind::Angles, rotation.getTable()),
                  headDim, lanes, d, j);
    keys.compute_at(out, j)
        .store_in(kTileMemory)
        .bound(d, 0, static_cast<int>(headDim));
  }
  out(d, j) = keys(d, j);
  out.bound(d, 0, static_cast<int>(headDim))
      .vectorize(d, dividingWidth(headDim, lanes));
  out.output_buffer().dim(0).set_bounds(0, static_cast<int>(headDim));
  out.output_buffer().dim(1).set_min(0);
  return Halide::Pipeline(out);
}
