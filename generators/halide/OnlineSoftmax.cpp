// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlineSoftmax.h"
#include "Dropout.h"
#include "KeyTransform.h"
#include "Numerics.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

WeightKind::WeightKind(PlanOp plan) {
  mlir::Block &body = plan.getEpilogueOp().getBody().front();
  if (TileNormalizeOp op = plan.getNormalizeOp()) {
    kind = op.getKind();
    if (std::optional<llvm::APFloat> probability = op.getDropout())
      dropout = probability->convertToDouble();
  }
  exponentiates = posenc::exponentiates(kind);
  needsWeightSum =
      (kind == NormalizeKind::abs_sum || kind == NormalizeKind::linear) &&
      !body.getOps<TileRemainderOp>().empty();
}

/// One step: its own Funcs, so that steps without masks pay for none.
struct OnlineSoftmax::Stage {
  Stage(const TileContext &context, Expr begin, Expr end, bool whole,
        const StepVectors &vectors, const ScanFuncs &scans)
      : keys(context.shape, begin, end, whole),
        score(context, keys, vectors, scans),
        denominator(context, keys, vectors, scans), terms(context, keys) {}

  /// A tile whose rows are lanes reads keys and values one number at a time,
  /// for all its rows: conversions are done once for a block. In packed plans
  /// copies also read memory in the order of addresses. Channels that are lanes
  /// are read in this order, and converted, by themselves. Keys that are
  /// transformed as they are read are always copies. Pairs of bf16 are not
  /// converted; those of values are made beforehand.
  mlir::LogicalResult makeCopies(const TileContext &context,
                                 const StepVectors &vectors) {
    const TileShape &shape = context.shape;
    Var j = context.j, d = context.d, t = context.t;
    Expr key = keys.validKey(t, j);
    auto isCopied = [&](bool isStoredPlainly) {
      return !shape.hasChannelLanes() &&
             (shape.copiesBlocks || !isStoredPlainly);
    };
    for (unsigned index = 0; index < vectors.keys.size(); ++index) {
      Func &copy = keys.keyCopies.emplace_back();
      if (!vectors.keys[index])
        continue;
      if (mlir::Value vector = vectors.loaded[index]) {
        copy = Func("key_copy");
        mlir::FailureOr<Expr> channel = transformKey(vector, d, context.params,
                                                     {copy,
                                                      {j, t},
                                                      key,
                                                      TileArgKind::KeyAngles,
                                                      shape.headDim,
                                                      shape.registerLanes});
        if (mlir::failed(channel))
          return mlir::failure();
        copy(d, j, t) = toBits(*channel);
      } else if (shape.pairs.scores) {
        if (!context.params.has(TileArgKind::KeyRows))
          continue;
        copy = Func("key_copy");
        copy(d, j, t) = context.params.stored(TileArgKind::Key, {d, key});
      } else if (isCopied(vectors.isStoredPlainly(index))) {
        copy = Func("key_copy");
        copy(d, j, t) = toBits(vectors.storedKey(index, key, d));
      }
    }
    if (!shape.pairs.values &&
        isCopied(context.params.isStoredPlainly(TileArgKind::Value))) {
      keys.valueCopy = Func("value_copy");
      keys.valueCopy(d, j, t) =
          toBits(context.params.element(TileArgKind::Value, {d, key}));
    }
    return mlir::success();
  }

  KeyBlocks keys;
  /// A register tile of weights.v.
  Func outputs{"outputs"};
  /// Scores and weights of a block, in groups of as many keys as a register
  /// tile has. An extra row per group holds the group's maximum or sum: it is
  /// made from registers, and the block's then needs a fraction of the loads.
  /// Weights that are no exponentials are the scores.
  Func scores{"scores"}, weights{"weights"}, weightTile{"weight_tile"};
  /// The weights of a register tile as bf16: for each vector of rows those of
  /// one key, then those of the next. In `weights` they are pairs of keys,
  /// whose sums are two halves.
  Func narrowed{"narrowed_weights"}, groupSum{"group_sum"};
  Func blockMaximum{"block_maximum"}, blockSum{"block_sum"};
  /// The maximum of scores times their late factor.
  Func scaledMaximum;
  /// Sums that are no sums of weights: the denominator's of a group and of a
  /// block; and the weights' beside them.
  Func denominatorGroups{"denominator_groups"};
  Func blockWeights{"block_weights"};
  ScoreBuilder score, denominator;
  std::optional<Dropout> dropout;

