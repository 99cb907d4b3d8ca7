// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Products.h"
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

/// Whether one product reads an argument of the steps. Two scores that a step
/// yields have products of their own.
static bool isReadOnce(PlanOp plan, unsigned argument) {
  llvm::SmallVector<StepOp> steps = getTileSteps(plan);
  mlir::Block &body = steps.front().getBody().front();
  return steps.size() == 1 && body.getArgument(argument).hasOneUse() &&
         llvm::count_if(body.back().getOperandTypes(),
                        llvm::IsaPred<ScoreType>) == 1;
}

StepVectors::StepVectors(PlanOp plan, std::vector<Func> queries,
                         const TileParams &params)
    : params(params), queries(std::move(queries)) {
  unsigned count = 0;
  for (StepOp step : getTileSteps(plan))
    count = step.getBody().front().getNumArguments() - this->queries.size();
  for (unsigned index = 0; index < count; ++index) {
    bool isRead = llvm::any_of(getTileSteps(plan), [&](StepOp step) {
      return !step.getBody()
                  .front()
                  .getArgument(this->queries.size() + index)
                  .use_empty();
    });
    keys.push_back(isRead ? std::optional(getKeySymbol(plan, index))
                          : std::nullopt);
    bool isLoaded =
        isRead && !keys.back()->empty() && plan.getKeysOp().getOnLoad();
    loaded.push_back(
        isLoaded ? plan.getKeysOp().getBody().front().back().getOperand(index)
                 : mlir::Value());
    areReadOnce.push_back(
        isLoaded &&
        isReadOnce(plan, static_cast<unsigned>(this->queries.size() + index)));
  }
}

Expr StepVectors::query(mlir::Value value, Expr i, Expr channel) const {
  unsigned index = llvm::cast<mlir::BlockArgument>(value).getArgNumber();
  return fromBits(queries[index](i, channel));
}

Expr StepVectors::key(mlir::Value value, const KeyBlocks &blocks, Expr t,
                      Expr j, Expr channel) const {
  unsigned index = getKeyNumber(value);
  if (index < blocks.keyCopies.size() && blocks.keyCopies[index].defined())
    return fromBits(blocks.keyCopies[index](channel, j, t));
  return storedKey(index, blocks.validKey(t, j), channel);
}

Expr StepVectors::keyBits(mlir::Value value, const KeyBlocks &blocks, Expr t,
                          Expr j, Expr channel) const {
  unsigned index = getKeyNumber(value);
  if (index < blocks.keyCopies.size() && blocks.keyCopies[index].defined())
    return blocks.keyCopies[index](channel, j, t);
  return params.stored(TileArgKind::Key, {channel, blocks.validKey(t, j)});
}

Expr StepVectors::keyCode(mlir::Value value, const KeyBlocks &blocks, Expr t,
                          Expr j, Expr channel) const {
  if (!isRead(getKeyNumber(value), blocks))
    return key(value, blocks, t, j, channel);
  return params.code(TileArgKind::Key, {channel, blocks.validKey(t, j)});
}

Expr StepVectors::keyScale(mlir::Value value, const KeyBlocks &blocks, Expr t,
                           Expr j) const {
  if (!isRead(getKeyNumber(value), blocks))
    return Expr();
  return params.scale(TileArgKind::Key, blocks.validKey(t, j));
}

Expr StepVectors::storedKey(unsigned index, Expr key, Expr channel) const {
  return params.element(TileArgKind::Key, {channel, key}, *keys[index]);
}

bool StepVectors::isStoredPlainly(unsigned index) const {
  return !keys[index] || params.isStoredPlainly(TileArgKind::Key, *keys[index]);
}

