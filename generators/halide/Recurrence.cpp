// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Recurrence.h"
#include "Numerics.h"
#include "Prologue.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

/// The most rows of a register tile whose columns are lanes.
static constexpr int kTileRows = 8;
/// As for scores of tiles: the rounding of a sum grows with what was summed.
static constexpr int kSummedProducts = 32;

namespace {
/// What both functions of a chunk read.
class Chunk {
public:
  Chunk(PlanOp plan, const TileShape &shape, const TileParams &params)
      : plan(plan), shape(shape), params(params),
        tokens(params.number(TileArgKind::Rows)),
        rows(static_cast<int>(shape.rows)),
        lanes(static_cast<int>(shape.lanes)),
        headDim(static_cast<int>(shape.headDim)),
        width(static_cast<int>(getStateWidth(shape.valueDim))),
        tileWidth(lanes * dividingWidth(width / lanes, 2)) {
    op =
        *plan.getChunkOp().getBody().front().getOps<TileRecurrenceOp>().begin();
    makeValues();
  }

protected:
  void makeValues();
  unsigned getQuery(mlir::Value query) const {
    return llvm::cast<mlir::BlockArgument>(query).getArgNumber();
  }
  /// A channel of a key.
  Expr key(mlir::Value key, Expr channel, Expr token);
  bool decays() { return op.getDecays().has_value(); }
  /// The decay over a distance that the table holds.
  Expr decay(Expr distance) {
    return params.buffer(TileArgKind::Decays, *op.getDecays())(distance);
  }

  PlanOp plan;
  TileRecurrenceOp op;
  const TileShape &shape;
  const TileParams &params;
  Expr tokens;
  int rows, lanes, headDim;
  /// Columns of a state, and of a register tile of them.
  int width, tileWidth;
  Var c{"c"}, d{"d"}, i{"i"}, j{"j"};
  Func values{"value_rows"};
};
} // namespace

/// As f32 in rows of whole vectors.
void Chunk::makeValues() {
  int valueDim = static_cast<int>(shape.valueDim);
  Expr value = params.element(TileArgKind::Value, {min(c, valueDim - 1), j});
  if (valueDim != width)
    value = select(c < valueDim, value, 0.f);
  else
    value = params.element(TileArgKind::Value, {c, j});
  values(c, j) = toBits(value);
  values.compute_root()
      .store_in(kTileMemory)
      .bound(c, 0, width)
      .bound_storage(j, rows)
      .vectorize(c, lanes);
}

Expr Chunk::key(mlir::Value key, Expr channel, Expr token) {
  unsigned queries =
      plan.getPrologueOp().getBody().front().back().getNumOperands();
  unsigned index =
      llvm::cast<mlir::BlockArgument>(key).getArgNumber() - queries;
  return params.element(TileArgKind::Key, {channel, token},
                        getKeySymbol(plan, index));
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

namespace {
class ChunkOutputs : public Chunk {
public:
  ChunkOutputs(PlanOp plan, const TileShape &shape, const TileParams &params,
               std::vector<Func> queries)
      : Chunk(plan, shape, params), queries(std::move(queries)) {
    makeStrip();
  }

  Func build();

private:
  void makeStrip();
  Func makeProducts(mlir::ValueRange queryVectors, mlir::ValueRange keyVectors,
                    bool decaying);
  Func makeDivisors();
  Func makeRows(Func products);

  std::vector<Func> queries;
  /// The decay over each distance of two tokens of the chunk, and of the last
  /// from the one before the first.
  Func strip{"decay_strip"};
};
} // namespace

void ChunkOutputs::makeStrip() {
  if (!decays())
    return;
  Expr last = params.buffer(TileArgKind::Decays, *op.getDecays()).dim(0).max();
  Var x("x");
  strip(x) = toBits(decay(clamp(x, 0, last)));
  strip.compute_root().store_in(kTileMemory).bound(x, -rows, 2 * rows + 1);
}

/// (row, key) -> bits of the weight, 0 where the key is behind the row.
Func ChunkOutputs::makeProducts(mlir::ValueRange queryVectors,
                                mlir::ValueRange keyVectors, bool decaying) {
  Func products("products");
  Var io("io"), ii("ii"), jo("jo"), ji("ji");
  int height = std::min(2 * lanes, rows), keys = lanes >= 16 ? 8 : 4;
  // Behind the last token the last one is read.
  Expr token = min(j, tokens - 1);
  std::vector<Func> sums;
  std::vector<Expr> terms;
  // At least two of them, as scores of tiles have.
  int length = std::min(kSummedProducts, (headDim + 1) / 2);
  for (auto [query, vector] : llvm::zip_equal(queryVectors, keyVectors))
    for (int begin = 0; begin < headDim; begin += length) {
      Func sum("product_sums");
      RDom r(begin, std::min(length, headDim - begin), "channels");
      sum(i, j) = 0.f;
      sum(i, j) +=
          fromBits(queries[getQuery(query)](i, r)) * key(vector, r, token);
      sums.push_back(sum);
      terms.push_back(sum(i, j));
    }
  Expr weight = treeSum(terms);
  if (decaying)
    weight = weight * fromBits(strip(i - j));
  products(i, j) = toBits(select(hideFromBounds(j <= i), weight, 0.f));
  products.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, rows)
      .bound_storage(j, static_cast<int>(llvm::alignTo(rows, keys)))
      .tile(i, j, io, jo, ii, ji, height, keys, TailStrategy::RoundUp)
      .vectorize(ii, lanes)
      .unroll(ii)
      .unroll(ji);
  for (Func sum : sums) {
    sum.compute_at(products, io)
        .bound_extent(i, height)
        .bound_extent(j, keys)
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j);
    sum.update()
        .reorder(i, j, sum.rvars(0)[0])
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j);
  }
  return products;
}

