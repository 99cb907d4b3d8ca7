// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyTransform.h"
#include "Numerics.h"
#include "Rotation.h"
#include "Vectors.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {
/// One result of posenc.keys. Channels are lanes; each row is computed in one
/// go before the next operation looks at it.
class KeyBuilder : public VectorBuilder {
public:
  KeyBuilder(const TileParams &params, const TransformedKeys &keys)
      : VectorBuilder(params, keys.headDim), keys(keys) {}

  mlir::FailureOr<Func> build(mlir::Value vector);

private:
  Func place(Func vector);
  Func rotate(Func keys, TileRotateOp op);

  /// The variables of a token, behind what comes first.
  template <typename T>
  std::vector<T> ofToken(T first) {
    std::vector<T> index{first};
    index.insert(index.end(), keys.token.begin(), keys.token.end());
    return index;
  }
  std::vector<Expr> token() {
    return std::vector<Expr>(keys.token.begin(), keys.token.end());
  }

  Expr read(Func vector, Expr channel) override {
    return vector(ofToken(channel));
  }
  Func define(const std::string &name,
              llvm::function_ref<Expr(Var)> value) override;
  Func defineNumber(const std::string &name, Expr value) override;
  Func defineSum(const std::string &name, int64_t outer, int64_t channels,
                 llvm::function_ref<Expr(Expr, Expr)> value) override;
  Expr getNumber(Func number) override { return number(token()); }
  TokenPlace getPlace() override;
  TileArgKind getAllHeads() override { return TileArgKind::AllKeys; }
  Expr getToken() override { return keys.key; }

  const TransformedKeys &keys;
  Var d{"d"};
  llvm::DenseMap<mlir::Value, Func> built;
};
} // namespace

TokenPlace KeyBuilder::getPlace() {
  TokenPlace place;
  place.key = keys.key;
  if (params.has(TileArgKind::KeyBegin))
    place.keyIndex = params.number(TileArgKind::KeyBegin) + keys.key;
  return place;
}

Func KeyBuilder::place(Func vector) {
  return vector.compute_at(keys.out, keys.token.front())
      .store_in(kTileMemory)
      .bound(d, 0, static_cast<int>(headDim));
}

Func KeyBuilder::define(const std::string &name,
                        llvm::function_ref<Expr(Var)> value) {
  Func result(name);
  result(ofToken(d)) = value(d);
  place(result).vectorize(d, dividingWidth(headDim, keys.lanes));
  return result;
}

Func KeyBuilder::defineNumber(const std::string &name, Expr value) {
  Func result(name);
  result(keys.token) = value;
  result.compute_at(keys.out, keys.token.front()).store_in(kTileMemory);
  return result;
}

Func KeyBuilder::defineSum(const std::string &name, int64_t outer,
                           int64_t channels,
                           llvm::function_ref<Expr(Expr, Expr)> value) {
  Func partial("partial_sums"), result(name);
  Var lane("lane");
  int width = dividingWidth(channels, keys.lanes);
  RDom r(0, static_cast<int>(channels) / width, 0, static_cast<int>(outer),
         "summed");
  partial(ofToken(lane)) = Halide::cast<double>(0);
  partial(ofToken(lane)) += value(r.y, r.x * width + lane);
  partial.compute_at(keys.out, keys.token.front())
      .store_in(kTileMemory)
      .bound(lane, 0, width)
      .vectorize(lane, width)
      .update()
      .reorder(lane, r.x, r.y)
      .vectorize(lane, width);
  std::vector<Expr> parts;
  for (int n = 0; n < width; ++n)
    parts.push_back(partial(ofToken(Expr(n))));
  result(keys.token) = treeSum(parts);
  result.compute_at(keys.out, keys.token.front()).store_in(kTileMemory);
  return result;
}

Func KeyBuilder::rotate(Func vectors, TileRotateOp op) {
  Halide::ImageParam angles = params.buffer(keys.angles, op.getTable());
  RotatedPairs pairs(op);
  int count = static_cast<int>(pairs.pairs);
  Func result("rotated");
  int updates = 0;
  result(ofToken(d)) = Halide::undef<float>();
  auto copy = [&](int64_t begin, int64_t end) {
    if (begin >= end)
      return;
    RDom r(static_cast<int>(begin), static_cast<int>(end - begin), "copied");
    result(ofToken(Expr(r.x))) = vectors(ofToken(Expr(r.x)));
    result.update(updates++).vectorize(r.x,
                                       dividingWidth(end - begin, keys.lanes));
  };
  copy(0, pairs.first);
  copy(pairs.first + 2 * pairs.pairs, headDim);

  // Both channels of a pair are stored together: with interleaved pairing that
  // makes one dense store of two strided ones.
  RDom r(0, 2, 0, count, "pair");
  result(ofToken(pairs.channel(r.y, r.x))) =
      rotated(vectors(ofToken(pairs.channel(r.y, 0))),
              vectors(ofToken(pairs.channel(r.y, 1))), angles(r.y, keys.key),
              angles(r.y + count, keys.key), r.x);
  result.update(updates)
      .allow_race_conditions()
      .reorder(r.x, r.y)
      .vectorize(r.y, dividingWidth(count, keys.lanes))
      .unroll(r.x);
  place(result);
  return result;
}