Func Products::dot(DotOp op) {
  Var i = context.i, j = context.j, t = context.t;
  int queryChannel = 0, keyChannel = 0,
      count = static_cast<int>(context.shape.headDim);
  if (std::optional<llvm::ArrayRef<int64_t>> channels = op.getChannels()) {
    queryChannel = static_cast<int>((*channels)[0]);
    keyChannel = static_cast<int>((*channels)[1]);
    count = static_cast<int>((*channels)[2]);
  }
  if (context.shape.hasChannelLanes())
    return channelDot(op, queryChannel, keyChannel, count);
  if (context.shape.pairs.scores)
    return pairDot(op, queryChannel, keyChannel, count);
  auto product = [&](Expr channel) {
    return vectors.query(op.getQuery(), i, queryChannel + channel) *
           vectors.key(op.getKey(), keys, t, j, keyChannel + channel);
  };
  int parts = static_cast<int>(
      llvm::divideCeil(count, kDotAccumulators * kSummedProducts));
  int length = static_cast<int>(
      llvm::alignTo(llvm::divideCeil(count, parts), kDotAccumulators));
  std::vector<Expr> sums;
  for (int begin = 0; begin < count; begin += length)
    sums.push_back(addSection(begin, std::min(begin + length, count), product));
  Func dots("dots");
  dots(i, j, t) = treeSum(sums);
  this->dots.push_back(dots);
  return dots;
}

Func Products::pairDot(DotOp op, int queryChannel, int keyChannel, int count) {
  Var i = context.i, j = context.j, t = context.t;
  const QueryPairs &query = vectors.getQueryPairs(op.getQuery());
  RDom r(0, 2, 0, count / 2, "pairs");
  Func sums("pair_sums"), dots("dots");
  sums(i, j, t) = 0.f;
  sums(i, j, t) += widenPair(query.bits(r.x, i, queryChannel / 2 + r.y)) *
                   widenPair(vectors.keyBits(op.getKey(), keys, t, j,
                                             keyChannel + 2 * r.y + r.x));
  pairSums.push_back(sums);
  bool isLate = context.shape.pairs.lateFactor != 1;
  dots(i, j, t) = isLate ? Expr(sums(i, j, t))
                         : sums(i, j, t) * static_cast<float>(query.factor);
  this->dots.push_back(dots);
  return dots;
}

/// Keys are read one after another, and each from its first channel to its
/// last: memory is fastest so. A square has as many scores as a vector has
/// lanes. The index of a number is a string of bits, those of its score, rows
/// before keys, then those of the lane. Interleaving the first half of the
/// numbers with the second moves the first bit behind the last, so that the
/// lane's first bit is that of the vector: adding neighbouring vectors sums
/// over it. After all bits of the lane one vector holds all scores in order.
Func Products::channelDot(DotOp op, int queryChannel, int keyChannel,
                          int count) {
  Var i = context.i, j = context.j, t = context.t;
  int rows = static_cast<int>(context.shape.rows),
      lanes = static_cast<int>(context.shape.channelLanes),
      keysOfSquare = lanes / rows;
  Square &square = squares.emplace_back();
  square.vector = vectors.getKeyNumber(op.getKey());
  Var x = square.element, group = square.group;
  Expr lane = x % lanes, score = x / lanes;
  Expr key = group * keysOfSquare + score / rows;
  // LLVM loads what a sum adds last first.
  Expr sum;
  for (int channel = count - lanes; channel >= 0; channel -= lanes) {
    Expr product =
        vectors.query(op.getQuery(), score % rows,
                      queryChannel + channel + lane) *
        vectors.keyCode(op.getKey(), keys, t, key, keyChannel + channel + lane);
    sum = sum.defined() ? product + sum : product;
  }
  square.sums.emplace_back("channel_products");
  square.sums.back()(x, group, t) = sum;
  for (int numbers = lanes * lanes; numbers > lanes; numbers /= 2) {
    Func mixed("mixed_halves"), folded("folded_halves");
    mixed(x, group, t) =
        square.sums.back()(x / 2 + x % 2 * (numbers / 2), group, t);
    Expr vector = x / lanes * (2 * lanes) + x % lanes;
    folded(x, group, t) =
        mixed(vector, group, t) + mixed(vector + lanes, group, t);
    square.mixed.push_back(mixed);
    square.sums.push_back(folded);
  }
  Func dots("dots");
  Expr dot =
      square.sums.back()(i + rows * (j % keysOfSquare), j / keysOfSquare, t);
  Expr scale = vectors.keyScale(op.getKey(), keys, t, j);
  dots(i, j, t) = scale.defined() ? dot * scale : dot;
  return dots;
}

