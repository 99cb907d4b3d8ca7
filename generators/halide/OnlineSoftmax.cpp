// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlineSoftmax.h"
#include "Numerics.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

/// The rounding of a sum grows with what was summed before, so that sums of
/// many products are cut. Several accumulators of a score cost nothing where
/// all are in registers; sums that wait for others in memory cost 1 % of the
/// call.
static constexpr int kSummedProducts = 32;

/// One step: its own Funcs, so that steps without masks pay for none.
struct OnlineSoftmax::Stage {
  Stage(const TileContext &context, Expr begin, Expr end, bool whole)
      : keys(context.shape, begin, end, whole), score(context, keys, dots) {}

  KeyBlocks keys;
  /// q.k over some of the channels: accumulators, and their sums.
  struct Section {
    Func accumulators{"dot_accumulators"}, dots{"section_dots"};
  };
  llvm::SmallVector<Section> sections;
  /// Register tiles of q.k and of weights.v.
  Func dots{"dots"}, outputs{"outputs"};
  /// Scores and weights of a block, in groups of as many keys as a register
  /// tile has. An extra row per group holds the group's maximum or sum: it is
  /// made from registers, and the block's then needs a fraction of the loads.
  Func scores{"scores"}, weights{"weights"}, weightTile{"weight_tile"};
  Func blockMaximum{"block_maximum"}, blockSum{"block_sum"};
  ScoreBuilder score;

  /// Key within its group, group, key column of the output's accumulation.
  Var x{"x"}, group{"group"};
  /// Accumulator of a score.
  Var turn{"turn"};
  RDom groups, groupedKeys;

  /// The state's loops; set by updateState.
  RVar block, registerTile;
};

OnlineSoftmax::~OnlineSoftmax() = default;

OnlineSoftmax::OnlineSoftmax(const TileContext &context, Func query)
    : context(context), query(query), state("state") {
  Var i = context.i, c("c");
  int rows = static_cast<int>(context.shape.rows);
  int columns = static_cast<int>(context.shape.stateColumns());
  // The state is the caller's memory, updated in place: it has no initial value
  // of its own, and is filled on the first run only.
  state(i, c) = Halide::undef<float>();
  RDom fill(0, columns, 0,
            select(context.number(TileArgKind::First) != 0, 1, 0), "fill");
  state(i, fill.x) = select(fill.x == int(Maximum), kLowestMaximum, 0.f);
  state.update(updates++)
      .reorder(i, fill.x, fill.y)
      .vectorize(i, static_cast<int>(context.shape.lanes));
  state.bound(i, 0, rows).bound(c, 0, columns);

  Halide::OutputImageParam buffer = state.output_buffer();
  buffer.set_host_alignment(64);
  buffer.dim(0).set_bounds(0, rows).set_stride(1);
  buffer.dim(1).set_bounds(0, columns).set_stride(rows);
}

mlir::LogicalResult OnlineSoftmax::addStep(StepOp step) {
  Expr end = context.params.number(TileArgKind::StepEnd, step.getSymName());
  stages.push_back(
      std::make_unique<Stage>(context, begin, end, step.getWholeBlocks()));
  begin = end;

  Stage &stage = *stages.back();
  int keys = static_cast<int>(context.shape.keys);
  stage.groups = RDom(0, stage.keys.groups, "groups");
  stage.groupedKeys = RDom(0, keys, 0, stage.keys.groups, "grouped_keys");

  makeDots(stage);
  mlir::FailureOr<ScoreValue> score = stage.score.build(step);
  if (mlir::failed(score))
    return mlir::failure();
  makeScores(stage, *score);
  makeWeights(stage);
  makeOutput(stage);
  updateState(stage);
  return mlir::success();
}

void OnlineSoftmax::makeDots(Stage &stage) {
  int channels = static_cast<int>(context.shape.headDim);
  int sections = llvm::divideCeil(channels, kDotAccumulators * kSummedProducts);
  int length =
      llvm::alignTo(llvm::divideCeil(channels, sections), kDotAccumulators);
  std::vector<Expr> sums;
  for (int begin = 0; begin < channels; begin += length) {
    makeSection(stage, begin, std::min(begin + length, channels));
    sums.push_back(stage.sections.back().dots(context.i, context.j, context.t));
  }
  stage.dots(context.i, context.j, context.t) = treeSum(sums);
}

