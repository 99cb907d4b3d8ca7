// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Prologue.h"
#include "Numerics.h"
#include "Rotation.h"
#include "Vectors.h"

#include <map>

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {
/// Vectors have rows as lanes, or channels where the tile has them, and hold
/// bits.
class PrologueBuilder : public VectorBuilder {
public:
  explicit PrologueBuilder(const TileContext &context)
      : VectorBuilder(context.params, context.shape.headDim), context(context),
        shape(context.shape) {}

  /// The vector times `factor`.
  mlir::FailureOr<Func> build(mlir::Value vector, double factor = 1.0);

private:
  /// Rows beyond the tile's last repeat it.
  Expr row() { return context.validRow(i); }
  /// A channel of the row in a buffer.
  std::vector<Expr> inRow(Expr channel) {
    std::vector<Expr> index = context.rowIndex(row());
    index.insert(index.begin(), channel);
    return index;
  }
  mlir::FailureOr<Func> buildNew(mlir::Value vector, double factor);
  /// Where vectors are, as (row, channel).
  Func place(Func vector, int64_t channels);
  /// Of vectors of channels.
  int width(int64_t channels) const {
    return dividingWidth(channels, shape.channelLanes);
  }
  Func load(double factor);
  mlir::FailureOr<Func> loadFactors(TileVectorOp op, double factor);
  Func transpose(Func rows, int64_t channels);
  Func getAngles(TileRotateOp op);
  Func rotate(Func query, TileRotateOp op);

  Expr read(Func vector, Expr channel) override {
    return fromBits(vector(i, channel));
  }
  Func define(const std::string &name,
              llvm::function_ref<Expr(Var)> value) override;
  Func defineNumber(const std::string &name, Expr value) override;
  Func defineSum(const std::string &name, int64_t outer, int64_t channels,
                 llvm::function_ref<Expr(Expr, Expr)> value) override;
  Expr getNumber(Func number) override { return number(i); }
  TokenPlace getPlace() override;
  TileArgKind getAllHeads() override { return TileArgKind::AllQueries; }
  Expr getToken() override { return context.query(row()); }

  const TileContext &context;
  const TileShape &shape;
  Var i{"i"}, d{"d"};
  std::map<std::pair<void *, double>, Func> built;
  std::map<std::string, Func> angles;
};
} // namespace

TokenPlace PrologueBuilder::getPlace() {
  TokenPlace place;
  place.row = context.query(row());
  place.rowIndex = context.queryIndex(i);
  if (shape.hasHeads)
    place.head = context.head(row());
  return place;
}

Func PrologueBuilder::place(Func vector, int64_t channels) {
  vector.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, static_cast<int>(shape.rows))
      .bound(d, 0, static_cast<int>(channels));
  if (shape.hasChannelLanes())
    vector.reorder_storage(d, i);
  return vector;
}

Func PrologueBuilder::define(const std::string &name,
                             llvm::function_ref<Expr(Var)> value) {
  Func result(name);
  result(i, d) = toBits(value(d));
  place(result, shape.headDim);
  if (shape.hasChannelLanes())
    result.reorder(d, i).vectorize(d, width(shape.headDim));
  else
    result.vectorize(i, static_cast<int>(shape.lanes));
  return result;
}

Func PrologueBuilder::defineNumber(const std::string &name, Expr value) {
  Func result(name);
  result(i) = value;
  result.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, static_cast<int>(shape.rows))
      .vectorize(i, static_cast<int>(shape.lanes));
  return result;
}

Func PrologueBuilder::defineSum(const std::string &name, int64_t outer,
                                int64_t channels,
                                llvm::function_ref<Expr(Expr, Expr)> value) {
  Func result(name);
  RDom r(0, static_cast<int>(channels), 0, static_cast<int>(outer), "summed");
  int lanes = static_cast<int>(shape.lanes);
  result(i) = Halide::cast<double>(0);
  result(i) += value(r.y, r.x);
  result.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, static_cast<int>(shape.rows))
      .vectorize(i, lanes)
      .update()
      .reorder(i, r.x, r.y)
      .vectorize(i, lanes);
  return result;
}

