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
  KeyBuilder(const TileParams &params, int64_t headDim, int64_t lanes, Func out)
      : VectorBuilder(params, headDim), lanes(lanes), out(out) {}

  mlir::FailureOr<Func> build(mlir::Value vector);

private:
  Func place(Func vector);
  Func rotate(Func keys, TileRotateOp op);

  Expr read(Func vector, Expr channel) override { return vector(channel, j); }
  Func define(const std::string &name,
              llvm::function_ref<Expr(Var)> value) override;
  Func defineNumber(const std::string &name, Expr value) override;
  Func defineSum(const std::string &name, int64_t outer, int64_t channels,
                 llvm::function_ref<Expr(Expr, Expr)> value) override;
  Expr getNumber(Func number) override { return number(j); }
  TokenPlace getPlace() override;
  TileArgKind getAllHeads() override { return TileArgKind::AllKeys; }
  Expr getToken() override { return j; }

  int64_t lanes;
  Func out;
  Var d{"d"}, j{"j"};
  llvm::DenseMap<mlir::Value, Func> built;
};
} // namespace

TokenPlace KeyBuilder::getPlace() {
  TokenPlace place;
  place.key = j;
  if (params.has(TileArgKind::KeyBegin))
    place.keyIndex = params.number(TileArgKind::KeyBegin) + j;
  return place;
}

Func KeyBuilder::place(Func vector) {
  return vector.compute_at(out, j)
      .store_in(kTileMemory)
      .bound(d, 0, static_cast<int>(headDim));
}

Func KeyBuilder::define(const std::string &name,
                        llvm::function_ref<Expr(Var)> value) {
  Func result(name);
  result(d, j) = value(d);
  place(result).vectorize(d, dividingWidth(headDim, lanes));
  return result;
}

Func KeyBuilder::defineNumber(const std::string &name, Expr value) {
  Func result(name);
  result(j) = value;
  result.compute_at(out, j).store_in(kTileMemory);
  return result;
}

Func KeyBuilder::defineSum(const std::string &name, int64_t outer,
                           int64_t channels,
                           llvm::function_ref<Expr(Expr, Expr)> value) {
  Func partial("partial_sums"), result(name);
  Var lane("lane");
  int width = dividingWidth(channels, lanes);
  RDom r(0, static_cast<int>(channels) / width, 0, static_cast<int>(outer),
         "summed");
  partial(lane, j) = Halide::cast<double>(0);
  partial(lane, j) += value(r.y, r.x * width + lane);
  partial.compute_at(out, j)
      .store_in(kTileMemory)
      .bound(lane, 0, width)
      .vectorize(lane, width)
      .update()
      .reorder(lane, r.x, r.y)
      .vectorize(lane, width);
  std::vector<Expr> parts;
  for (int n = 0; n < width; ++n)
    parts.push_back(partial(n, j));
  result(j) = treeSum(parts);
  result.compute_at(out, j).store_in(kTileMemory);
  return result;
}

Func KeyBuilder::rotate(Func keys, TileRotateOp op) {
  Halide::ImageParam angles = params.buffer(TileArgKind::Angles, op.getTable());
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
    Func keys("key_rows");
    keys(d, j) = params.element(TileArgKind::Key, {d, j});
    result = keys;
  }
  built[vector] = *result;
  return result;
}

mlir::FailureOr<Halide::Pipeline>
posenc::buildKeyTransform(PlanOp plan, const TileParams &params,
                          int64_t lanes) {
  Var d("d"), j("j");
  int64_t headDim = plan.getHeadDim();
  mlir::Operation *yield = plan.getKeysOp().getBody().front().getTerminator();
  std::vector<Func> outputs;
  for (auto [index, vector] : llvm::enumerate(yield->getOperands())) {
    std::string symbol = getKeySymbol(plan, index);
    if (symbol.empty())
      continue;
    Func out("keys_" + symbol);
    mlir::FailureOr<Func> keys =
        KeyBuilder(params, headDim, lanes, out).build(vector);
    if (mlir::failed(keys))
      return mlir::failure();
    out(d, j) = (*keys)(d, j);
    out.bound(d, 0, static_cast<int>(headDim))
        .vectorize(d, dividingWidth(headDim, lanes));
    out.output_buffer().dim(0).set_bounds(0, static_cast<int>(headDim));
    out.output_buffer().dim(1).set_min(0);
    outputs.push_back(out);
  }
  return Halide::Pipeline(outputs);
}
