// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Epilogue.h"
#include "Numerics.h"
#include "OnlineSoftmax.h"

#include <limits>

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

/// out = o / l, transposed back in registers; 0 for rows that saw no key.
static Func makeOutput(const TileContext &context, Func state) {
  const TileShape &shape = context.shape;
  Var i = context.i, d = context.d;
  Var ib("ib"), db("db"), ii("ii"), di("di");
  Func inverse("inverse"), scaled("scaled"), block("output_block"), out("out");
  int height = static_cast<int>(shape.transpose);
  int width = dividingWidth(shape.valueDim, shape.transpose);
  int slots = static_cast<int>(shape.stateSlots());
  int valueDim = static_cast<int>(shape.valueDim);

  Expr sum = state(i, int(OnlineSoftmax::Sum));
  inverse(i) = select(sum == 0.f, 0.f, 1.f / sum);
  scaled(i, d) = state(i, d + slots) * inverse(i);
  block(d, i) = scaled(i, d);
  out(d, i) = block(d, i);

  inverse.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, static_cast<int>(shape.rows))
      .vectorize(i, height);
  // Rows of the last block that are not wanted are not written.
  out.bound(d, 0, valueDim)
      .tile(d, i, db, ib, di, ii, width, height,
            Halide::TailStrategy::GuardWithIf)
      .vectorize(di)
      .unroll(ii);
  scaled.compute_at(out, db)
      .bound_extent(i, height)
      .vectorize(i, height)
      .unroll(d);
  block.compute_at(out, db)
      .bound_extent(i, height)
      .vectorize(d, width)
      .vectorize(i, height);
  out.output_buffer().dim(0).set_bounds(0, valueDim);
  out.output_buffer().dim(1).set_min(0);
  return out;
}

/// Natural log-sum-exp, a few numbers per tile: in double with the C library.
static Func makeLogSumExp(const TileContext &context, Func state) {
  constexpr double kLn2 = 0.6931471805599453;
  Var i = context.i;
  Func lse("lse");
  Expr sum = state(i, int(OnlineSoftmax::Sum));
  Expr maximum = Halide::cast<double>(state(i, int(OnlineSoftmax::Maximum)));
  lse(i) = select(sum == 0.f, -std::numeric_limits<float>::infinity(),
                  Halide::cast<float>(Expr(kLn2) * maximum +
                                      log(Halide::cast<double>(sum))));
  lse.output_buffer().dim(0).set_min(0).set_stride(Expr());
  return lse;
}

mlir::FailureOr<EpilogueFuncs>
posenc::buildEpilogue(EpilogueOp op, const TileContext &context, Func state) {
  for (mlir::Operation &part : op.getBody().front().without_terminator()) {
    auto normalize = llvm::dyn_cast<TileNormalizeOp>(part);
    if (!normalize || normalize.getKind() != NormalizeKind::softmax)
      return part.emitOpError("cannot be generated in a posenc.epilogue");
  }
  return EpilogueFuncs{makeOutput(context, state),
                       makeLogSumExp(context, state)};
}