/// (channel, row) -> (row, channel) through registers in square blocks; a
/// strided vector load would be a sequence of scalar ones.
Func PrologueBuilder::transpose(Func rows, int64_t channels) {
  Func block("transposed_block"), result("transposed");
  if (shape.hasChannelLanes()) {
    result(i, d) = toBits(rows(d, i));
    place(result, channels).reorder(d, i).vectorize(d, width(channels));
    return result;
  }
  Var ib("ib"), db("db"), ii("ii"), di("di");
  int height = static_cast<int>(shape.transpose);
  int length = dividingWidth(channels, shape.transpose);
  block(i, d) = rows(d, i);
  result(i, d) = toBits(block(i, d));
  place(result, channels)
      .tile(i, d, ib, db, ii, di, height, length)
      .vectorize(ii)
      .unroll(di);
  rows.compute_at(result, ib).vectorize(d, length).unroll(i);
  block.compute_at(result, ib).vectorize(i, height).vectorize(d, length);
  return result;
}

/// A tile's rows of a table, whatever vectors they turn.
Func PrologueBuilder::getAngles(TileRotateOp op) {
  Func &result = angles[op.getTable().str()];
  if (result.defined())
    return result;
  Func rows("angle_rows");
  rows(d, i) = params.buffer(TileArgKind::Angles, op.getTable())(inRow(d));
  result = transpose(rows, op.getDims());
  return result;
}

/// The angles are transposed like the queries: then pairs of either pairing are
/// two vectors, and nothing moves between lanes.
Func PrologueBuilder::rotate(Func query, TileRotateOp op) {
  RotatedPairs pairs(op);
  int count = static_cast<int>(pairs.pairs);
  int lanes = static_cast<int>(shape.lanes);
  Func angles = getAngles(op);

  Func result("rotated");
  int updates = 0;
  result(i, d) = Halide::undef<int32_t>();
  auto copy = [&](int64_t begin, int64_t end) {
    if (begin >= end)
      return;
    RDom r(static_cast<int>(begin), static_cast<int>(end - begin), "copied");
    result(i, r) = query(i, r);
    Halide::Stage stage = result.update(updates++);
    if (shape.hasChannelLanes())
      stage.reorder(r, i).vectorize(r, width(end - begin));
    else
      stage.reorder(i, r).vectorize(i, lanes).unroll(i);
  };
  copy(0, pairs.first);
  copy(pairs.first + 2 * pairs.pairs, shape.headDim);

  RDom r(0, 2, 0, count, "pair");
  result(i, pairs.channel(r.y, r.x)) = toBits(
      rotated(fromBits(query(i, pairs.channel(r.y, 0))),
              fromBits(query(i, pairs.channel(r.y, 1))),
              fromBits(angles(i, r.y)), fromBits(angles(i, r.y + count)), r.x));
  // Both channels of a pair are stored together: with interleaved pairing of
  // channels as lanes that makes one dense store of two strided ones.
  Halide::Stage stage = result.update(updates);
  stage.allow_race_conditions();
  if (shape.hasChannelLanes())
    stage.reorder(r.x, r.y, i).vectorize(r.y, width(count)).unroll(r.x);
  else
    stage.reorder(r.x, i, r.y).vectorize(i, lanes).unroll(r.x);
  place(result, shape.headDim);
  return result;
}

Func PrologueBuilder::load(double factor) {
  Func rows("query_rows");
  rows(d, i) = params.element(TileArgKind::Query, inRow(d)) *
               Expr(static_cast<float>(factor));
  return transpose(rows, shape.headDim);
}

