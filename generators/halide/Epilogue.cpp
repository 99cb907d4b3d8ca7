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
  TileParams::Table sinks = context.params.table(sink.getResult());
  Expr head =
      sinks.dims.empty() ? Expr(0) : context.head(context.validRow(context.i));
  Expr score = Halide::cast<float>(Halide::cast<double>(sinks.at({head})) *
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

namespace {
/// The rows that a caller's buffer has: one index, or one of heads and one of
/// queries.
struct OutputRows {
  explicit OutputRows(const TileContext &context)
      : indices{context.i}, row(context.i) {
    if (!context.shape.hasHeads)
      return;
    Var head("head"), query("query");
    indices = {head, query};
    row = query * static_cast<int>(context.shape.group) + head;
  }

  std::vector<Var> indices;
  Expr row; // of the tile
};

/// The output times a factor of each row, and what else is added to it.
class OutputBuilder {
public:
  OutputBuilder(const TileContext &context, Func state, const RowNumbers &row,
                bool hasRemainder, Storage storage)
      : context(context), shape(context.shape), rows(context), state(state),
        factor(placeNumber("factor", context, row.factor)), storage(storage) {
    if (hasRemainder)
      rest = placeNumber("rest", context, 1.f - row.weights);
  }

  Func build() {
    if (shape.hasChannelLanes())
      return buildFromChannels();
    scaled(i, d) = state(i, d + slots) * factor(i);
    block(d, i) = scaled(i, d);
    if (!shape.hasHeads) {
      // Rows of the last block that are not wanted are not written.
      define(block(d, i));
      transpose(out, Halide::TailStrategy::GuardWithIf);
      return out;
    }
    Func all("output_rows");
    all(d, i) = toBits(block(d, i));
    define(fromBits(all(d, rows.row)));
    all.compute_root()
        .store_in(kTileMemory)
        .bound(d, 0, valueDim)
        .bound(i, 0, static_cast<int>(shape.rows));
    transpose(all, Halide::TailStrategy::RoundUp);
    out.vectorize(d, dividingWidth(valueDim, shape.registerLanes));
    return out;
  }

private:
  Func buildFromChannels() {
    int lanes = static_cast<int>(shape.channelLanes),
        vectors = static_cast<int>(shape.valueVectors());
    define(state(d % lanes, slots + rows.row * vectors + d / lanes) *
           factor(rows.row));
    out.vectorize(d, lanes);
    return out;
  }

  void define(Expr value) {
    if (rest.defined()) {
      Expr query = context.query(context.validRow(rows.row));
      value = value + rest(rows.row) * context.params.element(
                                           TileArgKind::OwnValue, {d, query});
    }
    std::vector<Var> index = rows.indices;
    index.insert(index.begin(), d);
    out(index) = narrow(value, storage);
    out.bound(d, 0, valueDim);
    out.output_buffer().dim(0).set_bounds(0, valueDim);
    for (size_t dim = 1; dim < index.size(); ++dim)
      out.output_buffer().dim(static_cast<int>(dim)).set_min(0);
  }

  /// Back in registers, in square blocks.
  void transpose(Func result, Halide::TailStrategy tail) {
    Var ib("ib"), db("db"), ii("ii"), di("di");
    int height = static_cast<int>(shape.transpose);
    int width = dividingWidth(shape.valueDim, shape.transpose);
    result.tile(d, i, db, ib, di, ii, width, height, tail)
        .vectorize(di)
        .unroll(ii);
    scaled.compute_at(result, db)
        .bound_extent(i, height)
        .vectorize(i, height)
        .unroll(d);
    block.compute_at(result, db)
        .bound_extent(i, height)
        .vectorize(d, width)
        .vectorize(i, height);
  }

  const TileContext &context;
  const TileShape &shape;
  OutputRows rows;
  Func state, factor, rest;
  Storage storage;
  Var i = context.i, d = context.d;
  int slots = static_cast<int>(shape.stateSlots());
  int valueDim = static_cast<int>(shape.valueDim);
  Func scaled{"scaled"}, block{"output_block"}, out{"out"};
};
} // namespace

/// Natural log-sum-exp, a few numbers per tile: in double with the C library.
static Func makeLogSumExp(const TileContext &context, const RowNumbers &row) {
  constexpr double kLn2 = 0.6931471805599453;
  Func ofRow("row_lse"), lse("lse");
  ofRow(context.i) = select(
      row.sum == 0.f, -std::numeric_limits<float>::infinity(),
      Halide::cast<float>(Expr(kLn2) * Halide::cast<double>(row.maximum) +
                          log(Halide::cast<double>(row.sum))));
  OutputRows rows(context);
  lse(rows.indices) = ofRow(rows.row);
  lse.output_buffer().dim(0).set_stride(Expr());
  for (size_t dim = 0; dim < rows.indices.size(); ++dim)
    lse.output_buffer().dim(static_cast<int>(dim)).set_min(0);
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
      OutputBuilder(context, state, row, hasRemainder, storage).build()};
  if (exponentiates(normalize.getKind()))
    outputs.push_back(makeLogSumExp(context, row));
  return outputs;
}