/// What each row is multiplied by in the place of a division.
Func ChunkOutputs::makeDivisors() {
  Func products =
      makeProducts(op.getByQueries(), op.getByKeys(), op.getDecayedBy());
  Func before("sums_before"), inside("sums_inside"), factor("row_factors");
  before(i) = 0.f;
  for (auto [index, query] : llvm::enumerate(op.getByQueries())) {
    RDom r(0, headDim, "channels");
    before(i) += fromBits(queries[getQuery(query)](i, r)) *
                 params.buffer(TileArgKind::SumsBefore)(
                     static_cast<int>(index) * headDim + r);
  }
  RDom r(0, tokens, "keys");
  inside(i) = 0.f;
  inside(i) += fromBits(products(i, r));
  Expr earlier = before(i);
  if (op.getDecayedBy())
    earlier = earlier * fromBits(strip(i + 1));
  Expr sum = earlier + inside(i);
  if (op.getEpsilon())
    sum = sum + static_cast<float>(op.getEpsilon()->convertToDouble());
  factor(i) = select(sum == 0.f, 0.f, 1.f / sum);
  factor.compute_root()
      .store_in(kTileMemory)
      .bound(i, 0, rows)
      .vectorize(i, lanes);
  for (Func part : {before, inside}) {
    part.compute_at(factor, i).vectorize(i, lanes);
    for (int stage = 0; stage < part.num_update_definitions(); ++stage)
      part.update(stage).reorder(i, part.rvars(stage)[0]).vectorize(i, lanes);
  }
  return factor;
}

Func ChunkOutputs::makeRows(Func products) {
  Func sums("output_sums");
  sums(c, i) = 0.f;
  for (auto [index, query] : llvm::enumerate(op.getQueries())) {
    RDom r(0, headDim, "channels");
    sums(c, i) += fromBits(queries[getQuery(query)](i, r)) *
                  params.buffer(TileArgKind::StateBefore)(
                      c, static_cast<int>(index) * headDim + r);
  }
  if (decays())
    sums(c, i) = sums(c, i) * fromBits(strip(i + 1));
  RDom r(0, tokens, "keys");
  sums(c, i) += fromBits(products(i, r)) * fromBits(values(c, r));
  return sums;
}

Func ChunkOutputs::build() {
  Func products = makeProducts(op.getQueries(), op.getKeys(), decays());
  Func sums = makeRows(products);
  Func out("out");
  Var co("co"), ci("ci"), io("io"), ii("ii");
  Expr value = sums(c, i);
  if (op.divides())
    value = value * makeDivisors()(i);
  Storage storage = getStorage(plan.getDtype().value_or(mlir::Type()));
  out(c, i) = narrow(value, storage);
  int valueDim = static_cast<int>(shape.valueDim);
  // Neither rows behind the last token nor columns behind the last channel are
  // written.
  int height = std::min(rows, kTileRows);
  out.tile(c, i, co, io, ci, ii, tileWidth, height, TailStrategy::GuardWithIf)
      .vectorize(ci, lanes)
      .unroll(ci)
      .unroll(ii);
  out.output_buffer().dim(0).set_bounds(0, valueDim);
  out.output_buffer().dim(1).set_min(0);
  sums.compute_at(out, co)
      .bound_extent(c, tileWidth)
      .bound_extent(i, height)
      .vectorize(c, lanes)
      .unroll(c)
      .unroll(i);
  for (int stage = 0; stage < sums.num_update_definitions(); ++stage) {
    std::vector<RVar> reduced = sums.rvars(stage);
    Halide::Stage update = sums.update(stage);
    if (reduced.empty())
      update.reorder(c, i);
    else
      update.reorder(c, i, reduced[0]);
    update.vectorize(c, lanes).unroll(c).unroll(i);
  }
  return out;
}