/// The sum over the channels begin .. end - 1. Accumulators take turns, so that
/// the loop is one walk along the channels.
Expr Products::addSection(int begin, int end, Product product) {
  Var i = context.i, j = context.j, t = context.t;
  Section &section = sections.emplace_back();
  RDom r(0, (end - begin) / kDotAccumulators, "channels");
  section.accumulators(i, j, turn, t) = 0.f;
  section.accumulators(i, j, turn, t) +=
      product(begin + r * kDotAccumulators + turn);
  std::vector<Expr> sums;
  for (int n = 0; n < kDotAccumulators; ++n)
    sums.push_back(section.accumulators(i, j, n, t));
  for (int rest = end - (end - begin) % kDotAccumulators; rest < end; ++rest)
    sums.push_back(product(rest));
  section.dots(i, j, t) = treeSum(sums);
  return section.dots(i, j, t);
}

Expr Products::readVector(TableDotOp op, Expr channel) const {
  mlir::Value vector = op.getVector();
  if (llvm::isa<QueryType>(vector.getType()))
    return vectors.query(vector, context.i, channel);
  return vectors.key(vector, keys, context.t, context.j, channel);
}

// v . (e W) = (v W') . e for a row e of the unprojected table. Each number of e
// is a function that is evaluated for every score, in f64 like the sums.
mlir::FailureOr<Func> Products::projectedDot(TableDotOp op, Func place,
                                             Func share, TermSource &terms) {
  Var i = context.i, j = context.j, t = context.t, m("m");
  auto project = op.getTable().getDefiningOp<ProjectOp>();
  auto function = project.getTable().getDefiningOp<TableMapOp>();
  if (!function)
    return op.emitOpError("expects a posenc.table_map behind its projected "
                          "table");
  bool failed = false;
  auto read = [&](mlir::Value table, Expr row, Expr channel) -> Expr {
    TermInput index;
    index.value = row;
    mlir::FailureOr<TermInput> term =
        terms.readTable(table, TokenPlace(), index, channel);
    failed |= mlir::failed(term);
    return failed ? Halide::Internal::make_const(Halide::Float(64), 0)
                  : Halide::cast<double>(term->value);
  };
  ProjectedDot dot{Func("projected_dots"), Func("projected_vector"),
                   llvm::isa<QueryType>(op.getVector().getType())};
  RDom channel(0, static_cast<int>(context.shape.headDim), "channel");
  std::vector<Var> token =
      dot.isOfQuery ? std::vector<Var>{i, m} : std::vector<Var>{j, m, t};
  dot.vector(token) = Halide::cast<double>(0);
  dot.vector(token) += Halide::cast<double>(readVector(op, channel)) *
                       read(project.getWeights(), m, channel);

  RDom index(0, static_cast<int>(function.getChannels()), "index");
  Expr row = place(i, j, t), value;
  if (llvm::isa<ScoreType>(op.getIndex().getType())) {
    Expr low = floor(row), upper = Halide::cast<double>(share(i, j, t));
    value = read(project.getTable(), low, index) *
                (Halide::cast<double>(1) - upper) +
            read(project.getTable(), low + 1.f, index) * upper;
  } else {
    value = read(project.getTable(), row, index);
  }
  if (failed)
    return mlir::failure();
  std::vector<Expr> at = dot.isOfQuery ? std::vector<Expr>{i, index.x}
                                       : std::vector<Expr>{j, index.x, t};
  dot.product(i, j, t) = Halide::cast<double>(0);
  dot.product(i, j, t) += dot.vector(at) * value;
  projectedDots.push_back(dot);
  Func result("table_dots");
  result(i, j, t) = Halide::cast<float>(dot.product(i, j, t));
  dots.push_back(result);
  return result;
}