mlir::FailureOr<Func> PrologueBuilder::loadFactors(TileVectorOp op,
                                                   double factor) {
  mlir::FailureOr<Expr> value = readFactors(op, d);
  if (mlir::failed(value))
    return mlir::failure();
  Func rows("factor_rows");
  rows(d, i) = *value * Expr(static_cast<float>(factor));
  return transpose(rows, shape.headDim);
}

/// Whether nothing but rotations and scales lies before the vector: factors
/// are then applied where the queries are read.
static bool isLinear(mlir::Value vector) {
  while (mlir::Operation *op = vector.getDefiningOp()) {
    if (!llvm::isa<TileRotateOp, TileScaleOp>(op))
      return false;
    vector = op->getOperand(0);
  }
  return true;
}

mlir::FailureOr<Func> PrologueBuilder::build(mlir::Value vector,
                                             double factor) {
  auto [place, isNew] =
      built.try_emplace({vector.getAsOpaquePointer(), factor});
  if (!isNew)
    return place->second;
  mlir::FailureOr<Func> result = buildNew(vector, factor);
  if (mlir::succeeded(result))
    built[{vector.getAsOpaquePointer(), factor}] = *result;
  return result;
}

mlir::FailureOr<Func> PrologueBuilder::buildNew(mlir::Value vector,
                                                double factor) {
  mlir::Operation *op = vector.getDefiningOp();
  if (!op)
    return load(factor);
  if (auto factors = llvm::dyn_cast<TileVectorOp>(op))
    return loadFactors(factors, factor);
  if (auto scale = llvm::dyn_cast<TileScaleOp>(op))
    return build(scale.getInput(),
                 factor * scale.getFactor().convertToDouble());
  if (auto rotation = llvm::dyn_cast<TileRotateOp>(op);
      rotation && isLinear(vector)) {
    mlir::FailureOr<Func> input = build(rotation.getInput(), factor);
    if (mlir::failed(input))
      return mlir::failure();
    return rotate(*input, rotation);
  }
  if (factor != 1.0) {
    mlir::FailureOr<Func> unscaled = build(vector);
    if (mlir::failed(unscaled))
      return mlir::failure();
    return define("scaled_queries", [&](Var d) {
      return read(*unscaled, d) * Expr(static_cast<float>(factor));
    });
  }
  mlir::FailureOr<Func> input = build(op->getOperand(0));
  if (mlir::failed(input))
    return mlir::failure();
  if (auto rotation = llvm::dyn_cast<TileRotateOp>(op))
    return rotate(*input, rotation);
  return apply(op, *input);
}

mlir::FailureOr<std::vector<Func>>
posenc::buildPrologue(PrologueOp op, const TileContext &context) {
  PrologueBuilder builder(context);
  std::vector<Func> results;
  for (mlir::Value query :
       op.getBody().front().getTerminator()->getOperands()) {
    mlir::FailureOr<Func> result = builder.build(query);
    if (mlir::failed(result))
      return mlir::failure();
    results.push_back(*result);
  }
  return results;
}

std::vector<QueryPairs> posenc::buildQueryPairs(PrologueOp op,
                                                const TileContext &context) {
  const TileShape &shape = context.shape;
  Var p("p"), i("i"), c("c");
  Func bits("query_pairs");
  bits(p, i, c) = context.params.stored(
      TileArgKind::Query, {2 * c + p, context.query(context.validRow(i))});
  bits.compute_root()
      .store_in(kTileMemory)
      .bound(p, 0, 2)
      .bound(i, 0, static_cast<int>(shape.rows))
      .bound(c, 0, static_cast<int>(shape.headDim) / 2)
      .vectorize(p)
      .unroll(i, 4);
  std::vector<QueryPairs> results;
  for (mlir::Value query :
       op.getBody().front().getTerminator()->getOperands()) {
    QueryPairs &pairs = results.emplace_back();
    if (std::optional<double> factor = getStoredFactor(query)) {
      pairs.bits = bits;
      pairs.factor = *factor;
    }
  }
  return results;
}