  /// Rows of tables that are added to the values.
  struct ValueTable {
    Func row{"value_row"}, outputs{"table_outputs"};
    /// An element of the one row that all keys have; null if they have several.
    std::function<Expr(Expr)> element;
  };
  BlockTerms terms;
  std::vector<ValueTable> tables;

  /// Key within its group, group, key column of the output's accumulation.
  Var x{"x"}, group{"group"};
  RDom groups, groupedKeys;
  /// Number of a pair, pair within its group, group.
  RDom pairs;

  /// The state's loops; set by updateState.
  RVar block, registerTile;
};

OnlineSoftmax::~OnlineSoftmax() = default;

OnlineSoftmax::OnlineSoftmax(const TileContext &context, WeightKind kind,
                             const StepVectors &vectors, const ScanFuncs &scans)
    : context(context), kind(kind), vectors(vectors), scans(scans),
      state("state") {
  Var i = context.i, c("c");
  int rows = static_cast<int>(context.shape.stateRows());
  int columns = static_cast<int>(context.shape.stateColumns());
  // The state is the caller's memory, updated in place: it has no initial value
  // of its own, and is filled on the first run only.
  state(i, c) = Halide::undef<float>();
  RDom fill(0, columns, 0,
            select(context.number(TileArgKind::First) != 0, 1, 0), "fill");
  state(i, fill.x) = select(fill.x == int(Maximum), kLowestMaximum, 0.f);
  state.update(updates++)
      .reorder(i, fill.x, fill.y)
      .vectorize(i, static_cast<int>(context.shape.stateLanes()));
  state.bound(i, 0, rows).bound(c, 0, columns);

  Halide::OutputImageParam buffer = state.output_buffer();
  buffer.set_host_alignment(64);
  buffer.dim(0).set_bounds(0, rows).set_stride(1);
  buffer.dim(1).set_bounds(0, columns).set_stride(rows);
}