/// q.k over the channels begin .. end - 1, an even number as all head sizes
/// are. Accumulators take turns, so that the loop is one walk along the
/// channels.
void OnlineSoftmax::makeSection(Stage &stage, int begin, int end) {
  Var i = context.i, j = context.j, t = context.t, turn = stage.turn;
  Halide::ImageParam key = context.params.buffer(TileArgKind::Key);
  Stage::Section &section = stage.sections.emplace_back();
  static_assert(kDotAccumulators == 2, "a head size is a multiple of it");
  RDom r(0, (end - begin) / kDotAccumulators, "channels");
  Expr channel = begin + r * kDotAccumulators + turn;
  section.accumulators(i, j, turn, t) = 0.f;
  section.accumulators(i, j, turn, t) +=
      fromBits(query(i, channel)) * key(channel, stage.keys.validKey(t, j));
  std::vector<Expr> sums;
  for (int n = 0; n < kDotAccumulators; ++n)
    sums.push_back(section.accumulators(i, j, n, t));
  section.dots(i, j, t) = treeSum(sums);
}

void OnlineSoftmax::makeScores(Stage &stage, const ScoreValue &score) {
  Var i = context.i, t = context.t, x = stage.x, group = stage.group;
  int keys = static_cast<int>(context.shape.keys);
  std::vector<Expr> tile;
  for (int k = 0; k < keys; ++k)
    tile.push_back(score.at(group * keys + k));
  stage.scores(i, x, group, t) = toBits(select(
      x == keys, treeMax(tile), score.at(group * keys + min(x, keys - 1))));

  stage.blockMaximum(i, t) = kLowestMaximum;
  stage.blockMaximum(i, t) =
      max(stage.blockMaximum(i, t),
          fromBits(stage.scores(i, keys, stage.groups, t)));
}

void OnlineSoftmax::makeWeights(Stage &stage) {
  Var i = context.i, t = context.t, x = stage.x, group = stage.group;
  int keys = static_cast<int>(context.shape.keys);
  Expr score = fromBits(stage.scores(i, x, group, t));
  stage.weightTile(i, x, group, t) =
      exp2Approx(score - stage.blockMaximum(i, t));

  std::vector<Expr> tile;
  for (int k = 0; k < keys; ++k)
    tile.push_back(stage.weightTile(i, k, group, t));
  stage.weights(i, x, group, t) =
      toBits(select(x == keys, treeSum(tile),
                    stage.weightTile(i, min(x, keys - 1), group, t)));

  stage.blockSum(i, t) = 0.f;
  stage.blockSum(i, t) += fromBits(stage.weights(i, keys, stage.groups, t));
}

void OnlineSoftmax::makeOutput(Stage &stage) {
  Var i = context.i, d = context.d, t = context.t;
  const TileShape &shape = context.shape;
  int keys = static_cast<int>(shape.keys);
  Halide::ImageParam value = context.params.buffer(TileArgKind::Value);
  // The state has whole register tiles of columns; those beyond the last are
  // copies that nobody reads.
  Expr column = d;
  if (shape.valueDim % shape.values != 0)
    column = min(d, static_cast<int>(shape.valueDim) - 1);
  RDom r = stage.groupedKeys;
  stage.outputs(i, d, t) = 0.f;
  stage.outputs(i, d, t) +=
      fromBits(stage.weights(i, r.x, r.y, t)) *
      value(column, stage.keys.validKey(t, r.y * keys + r.x));
}