mlir::FailureOr<Func> Products::tableDot(TableDotOp op, Func place, Func share,
                                         TermSource &terms) {
  if (op.getTable().getDefiningOp<ProjectOp>())
    return projectedDot(op, place, share, terms);
  Var i = context.i, j = context.j, t = context.t;
  RDom channel(0, static_cast<int>(context.shape.headDim), "channel");
  bool failed = false;
  auto element = [&](Expr row) -> Expr {
    TermInput index;
    index.value = row;
    mlir::FailureOr<TermInput> term =
        terms.readTable(op.getTable(), TokenPlace(), index, channel.x);
    failed |= mlir::failed(term);
    return failed ? Expr(0.f) : Halide::cast<float>(term->value);
  };
  Expr row = place(i, j, t), value;
  if (llvm::isa<ScoreType>(op.getIndex().getType())) {
    Expr low = floor(row), upper = share(i, j, t);
    value = element(low) * (1.f - upper) + element(low + 1.f) * upper;
  } else {
    value = element(row);
  }
  if (failed)
    return mlir::failure();
  Func product("table_dots");
  product(i, j, t) = 0.f;
  product(i, j, t) += readVector(op, channel) * value;
  tableDots.push_back(product);
  return product;
}

mlir::FailureOr<Func> Products::constantTableDot(TableDotOp op, Expr row,
                                                 TermSource &terms) {
  Var i = context.i, j = context.j, t = context.t;
  TermInput index;
  index.value = row;
  bool failed = false;
  auto product = [&](Expr channel) -> Expr {
    mlir::FailureOr<TermInput> term =
        terms.readTable(op.getTable(), TokenPlace(), index, channel);
    failed |= mlir::failed(term);
    return failed ? Expr(0.f)
                  : readVector(op, channel) * Halide::cast<float>(term->value);
  };
  int channels = static_cast<int>(context.shape.headDim);
  if (llvm::isa<QueryType>(op.getVector().getType())) {
    RDom channel(0, channels, "channel");
    Func result("query_row_dots");
    result(i) = 0.f;
    result(i) += product(channel);
    queryRowDots.push_back(result);
    return failed ? mlir::FailureOr<Func>(mlir::failure()) : result;
  }
  KeyRowDot &dot = keyRowDots.emplace_back();
  int lanes = static_cast<int>(context.shape.lanes);
  RDom vector(0, channels / lanes, "vector");
  dot.lanes(dot.lane, j, t) = 0.f;
  dot.lanes(dot.lane, j, t) += product(vector * lanes + dot.lane);
  std::vector<Expr> sums;
  for (int lane = 0; lane < lanes; ++lane)
    sums.push_back(dot.lanes(lane, j, t));
  for (int rest = channels - channels % lanes; rest < channels; ++rest)
    sums.push_back(product(rest));
  dot.result(j, t) = toBits(treeSum(sums));
  return failed ? mlir::FailureOr<Func>(mlir::failure()) : dot.result;
}

/// A key's vector where it is multiplied.
void Products::placeCopy(Func copy, Func product, Var key) const {
  copy.compute_at(product, key)
      .store_in(kTileMemory)
      .bound(context.d, 0, static_cast<int>(context.shape.headDim))
      .bound_extent(context.j, 1)
      .vectorize(context.d, dividingWidth(context.shape.headDim,
                                          context.shape.registerLanes));
}