mlir::LogicalResult OnlineSoftmax::addStep(StepOp step) {
  Expr end = context.params.number(TileArgKind::StepEnd, step.getSymName());
  stages.push_back(std::make_unique<Stage>(
      context, begin, end, step.getWholeBlocks(), vectors, scans));
  begin = end;

  Stage &stage = *stages.back();
  int keys = static_cast<int>(context.shape.keys);
  stage.groups = RDom(0, stage.keys.groups, "groups");
  stage.groupedKeys = RDom(0, keys, 0, stage.keys.groups, "grouped_keys");
  stage.pairs = RDom(0, 2, 0, keys / 2, 0, stage.keys.groups, "pairs");
  if (mlir::failed(stage.makeCopies(context, vectors)))
    return mlir::failure();

  mlir::Operation *yield = step.getBody().front().getTerminator();
  if (mlir::failed(buildScores(stage, yield)))
    return mlir::failure();
  if (kind.dropout > 0) {
    stage.dropout.emplace(context, stage.keys, kind.dropout);
    stage.dropout->define(stage.weights);
  }
  makeOutput(stage);
  mlir::OperandRange results = yield->getOperands();
  for (unsigned n = 1; n < results.size(); ++n)
    if (llvm::isa<TableType>(results[n].getType()))
      if (mlir::failed(addValueTable(stage, results[n], results[n + 1])))
        return mlir::failure();
  updateState(stage);
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

mlir::LogicalResult OnlineSoftmax::buildScores(Stage &stage,
                                               mlir::Operation *yield) {
  mlir::FailureOr<ScoreValue> score =
      stage.score.buildWithinKeys(yield->getOperand(0));
  if (mlir::failed(score))
    return mlir::failure();
  if (kind.exponentiates) {
    makeScores(stage, *score);
    makeExponentials(stage);
    return mlir::success();
  }
  if (kind.kind != NormalizeKind::linear) {
    // Twice read: for the tile and its sum.
    makeWeights(stage, stage.score.share(stage.score.zeroMasked(*score)));
    return mlir::success();
  }
  // A pair that is masked in either of the two counts in neither sum.
  auto build = [&](ScoreBuilder &builder, unsigned index) {
    mlir::FailureOr<ScoreValue> value =
        builder.buildWithinKeys(yield->getOperand(index));
    mlir::FailureOr<ScoreValue> other =
        builder.build(yield->getOperand(1 - index));
    if (mlir::failed(value) || mlir::failed(other))
      return mlir::FailureOr<ScoreValue>();
    return mlir::FailureOr<ScoreValue>(
        builder.share(builder.zeroMasked(builder.maskedAs(*value, *other))));
  };
  mlir::FailureOr<ScoreValue> weight = build(stage.score, 0);
  mlir::FailureOr<ScoreValue> term = build(stage.denominator, 1);
  if (mlir::failed(weight) || mlir::failed(term))
    return mlir::failure();
  makeWeights(stage, *weight);
  makeDenominator(stage, *term);
  return mlir::success();
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
  stage.scaledMaximum = stage.blockMaximum;
  if (double factor = context.shape.pairs.lateFactor; factor != 1) {
    stage.scaledMaximum = Func("scaled_maximum");
    stage.scaledMaximum(i, t) =
        stage.blockMaximum(i, t) * static_cast<float>(factor);
  }
}

void OnlineSoftmax::makeExponentials(Stage &stage) {
  Var i = context.i, t = context.t, x = stage.x, group = stage.group;
  int keys = static_cast<int>(context.shape.keys);
  Expr score = fromBits(stage.scores(i, x, group, t));
  if (double factor = context.shape.pairs.lateFactor; factor != 1)
    score = score * static_cast<float>(factor);
  stage.weightTile(i, x, group, t) =
      exp2Approx(score - stage.scaledMaximum(i, t));

  std::vector<Expr> tile;
  for (int k = 0; k < keys; ++k)
    tile.push_back(stage.weightTile(i, k, group, t));
  Expr sum = treeSum(tile);
  stage.blockSum(i, t) = 0.f;
  if (context.shape.pairs.values) {
    makePairs(stage, sum);
    return;
  }
  stage.weights(i, x, group, t) = toBits(
      select(x == keys, sum, stage.weightTile(i, min(x, keys - 1), group, t)));
  stage.blockSum(i, t) += fromBits(stage.weights(i, keys, stage.groups, t));
}

/// The sum of a group's weights is that before rounding: errors of weights are
/// independent, and log-sum-exp has none of them.
void OnlineSoftmax::makePairs(Stage &stage, Expr sum) {
  Var i = context.i, t = context.t, x = stage.x, group = stage.group;
  int lanes = static_cast<int>(context.shape.lanes),
      pairs = static_cast<int>(context.shape.keys) / 2;
  // Lane n of the next to last line is number n of two vectors of rows, one for
  // each key; of the last one number n % 2 of row n / 2.
  Expr vector = i / (2 * lanes) * lanes, key = i / lanes % 2;
  stage.narrowed(i, x, group, t) =
      narrowPair(stage.weightTile(vector + i % lanes, 2 * x + key, group, t));
  stage.groupSum(i, group, t) = toBits(sum);
  Expr half = Halide::cast<uint16_t>(
      Halide::reinterpret<uint32_t>(stage.groupSum(i / 2, group, t)) >>
      Halide::cast<uint32_t>(16 * (i % 2)));
  stage.weights(i, x, group, t) =
      select(x == pairs, half,
             stage.narrowed(2 * vector + i % 2 * lanes + i / 2 % lanes,
                            min(x, pairs - 1), group, t));
  auto word = [&](int n) {
    return Halide::cast<uint32_t>(
        stage.weights(2 * i + n, pairs, stage.groups, t));
  };
  stage.blockSum(i, t) += fromBits(word(0) | word(1) << 16);
}

void OnlineSoftmax::makeWeights(Stage &stage, const ScoreValue &weight) {
  Var i = context.i, t = context.t, x = stage.x, group = stage.group;
  int keys = static_cast<int>(context.shape.keys);
  std::vector<Expr> tile;
  for (int k = 0; k < keys; ++k) {
    Expr value = weight.at(group * keys + k);
    tile.push_back(kind.kind == NormalizeKind::abs_sum ? abs(value) : value);
  }
  stage.scores(i, x, group, t) = toBits(select(
      x == keys, treeSum(tile), weight.at(group * keys + min(x, keys - 1))));
  stage.weights = stage.scores;
  if (kind.kind != NormalizeKind::linear) {
    stage.blockSum(i, t) = 0.f;
    stage.blockSum(i, t) += fromBits(stage.scores(i, keys, stage.groups, t));
  }
  if (kind.needsWeightSum) {
    RDom r = stage.groupedKeys;
    stage.blockWeights(i, t) = 0.f;
    stage.blockWeights(i, t) += fromBits(stage.scores(i, r.x, r.y, t));
  }
}

void OnlineSoftmax::makeDenominator(Stage &stage, const ScoreValue &term) {
  Var i = context.i, t = context.t, group = stage.group;
  int keys = static_cast<int>(context.shape.keys);
  std::vector<Expr> tile;
  for (int k = 0; k < keys; ++k)
    tile.push_back(term.at(group * keys + k));
  stage.denominatorGroups(i, group, t) = toBits(treeSum(tile));
  stage.blockSum(i, t) = 0.f;
  stage.blockSum(i, t) += fromBits(stage.denominatorGroups(i, stage.groups, t));
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The state has whole register tiles of columns; those beyond the last are
/// copies that nobody reads.
Expr OnlineSoftmax::getColumn(Expr d) const {
  const TileShape &shape = context.shape;
  if (shape.hasChannelLanes() || shape.valueDim % shape.values == 0)
    return d;
  return min(d, static_cast<int>(shape.valueDim) - 1);
}

/// What values are multiplied by.
Expr OnlineSoftmax::getWeight(const Stage &stage) const {
  const RDom &r = stage.groupedKeys;
  if (stage.dropout)
    return fromBits(
        stage.dropout->at(r.y * static_cast<int>(context.shape.keys) + r.x));
  return fromBits(stage.weights(context.i, r.x, r.y, context.t));
}

/// Row i and column d, or with channels as lanes lane i of vector d, which
/// counts those of all rows. There the scale of a key's codes is multiplied
/// with its weights.
void OnlineSoftmax::makeOutput(Stage &stage) {
  Var i = context.i, d = context.d, t = context.t;
  const TileParams &params = context.params;
  RDom r = stage.groupedKeys;
  Expr inBlock = r.y * static_cast<int>(context.shape.keys) + r.x,
       key = stage.keys.validKey(t, inBlock);
  stage.outputs(i, d, t) = 0.f;
  if (context.shape.pairs.values) {
    RDom p = stage.pairs;
    int pairs = static_cast<int>(context.shape.keys) / 2;
    Expr first = stage.keys.validKey(t, 2 * (p.z * pairs + p.y));
    stage.outputs(i, d, t) +=
        widenPair(stage.weights(2 * i + p.x, p.y, p.z, t)) *
        widenPair(params.stored(TileArgKind::ValuePairs,
                                {2 * getColumn(d) + p.x, first}));
    return;
  }
  if (!context.shape.hasChannelLanes()) {
    Expr column = getColumn(d);
    Expr value = stage.keys.valueCopy.defined()
                     ? fromBits(stage.keys.valueCopy(column, inBlock, t))
                     : params.element(TileArgKind::Value, {column, key});
    stage.outputs(i, d, t) += getWeight(stage) * value;
    return;
  }
  int vectors = static_cast<int>(context.shape.valueVectors()),
      lanes = static_cast<int>(context.shape.channelLanes);
  Expr weight = fromBits(stage.weights(d / vectors, r.x, r.y, t));
  if (Expr scale = params.scale(TileArgKind::Value, key); scale.defined())
    weight = weight * scale;
  stage.outputs(i, d, t) +=
      weight * params.code(TileArgKind::Value, {d % vectors * lanes + i, key});
}

mlir::LogicalResult OnlineSoftmax::addValueTable(Stage &stage,
                                                 mlir::Value table,
                                                 mlir::Value relation) {
  Var i = context.i, j = context.j, d = context.d, t = context.t;
  int keys = static_cast<int>(context.shape.keys);
  mlir::FailureOr<TermInput> index =
      stage.terms.readIndex(relation, stage.terms.getPlace(j));
  if (mlir::failed(index))
    return mlir::failure();
  Stage::ValueTable &term = stage.tables.emplace_back();
  if (!index->dependsOnRow && !index->dependsOnKey && kind.sumsWeights()) {
    TermInput row;
    row.value = roundToInt(index->value);
    if (mlir::failed(
            stage.terms.readTable(table, TokenPlace(), row, getColumn(d))))
      return mlir::failure();
    term.element = [=, &stage](Expr column) {
      return Halide::cast<float>(
          stage.terms.readTable(table, TokenPlace(), row, column)->value);
    };
    return mlir::success();
  }
  term.row(i, j, t) = roundToInt(index->value);
  RDom r = stage.groupedKeys;
  TermInput row;
  row.value = term.row(i, r.y * keys + r.x, t);
  mlir::FailureOr<TermInput> element =
      stage.terms.readTable(table, TokenPlace(), row, getColumn(d));
  if (mlir::failed(element))
    return mlir::failure();
  term.outputs(i, d, t) = 0.f;
  term.outputs(i, d, t) +=
      getWeight(stage) * Halide::cast<float>(element->value);
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// The new value of a slot after a block. `likely` stands on the value: on the
/// condition it would do nothing. Halide then peels the slots off the loop over
/// output columns.
Expr OnlineSoftmax::getUpdate(Stage &stage, Expr lane, RVar slot, RVar block) {
  const TileShape &shape = context.shape;
  int slots = static_cast<int>(shape.stateSlots());
  int columns = static_cast<int>(shape.stateColumns());
  Expr column = clamp(slot - slots, 0, columns - slots - 1);
  Expr outputs = stage.outputs(lane, column, block);
  for (Stage::ValueTable &table : stage.tables)
    outputs = outputs + (table.element ? stage.blockSum(lane, block) *
                                             table.element(getColumn(column))
                                       : table.outputs(lane, column, block));
  // The rows of the lane's numbers and of the column's output.
  Expr row = lane, outputRow = lane;
  if (shape.hasChannelLanes()) {
    row = min(lane, static_cast<int>(shape.rows) - 1);
    outputRow = column / static_cast<int>(shape.valueVectors());
  }
  auto number = [&](Slot slot) { return state(lane, int(slot)); };
  if (kind.exponentiates) {
    Expr blockMaximum = stage.scaledMaximum(row, block);
    Expr maximum = max(number(Maximum), blockMaximum);
    return select(
        slot >= slots,
        likely(state(lane, slot) * state(outputRow, int(OldFactor)) +
               outputs * state(outputRow, int(NewFactor))),
        select(slot == int(OldFactor), exp2Approx(number(Maximum) - maximum),
               slot == int(NewFactor), exp2Approx(blockMaximum - maximum),
               slot == int(Maximum), maximum, slot == int(Sum),
               number(Sum) * number(OldFactor) +
                   stage.blockSum(row, block) * number(NewFactor),
               0.f));
  }
  Expr sums =
      select(slot == int(Sum), number(Sum) + stage.blockSum(row, block), 0.f);
  if (kind.needsWeightSum)
    sums = select(slot == int(WeightSum),
                  number(WeightSum) + stage.blockWeights(row, block), sums);
  return select(slot >= slots, likely(state(lane, slot) + outputs), sums);
}

void OnlineSoftmax::updateState(Stage &stage) {
  Var i = context.i;
  int columns = static_cast<int>(context.shape.stateColumns()),
      values = static_cast<int>(context.shape.values);
  RVar tile("tile"), inTile("in_tile");
  stage.registerTile = tile;
  if (context.shape.hasChannelLanes()) {
    // A lane reads the factors of an output's row in another lane.
    RDom r(0, static_cast<int>(context.shape.channelLanes), 0, columns, 0,
           stage.keys.blocks, "update");
    stage.block = r.z;
    state(r.x, r.y) = getUpdate(stage, r.x, r.y, r.z);
    Halide::Stage update = state.update(updates++);
    update.allow_race_conditions();
    update.split(r.y, tile, inTile, values)
        .reorder(r.x, inTile, tile, r.z)
        .vectorize(r.x)
        .unroll(inTile);
  } else {
    RDom r(0, columns, 0, stage.keys.blocks, "update");
    stage.block = r.y;
    state(i, r.x) = getUpdate(stage, i, r.x, r.y);
    // Rows are lanes; a register tile is all rows times a few keys or columns,
    // so that maximum, sum and rescaling need no horizontal operation.
    state.update(updates++)
        .split(r.x, tile, inTile, values)
        .reorder(i, inTile, tile, r.y)
        .vectorize(i, static_cast<int>(context.shape.lanes))
        .unroll(i)
        .unroll(inTile);
  }
  scheduleCopies(stage);
  scheduleScores(stage);
  scheduleSums(stage);
  if (stage.dropout)
    stage.dropout->schedule(state, stage.block);
  scheduleOutput(stage);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void OnlineSoftmax::scheduleCopies(Stage &stage) {
  const TileShape &shape = context.shape;
  auto schedule = [&](Func copy, int64_t channels) {
    if (!copy.defined())
      return;
    copy.compute_at(state, stage.block)
        .store_in(kTileMemory)
        .bound(context.d, 0, static_cast<int>(channels))
        .bound_storage(context.j, static_cast<int>(shape.blockCapacity()))
        .vectorize(context.d, dividingWidth(channels, shape.registerLanes));
  };
  for (auto [index, copy] : llvm::enumerate(stage.keys.keyCopies))
    if (!shape.hasChannelLanes() || !vectors.areReadOnce[index])
      schedule(copy, shape.headDim);
  schedule(stage.keys.valueCopy, shape.valueDim);
}

void OnlineSoftmax::scheduleScores(Stage &stage) {
  Var i = context.i, x = stage.x, group = stage.group;
  const TileShape &shape = context.shape;
  int rows = static_cast<int>(shape.rows),
      lanes = static_cast<int>(shape.lanes),
      keys = static_cast<int>(shape.keys);
  int storedGroups = static_cast<int>(shape.blockCapacity()) / keys;
  ScoreLevels levels;
  levels.state = state;
  levels.block = stage.block;
  levels.hasBlocks = true;
  levels.keys = keys;

  stage.scores.compute_at(state, stage.block)
      .store_in(kTileMemory)
      .bound(i, 0, rows)
      .bound(x, 0, keys + 1)
      .bound_storage(group, storedGroups)
      .reorder(i, x, group)
      .vectorize(i, lanes)
      .unroll(i)
      .unroll(x);
  levels.group = Halide::LoopLevel(stage.scores, group);
  stage.score.schedule(levels);
  if (stage.denominatorGroups.defined()) {
    stage.denominatorGroups.compute_at(state, stage.block)
        .store_in(kTileMemory)
        .bound_storage(group, storedGroups)
        .vectorize(i, lanes)
        .unroll(i);
    levels.group = Halide::LoopLevel(stage.denominatorGroups, group);
    stage.denominator.schedule(levels);
  }
  if (!kind.exponentiates)
    return;
  if (shape.pairs.values) {
    schedulePairs(stage);
    return;
  }

  Var io("io"), ii("ii");
  stage.weights.compute_at(state, stage.block)
      .store_in(kTileMemory)
      .bound(i, 0, rows)
      .bound(x, 0, keys + 1)
      .bound_storage(group, storedGroups)
      .split(i, io, ii, lanes)
      .reorder(ii, x, io, group)
      .vectorize(ii)
      .unroll(x);
  stage.weightTile.compute_at(stage.weights, io);
  if (shape.hasChannelLanes()) {
    // A register tile is one vector.
    Var score("score");
    stage.weightTile.bound(i, 0, rows)
        .bound(x, 0, keys)
        .fuse(i, x, score)
        .vectorize(score, rows * keys);
  } else {
    stage.weightTile.vectorize(i, lanes).unroll(x);
  }
}

void OnlineSoftmax::schedulePairs(Stage &stage) {
  Var i = context.i, x = stage.x, group = stage.group, io("io"), ii("ii");
  const TileShape &shape = context.shape;
  int lanes = static_cast<int>(shape.lanes),
      pairs = static_cast<int>(shape.keys) / 2;
  stage.weights.compute_at(state, stage.block)
      .store_in(kTileMemory)
      .bound(i, 0, 2 * static_cast<int>(shape.rows))
      .bound(x, 0, pairs + 1)
      .bound_storage(group, static_cast<int>(shape.blockCapacity()) / 2 / pairs)
      .split(i, io, ii, 2 * lanes)
      .reorder(ii, x, io, group)
      .vectorize(ii)
      .unroll(x);
  stage.narrowed.compute_at(stage.weights, io)
      .bound_extent(i, 2 * lanes)
      .vectorize(i, 2 * lanes)
      .unroll(x);
  stage.groupSum.compute_at(stage.weights, io)
      .bound_extent(i, lanes)
      .vectorize(i, lanes);
  stage.weightTile.compute_at(stage.weights, io)
      .bound_extent(i, lanes)
      .vectorize(i, lanes)
      .unroll(x);
}

void OnlineSoftmax::scheduleSums(Stage &stage) {
  Var i = context.i;
  int lanes = static_cast<int>(context.shape.lanes);
  auto schedule = [&](Func sum, std::vector<Halide::VarOrRVar> order) {
    if (!sum.defined())
      return;
    order.insert(order.begin(), i);
    sum.compute_at(state, stage.block)
        .store_in(kTileMemory)
        .vectorize(i, lanes)
        .unroll(i)
        .update()
        .reorder(order)
        .vectorize(i, lanes)
        .unroll(i);
  };
  schedule(stage.blockMaximum, {stage.groups});
  if (context.shape.pairs.lateFactor != 1)
    stage.scaledMaximum.compute_at(state, stage.block)
        .store_in(kTileMemory)
        .vectorize(i, lanes)
        .unroll(i);
  schedule(stage.blockSum, {stage.groups});
  schedule(stage.blockWeights, {stage.groupedKeys.x, stage.groupedKeys.y});
}

void OnlineSoftmax::scheduleOutput(Stage &stage) {
  Var i = context.i, j = context.j, d = context.d;
  const TileShape &shape = context.shape;
  int rows = static_cast<int>(shape.rows),
      lanes = static_cast<int>(shape.lanes),
      stateLanes = static_cast<int>(shape.stateLanes()),
      values = static_cast<int>(shape.values);
  stage.outputs.compute_at(state, stage.registerTile)
      .bound(i, 0, static_cast<int>(shape.stateRows()))
      .bound_extent(d, values)
      .vectorize(i, stateLanes)
      .unroll(i)
      .unroll(d);
  if (shape.pairs.values) {
    Var outer("outer"), inner("inner");
    stage.outputs.update()
        .split(i, outer, inner, lanes)
        .reorder(stage.pairs.x, inner, outer, d, stage.pairs.y, stage.pairs.z)
        .atomic()
        .vectorize(inner)
        .vectorize(stage.pairs.x)
        .unroll(outer)
        .unroll(d);
    return;
  }
  stage.outputs.update()
      .reorder(i, d, stage.groupedKeys.x, stage.groupedKeys.y)
      .vectorize(i, stateLanes)
      .unroll(i)
      .unroll(d);
  // Rows of a table are gathered, lane by lane: little code matters more.
  for (Stage::ValueTable &table : stage.tables) {
    if (table.element)
      continue;
    table.row.compute_at(state, stage.block)
        .store_in(kTileMemory)
        .bound_storage(j, static_cast<int>(shape.blockCapacity()))
        .vectorize(i, lanes);
    table.outputs.compute_at(state, stage.registerTile)
        .bound(i, 0, rows)
        .bound_extent(d, values)
        .vectorize(i, lanes);
    table.outputs.update()
        .reorder(i, d, stage.groupedKeys.x, stage.groupedKeys.y)
        .vectorize(i, lanes);
  }
}