mlir::FailureOr<Func> KeyBuilder::build(mlir::Value vector) {
  if (Func found = built.lookup(vector); found.defined())
    return found;
  mlir::FailureOr<Func> result;
  if (auto factors = vector.getDefiningOp<TileVectorOp>()) {
    mlir::FailureOr<Expr> value = readFactors(factors, d);
    if (mlir::failed(value))
      return mlir::failure();
    result = define("factor_rows", [&](Var) { return *value; });
  } else if (mlir::Operation *op = vector.getDefiningOp()) {
    mlir::FailureOr<Func> input = build(op->getOperand(0));
    if (mlir::failed(input))
      return mlir::failure();
    if (auto rotation = llvm::dyn_cast<TileRotateOp>(op))
      result = rotate(*input, rotation);
    else
      result = apply(op, *input);
    if (mlir::failed(result))
      return mlir::failure();
  } else {
    Func rows("key_rows");
    rows(ofToken(d)) = params.element(TileArgKind::Key, {d, keys.key});
    result = rows;
  }
  built[vector] = *result;
  return result;
}

mlir::FailureOr<Expr> posenc::transformKey(mlir::Value vector, Var channel,
                                           const TileParams &params,
                                           const TransformedKeys &keys) {
  mlir::FailureOr<Func> result = KeyBuilder(params, keys).build(vector);
  if (mlir::failed(result))
    return mlir::failure();
  std::vector<Var> index{channel};
  index.insert(index.end(), keys.token.begin(), keys.token.end());
  return Expr((*result)(index));
}

/// Rows of whole vectors of the caller's memory, one after another.
static void placeRows(Func out, Var d, Var j, int64_t numbers) {
  out.bound(d, 0, static_cast<int>(numbers));
  out.output_buffer().dim(0).set_bounds(0, static_cast<int>(numbers));
  out.output_buffer().dim(1).set_min(0);
}

/// The numbers of each key's value beside those of the next one: two rows are
/// read as vectors, and their numbers alternate in registers.
static Func pairValues(PlanOp plan, const TileParams &params, int64_t lanes) {
  Var d("d"), j("j"), number("number"), outer("outer"), inner("inner");
  bool isIndirect = params.has(TileArgKind::ValueRows);
  Expr last = isIndirect ? params.buffer(TileArgKind::ValueRows).dim(0).max()
                         : params.buffer(TileArgKind::Value).dim(1).max();
  Func rows("value_rows"), out("value_pairs");
  rows(d, number, j) =
      params.stored(TileArgKind::Value, {d, min(j + number, last)});
  out(d, j) = rows(d / 2, d % 2, j);
  int width = dividingWidth(plan.getValueDim(), 2 * lanes);
  placeRows(out, d, j, 2 * plan.getValueDim());
  out.split(d, outer, inner, 2 * width).vectorize(inner);
  rows.compute_at(out, outer)
      .bound_extent(d, width)
      .bound(number, 0, 2)
      .vectorize(d, width)
      .unroll(number);
  return out;
}

/// The results of posenc.keys that are not the keys themselves.
static mlir::LogicalResult transformKeys(PlanOp plan, const TileParams &params,
                                         int64_t lanes,
                                         std::vector<Func> &outputs) {
  Var d("d"), j("j");
  int64_t headDim = plan.getHeadDim();
  mlir::Operation *yield = plan.getKeysOp().getBody().front().getTerminator();
  for (auto [index, vector] : llvm::enumerate(yield->getOperands())) {
    std::string symbol = getKeySymbol(plan, index);
    if (symbol.empty())
      continue;
    Func out("keys_" + symbol);
    mlir::FailureOr<Expr> key = transformKey(
        vector, d, params, {out, {j}, j, TileArgKind::Angles, headDim, lanes});
    if (mlir::failed(key))
      return mlir::failure();
    out(d, j) = *key;
    placeRows(out, d, j, headDim);
    out.vectorize(d, dividingWidth(headDim, lanes));
    outputs.push_back(out);
  }
  return mlir::success();
}

mlir::FailureOr<Halide::Pipeline>
posenc::buildKeyTransform(PlanOp plan, const TileParams &params,
                          int64_t lanes) {
  std::vector<Func> outputs;
  if (plan.getKeysOp() &&
      mlir::failed(transformKeys(plan, params, lanes, outputs)))
    return mlir::failure();
  if (getPairProducts(plan).values)
    outputs.push_back(pairValues(plan, params, lanes));
  return Halide::Pipeline(outputs);
}
