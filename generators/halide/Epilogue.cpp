// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Epilogue.h"
#include "Numerics.h"
#include "OnlineSoftmax.h"

#include <limits>

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace {
/// What the numbers of a row make of it.
struct RowNumbers {
  /// The output is the state's times this.
  Expr factor;
  /// The sum of the row's weights.
  Expr weights;
  /// Of the exponentials: 2^maximum sum.
  Expr maximum, sum;
};
} // namespace

/// 0 where there is nothing to divide by: the row saw no key.
static Expr invert(Expr sum) { return select(sum == 0.f, 0.f, 1.f / sum); }

/// 2^x where it may be any f32.
static Expr power(Expr x) {
  return Halide::cast<float>(
      exp(Halide::cast<double>(x) * Expr(0.6931471805599453)));
}

/// The sink is one more exponential, of which the output has no share.
static void addSink(RowNumbers &row, TableOp sink, const TileContext &context) {
  Expr score = Halide::cast<float>(
      Halide::cast<double>(context.params.table(sink.getResult()).at({0})) *
      Expr(1.4426950408889634));
  Expr maximum = max(row.maximum, score);
  Expr share = exp2Approx(row.maximum - maximum);
  Expr sum = row.sum * share + exp2Approx(score - maximum);
  row.factor = share * invert(sum);
  row.weights = row.sum * row.factor;
  row.maximum = maximum;
  row.sum = sum;
}

static RowNumbers getRowNumbers(TileNormalizeOp op, const TileContext &context,
                                Func state) {
  Var i = context.i;
  RowNumbers row;
  row.maximum = state(i, int(OnlineSoftmax::Maximum));
  row.sum = state(i, int(OnlineSoftmax::Sum));
  switch (op.getKind()) {
  case NormalizeKind::softmax:
    row.factor = invert(row.sum);
    row.weights = select(row.sum == 0.f, 0.f, 1.f);
    if (op.getSink())
      addSink(row, op.getSink().getDefiningOp<TableOp>(), context);
    return row;
  case NormalizeKind::exp:
    row.factor = select(row.sum == 0.f, 0.f, power(row.maximum));
    row.weights = row.factor * row.sum;
    return row;
  case NormalizeKind::identity:
    row.factor = 1.f;
    row.weights = row.sum;
    return row;
  case NormalizeKind::abs_sum: {
    auto bound = [&](size_t index) {
      return Expr(static_cast<float>((*op.getBounds())[index]));
    };
    row.factor = 1.f / max(min(row.sum, bound(1)), bound(0));
    break;
  }
  case NormalizeKind::linear:
    row.factor = invert(row.sum);
    break;
  }
  row.weights = state(i, int(OnlineSoftmax::WeightSum)) * row.factor;
  return row;
}

/// A number of each row.
static Func placeNumber(const char *name, const TileContext &context,
                        Expr value) {
  Func result(name);
  result(context.i) = value;
  result.compute_root()
      .store_in(kTileMemory)
      .bound(context.i, 0, static_cast<int>(context.shape.rows))
      .vectorize(context.i, static_cast<int>(context.shape.transpose));
  return result;
}

/// The output, transposed back in registers.
static Func makeOutput(const TileContext &context, Func state,
                       const RowNumbers &row, bool hasRemainder,
                       Storage storage) {
  const TileShape &shape = context.shape;
  Var i = context.i, d = context.d;
  Var ib("ib"), db("db"), ii("ii"), di("di");
  Func scaled("scaled"), block("output_block"), out("out");
  int height = static_cast<int>(shape.transpose);
  int width = dividingWidth(shape.valueDim, shape.transpose);
  int slots = static_cast<int>(shape.stateSlots());
  int valueDim = static_cast<int>(shape.valueDim);

  Func factor = placeNumber("factor", context, row.factor);
  scaled(i, d) = state(i, d + slots) * factor(i);
  block(d, i) = scaled(i, d);
  Expr value = block(d, i);
  if (hasRemainder) {
    Func rest = placeNumber("rest", context, 1.f - row.weights);
    value = value + rest(i) * context.params.element(TileArgKind::OwnValue,
                                                     {d, context.validRow()});
  }
  out(d, i) = narrow(value, storage);

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
static Func makeLogSumExp(const TileContext &context, const RowNumbers &row) {
  constexpr double kLn2 = 0.6931471805599453;
  Func lse("lse");
  lse(context.i) = select(
      row.sum == 0.f, -std::numeric_limits<float>::infinity(),
      Halide::cast<float>(Expr(kLn2) * Halide::cast<double>(row.maximum) +
                          log(Halide::cast<double>(row.sum))));
  lse.output_buffer().dim(0).set_min(0).set_stride(Expr());
  return lse;
}

mlir::FailureOr<std::vector<Func>>
posenc::buildEpilogue(EpilogueOp op, const TileContext &context, Func state) {
  TileNormalizeOp normalize;
  bool hasRemainder = false;
  for (mlir::Operation &part : op.getBody().front().without_terminator()) {
    if (auto found = llvm::dyn_cast<TileNormalizeOp>(part))
      normalize = found;
    else if (llvm::isa<TileRemainderOp>(part))
      hasRemainder = true;
    else if (!llvm::isa<TableOp>(part))
      return part.emitOpError("cannot be generated in a posenc.epilogue");
  }
  if (!normalize ||
      (normalize.getSink() && !normalize.getSink().getDefiningOp<TableOp>()))
    return op.emitOpError("expects a posenc.tile.normalize, whose sink is a "
                          "posenc.table");
  RowNumbers row = getRowNumbers(normalize, context, state);
  if (std::optional<llvm::APFloat> dropout = normalize.getDropout())
    row.factor =
        row.factor * static_cast<float>(1 / (1 - dropout->convertToDouble()));
  Storage storage = getStorage(
      op->getParentOfType<PlanOp>().getDtype().value_or(mlir::Type()));
  std::vector<Func> outputs{
      makeOutput(context, state, row, hasRemainder, storage)};
  if (exponentiates(normalize.getKind()))
    outputs.push_back(makeLogSumExp(context, row));
  return outputs;
}