void OnlineSoftmax::updateState(Stage &stage) {
  Var i = context.i;
  const TileShape &shape = context.shape;
  int slots = static_cast<int>(shape.stateSlots());
  int columns = static_cast<int>(shape.stateColumns());

  RDom r(0, columns, 0, stage.keys.blocks, "update");
  RVar slot = r.x, block = r.y;
  Expr blockMaximum = stage.blockMaximum(i, block);
  Expr maximum = max(state(i, int(Maximum)), blockMaximum);
  Expr column = clamp(slot - slots, 0, columns - slots - 1);
  // `likely` stands on the value: on the condition it would do nothing. Halide
  // then peels the slots off the loop over output columns.
  state(i, slot) =
      select(slot >= slots,
             likely(state(i, slot) * state(i, int(OldFactor)) +
                    stage.outputs(i, column, block) * state(i, int(NewFactor))),
             select(slot == int(OldFactor),
                    exp2Approx(state(i, int(Maximum)) - maximum),
                    slot == int(NewFactor), exp2Approx(blockMaximum - maximum),
                    slot == int(Maximum), maximum, slot == int(Sum),
                    state(i, int(Sum)) * state(i, int(OldFactor)) +
                        stage.blockSum(i, block) * state(i, int(NewFactor)),
                    0.f));

  // Rows are lanes throughout; a register tile is all rows times a few keys or
  // columns, so that maximum, sum and rescaling need no horizontal operation.
  int rows = static_cast<int>(shape.rows),
      lanes = static_cast<int>(shape.lanes);
  int keys = static_cast<int>(shape.keys),
      values = static_cast<int>(shape.values);
  int storedGroups = static_cast<int>(shape.blockCapacity()) / keys;
  Var j = context.j, d = context.d, x = stage.x, group = stage.group;
  Var io("io"), ii("ii");
  RVar tile("tile"), inTile("in_tile");
  state.update(updates++)
      .split(slot, tile, inTile, values)
      .reorder(i, inTile, tile, block)
      .vectorize(i, lanes)
      .unroll(i)
      .unroll(inTile);

  stage.scores.compute_at(state, block)
      .store_in(kTileMemory)
      .bound(x, 0, keys + 1)
      .bound_storage(group, storedGroups)
      .reorder(i, x, group)
      .vectorize(i, lanes)
      .unroll(i)
      .unroll(x);
  scheduleDots(stage);
  stage.score.schedule(state, block, stage.scores, group);

  stage.blockMaximum.compute_at(state, block)
      .store_in(kTileMemory)
      .vectorize(i, lanes)
      .unroll(i)
      .update()
      .reorder(i, stage.groups)
      .vectorize(i, lanes)
      .unroll(i);
  stage.weights.compute_at(state, block)
      .store_in(kTileMemory)
      .bound(x, 0, keys + 1)
      .bound_storage(group, storedGroups)
      .split(i, io, ii, lanes)
      .reorder(ii, x, io, group)
      .vectorize(ii)
      .unroll(x);
  stage.weightTile.compute_at(stage.weights, io).vectorize(i, lanes).unroll(x);
  stage.blockSum.compute_at(state, block)
      .store_in(kTileMemory)
      .vectorize(i, lanes)
      .unroll(i)
      .update()
      .reorder(i, stage.groups)
      .vectorize(i, lanes)
      .unroll(i);
  stage.outputs.compute_at(state, tile)
      .bound_extent(i, rows)
      .bound_extent(d, values)
      .vectorize(i, lanes)
      .unroll(i)
      .unroll(d);
  stage.outputs.update()
      .reorder(i, d, stage.groupedKeys.x, stage.groupedKeys.y)
      .vectorize(i, lanes)
      .unroll(i)
      .unroll(d);
}

/// Register tiles of q.k, made and used within a group of keys.
void OnlineSoftmax::scheduleDots(Stage &stage) {
  Var i = context.i, j = context.j;
  int lanes = static_cast<int>(context.shape.lanes);
  auto placeTile = [&](Func tile) {
    tile.compute_at(stage.scores, stage.group)
        .bound_extent(i, static_cast<int>(context.shape.rows))
        .bound_extent(j, static_cast<int>(context.shape.keys))
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j);
  };
  placeTile(stage.dots);
  for (Stage::Section &section : stage.sections) {
    Func sums = section.accumulators;
    placeTile(section.dots);
    placeTile(sums);
    sums.bound(stage.turn, 0, kDotAccumulators).unroll(stage.turn);
    sums.update()
        .reorder(i, j, stage.turn, sums.rvars(0)[0])
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j)
        .unroll(stage.turn);
  }
}