void Products::schedule(const ScoreLevels &levels) {
  Var i = context.i, j = context.j;
  int lanes = static_cast<int>(context.shape.lanes),
      rows = static_cast<int>(context.shape.rows),
      keysOfTile = static_cast<int>(levels.keys);
  // Register tiles: all rows times a few keys. Both ranges are stated whole:
  // Halide derives tighter ones from the conditions of masks, and keeps their
  // lower ends when the extents alone are given.
  auto placeTile = [&](Func tile) {
    tile.compute_at(levels.group)
        .bound(i, 0, rows)
        .align_bounds(j, keysOfTile)
        .bound_extent(j, keysOfTile)
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j);
  };
  for (Func dot : dots)
    placeTile(dot);
  int channels = static_cast<int>(context.shape.channelLanes);
  for (Square &square : squares) {
    int numbers = channels * channels;
    for (Func sum : square.sums) {
      sum.compute_at(levels.group)
          .bound(square.element, 0, numbers)
          .bound_extent(square.group, 1);
      if (numbers == channels * channels) {
        // Key by key: what makes a key's vector is done beside its products.
        Var key("key"), inKey("in_key"), lane("lane");
        sum.split(square.element, key, inKey, rows * channels)
            .split(inKey, inKey, lane, channels)
            .vectorize(lane)
            .unroll(inKey);
        if (vectors.areReadOnce[square.vector])
          placeCopy(keys.keyCopies[square.vector], sum, key);
        else
          sum.unroll(key);
      } else {
        sum.vectorize(square.element, channels).unroll(square.element);
      }
      numbers /= 2;
    }
    numbers = channels * channels;
    for (Func mixed : square.mixed) {
      // Two strided stores, of even and of odd numbers, are made a dense one.
      Var vector("vector"), lane("lane"), odd("odd");
      mixed.compute_at(levels.group)
          .bound(square.element, 0, numbers)
          .bound_extent(square.group, 1)
          .split(square.element, vector, odd, 2)
          .split(vector, vector, lane, channels)
          .reorder(lane, odd, vector)
          .vectorize(lane)
          .unroll(odd)
          .unroll(vector);
      numbers /= 2;
    }
  }
  for (Func sums : pairSums) {
    Var outer("outer"), inner("inner");
    placeTile(sums);
    sums.update()
        .split(i, outer, inner, lanes)
        .reorder(sums.rvars(0)[0], inner, outer, j, sums.rvars(0)[1])
        .atomic()
        .vectorize(inner)
        .vectorize(sums.rvars(0)[0])
        .unroll(outer)
        .unroll(j);
  }
  for (Section &section : sections) {
    Func sums = section.accumulators;
    placeTile(section.dots);
    placeTile(sums);
    sums.bound(turn, 0, kDotAccumulators).unroll(turn);
    sums.update()
        .reorder(i, j, turn, sums.rvars(0)[0])
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j)
        .unroll(turn);
  }
  // Rows of a table are gathered, lane by lane: little code matters more.
  for (Func product : tableDots) {
    Var outer("outer"), inner("inner");
    product.compute_at(levels.group)
        .bound(i, 0, rows)
        .align_bounds(j, keysOfTile)
        .bound_extent(j, keysOfTile)
        .vectorize(i, lanes);
    product.update()
        .split(i, outer, inner, lanes)
        .reorder(inner, product.rvars(0)[0], outer, j)
        .vectorize(inner);
  }
  for (ProjectedDot &dot : projectedDots) {
    dot.product.compute_at(levels.group)
        .bound(i, 0, rows)
        .align_bounds(j, keysOfTile)
        .bound_extent(j, keysOfTile)
        .vectorize(i, lanes);
    RVar index = dot.product.rvars(0)[0];
    dot.product.update().reorder(i, j, index).vectorize(i, lanes);
    dot.vector.compute_at(dot.product, index);
    if (dot.isOfQuery)
      dot.vector.bound(i, 0, rows)
          .vectorize(i, lanes)
          .update()
          .reorder(i, dot.vector.rvars(0)[0])
          .vectorize(i, lanes);
  }
  // Once for a block of keys.
  auto placeBlock = [&](Func func) {
    if (levels.hasBlocks)
      func.compute_at(levels.state, levels.block);
    else
      func.compute_at(levels.group);
  };
  for (Func product : queryRowDots) {
    placeBlock(product);
    product.bound(i, 0, rows)
        .vectorize(i, lanes)
        .update()
        .reorder(i, product.rvars(0)[0])
        .vectorize(i, lanes);
  }
  for (KeyRowDot &dot : keyRowDots) {
    placeBlock(dot.result);
    if (levels.hasBlocks)
      dot.result.store_in(kTileMemory)
          .bound_storage(j, static_cast<int>(context.shape.blockCapacity()));
    dot.lanes.compute_at(dot.result, j)
        .bound(dot.lane, 0, lanes)
        .vectorize(dot.lane)
        .update()
        .vectorize(dot.lane);
  }
}