mlir::FailureOr<Halide::Pipeline>
posenc::buildChunkOutputs(PlanOp plan, const TileShape &shape,
                          const TileParams &params) {
  mlir::FailureOr<std::vector<Func>> queries =
      buildPrologue(plan.getPrologueOp(), TileContext{shape, params});
  if (mlir::failed(queries))
    return mlir::failure();
  return Halide::Pipeline(ChunkOutputs(plan, shape, params, *queries).build());
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

namespace {
class ChunkState : public Chunk {
public:
  using Chunk::Chunk;

  Func buildState();
  Func buildSums();
  bool hasSums() { return op.divides(); }

private:
  /// The decay from a token to the last of the chunk.
  Expr decayFrom(Expr token) { return decay(tokens - 1 - token); }
};
} // namespace

Func ChunkState::buildState() {
  Func state("state");
  Var row("row");
  state(c, row) = Halide::undef<float>();
  int height = dividingWidth(headDim, kTileRows), stage = 0;
  for (auto [index, vector] : llvm::enumerate(op.getKeys())) {
    Func keys("decayed_keys"), sums("state_sums");
    Expr element = key(vector, d, j);
    keys(d, j) = toBits(decays() ? element * decayFrom(j) : element);
    keys.compute_root()
        .store_in(kTileMemory)
        .bound(d, 0, headDim)
        .bound_storage(j, rows)
        .vectorize(d, dividingWidth(headDim, lanes));
    RDom r(0, tokens, "keys");
    sums(c, d) = 0.f;
    sums(c, d) += fromBits(keys(d, r)) * fromBits(values(c, r));

    RDom channel(0, headDim, "channel");
    Expr place = static_cast<int>(index) * headDim + channel;
    Expr before = state(c, place);
    if (decays())
      before = before * decay(tokens);
    state(c, place) = before + sums(c, channel);

    Var co("co"), ci("ci");
    RVar ro("ro"), ri("ri");
    state.update(stage++)
        .split(c, co, ci, tileWidth, TailStrategy::GuardWithIf)
        .split(channel, ro, ri, height)
        .reorder(ci, ri, co, ro)
        .vectorize(ci, lanes)
        .unroll(ci)
        .unroll(ri);
    sums.compute_at(state, co)
        .bound_extent(c, tileWidth)
        .bound_extent(d, height)
        .vectorize(c, lanes)
        .unroll(c)
        .unroll(d);
    sums.update().reorder(c, d, r).vectorize(c, lanes).unroll(c).unroll(d);
  }
  state.bound(c, 0, width);
  state.output_buffer().dim(0).set_bounds(0, width);
  state.output_buffer()
      .dim(1)
      .set_bounds(0, static_cast<int>(op.getKeys().size()) * headDim)
      .set_stride(width);
  return state;
}

Func ChunkState::buildSums() {
  Func sums("sums");
  Var row("row");
  sums(row) = Halide::undef<float>();
  int stage = 0;
  for (auto [index, vector] : llvm::enumerate(op.getByKeys())) {
    Func inside("key_sums");
    RDom r(0, tokens, "keys");
    Expr element = key(vector, d, r);
    inside(d) = 0.f;
    inside(d) += op.getDecayedBy() ? element * decayFrom(r) : element;
    RDom channel(0, headDim, "channel");
    Expr place = static_cast<int>(index) * headDim + channel;
    Expr before = sums(place);
    if (op.getDecayedBy())
      before = before * decay(tokens);
    sums(place) = before + inside(channel);
    int step = dividingWidth(headDim, lanes);
    inside.compute_root()
        .store_in(kTileMemory)
        .bound(d, 0, headDim)
        .vectorize(d, step)
        .update()
        .reorder(d, r)
        .vectorize(d, step);
    sums.update(stage++).vectorize(channel, step);
  }
  sums.output_buffer().dim(0).set_bounds(
      0, static_cast<int>(op.getByKeys().size()) * headDim);
  return sums;
}

Halide::Pipeline posenc::buildChunkState(PlanOp plan, const TileShape &shape,
                                         const TileParams &params) {
  ChunkState chunk(plan, shape, params);
  // In the order of the signature.
  std::vector<Func> outputs{chunk.buildState()};
  if (chunk.hasSums())
    outputs.push_back(chunk.buildSums());
  return Halide::Pipeline(outputs);
}
