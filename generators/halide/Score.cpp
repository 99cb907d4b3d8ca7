// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Score.h"
#include "Numerics.h"
#include "RegionExpr.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;
using llvm::SmallVector;
using mlir::FailureOr;

/// Biases of more than these are kept for a few keys only, for want of stack.
static constexpr size_t kBlockBiases = 2;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

FailureOr<ScoreValue> ScoreBuilder::build(mlir::Value score) {
  auto found = scores.find(score);
  if (found != scores.end())
    return found->second;
  mlir::Operation *op = score.getDefiningOp();
  FailureOr<ScoreValue> value = translate(*op);
  if (mlir::failed(value))
    return mlir::failure();
  // Others are Funcs, or loads.
  if (llvm::isa<AddOp, SelectOp, TileToBase2Op>(op) && !score.hasOneUse())
    value = share(*value);
  scores[score] = *value;
  return value;
}

FailureOr<ScoreValue> ScoreBuilder::buildWithinKeys(mlir::Value score) {
  FailureOr<ScoreValue> value = build(score);
  if (mlir::failed(value) || keys.whole)
    return value;
  return masked(*value,
                [=](Expr j) { return keys.key(context.t, j) < keys.end; });
}

FailureOr<ScoreValue> ScoreBuilder::translate(mlir::Operation &op) {
  ScoreValue result;
  if (auto dot = llvm::dyn_cast<DotOp>(op)) {
    Func dots = products.dot(dot);
    float scale = static_cast<float>(dot.getScale().convertToDouble());
    result.at = [=](Expr j) {
      Expr product = dots(context.i, j, context.t);
      return scale == 1.f ? product : product * scale;
    };
    return result;
  }
  if (auto add = llvm::dyn_cast<AddOp>(op)) {
    FailureOr<ScoreValue> lhs = build(add.getLhs()), rhs = build(add.getRhs());
    if (mlir::failed(lhs) || mlir::failed(rhs))
      return mlir::failure();
    result.at = [a = *lhs, b = *rhs](Expr j) { return a.at(j) + b.at(j); };
    result.mayBeMasked = lhs->mayBeMasked || rhs->mayBeMasked;
    return result;
  }
  if (auto change = llvm::dyn_cast<TileToBase2Op>(op)) {
    FailureOr<ScoreValue> input = build(change.getInput());
    if (mlir::failed(input))
      return mlir::failure();
    result.at = [a = *input](Expr j) { return a.at(j) * 1.4426950408889634f; };
    result.mayBeMasked = input->mayBeMasked;
    return result;
  }
  if (auto strip = llvm::dyn_cast<TileLoadStripOp>(op)) {
    Halide::ImageParam buffer =
        context.params.buffer(TileArgKind::Strip, strip.getTable());
    result.at = [=](Expr j) {
      Expr distance = context.query(context.i) - keys.validKey(context.t, j);
      // Rows behind the last have a distance, but no head.
      return context.shape.hasHeads
                 ? buffer(distance, context.head(context.validRow(context.i)))
                 : buffer(distance);
    };
    // A function of the distance may be -inf.
    result.mayBeMasked = true;
    return result;
  }
  if (auto dot = llvm::dyn_cast<TableDotOp>(op))
    return tableDot(dot);
  if (auto biasOp = llvm::dyn_cast<BiasOp>(op))
    return bias(biasOp);
  if (auto mapOp = llvm::dyn_cast<MapOp>(op))
    return map(mapOp);
  if (auto selectOp = llvm::dyn_cast<SelectOp>(op))
    return select(selectOp);
  if (auto mlp = llvm::dyn_cast<HeadMlpOp>(op)) {
    // Computed before, for all heads together.
    Halide::ImageParam mixed =
        context.params.buffer(TileArgKind::Mixed, getNetworkSymbol(mlp));
    result.at = [=](Expr j) {
      return mixed(context.i, keys.validKey(context.t, j));
    };
    result.mayBeMasked = true;
    return result;
  }
  if (auto scanOp = llvm::dyn_cast<RowscanOp>(op))
    return scan(scanOp);
  return op.emitOpError("cannot be generated in a posenc.step");
}

ScoreValue ScoreBuilder::share(ScoreValue score, bool isLarge) {
  Func mapped("mapped");
  mapped(context.i, context.j, context.t) = score.at(context.j);
  maps.push_back({mapped, Func(), isLarge});
  score.at = [=](Expr j) { return mapped(context.i, j, context.t); };
  return score;
}

ScoreValue ScoreBuilder::maskedAs(ScoreValue score, ScoreValue other) {
  if (!other.mayBeMasked)
    return score;
  other = share(other);
  return masked(score, [=](Expr j) { return !isMaskedScore(other.at(j)); });
}

ScoreValue ScoreBuilder::zeroMasked(ScoreValue score) {
  if (score.mayBeMasked)
    score.at = [at = share(score).at](Expr j) {
      return Halide::select(isMaskedScore(at(j)), 0.f, at(j));
    };
  score.mayBeMasked = false;
  return score;
}

ScoreValue ScoreBuilder::masked(ScoreValue score,
                                std::function<Expr(Expr)> allowed) {
  ScoreValue result;
  result.mayBeMasked = true;
  result.at = [=](Expr j) {
    return Halide::select(hideFromBounds(allowed(j)), score.at(j),
                          kMaskedScore);
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Terms that do not depend on content
//===----------------------------------------------------------------------===//

namespace {
/// What the inputs of a region have in common.
struct RegionInputs {
  SmallVector<Expr> arguments;
  bool onRow = false, onKey = false;
  /// Whether one of the tables of pairs masks this pair; undefined without any.
  Expr isPairMasked;

  RegionInputs(llvm::ArrayRef<TermInput> inputs, Halide::Type type,
               llvm::ArrayRef<Expr> leading = {}) {
    for (const Expr &score : leading)
      arguments.push_back(Halide::cast(type, score));
    for (const TermInput &input : inputs) {
      onRow |= input.dependsOnRow;
      onKey |= input.dependsOnKey;
      arguments.push_back(Halide::cast(type, input.value));
      if (!input.isPairTable)
        continue;
      Expr isMasked = isMaskedScore(input.value);
      isPairMasked =
          isPairMasked.defined() ? isPairMasked || isMasked : isMasked;
    }
  }
};
} // namespace

/// The variables that a term depends on, innermost first.
static std::vector<Var> getVariables(const TileContext &context, bool onRow,
                                     bool onKey) {
  std::vector<Var> variables;
  if (onRow)
    variables.push_back(context.i);
  if (onKey)
    variables.push_back(context.j);
  variables.push_back(context.t);
  return variables;
}

static std::optional<RDom> makeSum(mlir::ValueRange inputs) {
  std::optional<int64_t> extent = getSumExtent(inputs);
  if (!extent)
    return std::nullopt;
  return RDom(0, static_cast<int>(*extent), "summed");
}

// A bias is evaluated in f64 and stored as f32, once per block, over no more of
// rows and keys than it depends on.
FailureOr<ScoreValue> ScoreBuilder::bias(BiasOp op) {
  std::optional<RDom> sum = makeSum(op.getInputs());
  FailureOr<SmallVector<TermInput>> read = terms.read(
      op.getInputs(), terms.getPlace(context.j), sum ? Expr(sum->x) : Expr());
  if (mlir::failed(read))
    return mlir::failure();
  RegionInputs inputs(*read, Halide::Float(64));

  ScoreValue result;
  result.mayBeMasked = true;

  // A table of pairs as it is: no copy of the copy.
  mlir::Block &body = op.getBody().front();
  mlir::Value yielded = body.getTerminator()->getOperand(0);
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(yielded);
      argument && (*read)[argument.getArgNumber()].isPairTable &&
      read->size() == 1) {
    mlir::ValueRange values = op.getInputs();
    result.at = [=](Expr j) {
      return terms.read(values, terms.getPlace(j))->front().value;
    };
    return result;
  }

  Expr value =
      evaluateRegion(op.getBody(), inputs.arguments, Halide::Float(64));
  std::vector<Var> variables =
      getVariables(context, inputs.onRow, inputs.onKey);
  Term term{Func("bias"), Func()};
  if (sum) {
    term.sum = Func("bias_sum");
    term.sum(variables) = Halide::cast<double>(0);
    term.sum(variables) += value;
    value = term.sum(variables);
  }
  value = Halide::cast<float>(value);
  if (inputs.isPairMasked.defined())
    value = Halide::select(inputs.isPairMasked, kMaskedScore, value);
  term.result(variables) = toBits(value);
  biases.push_back(term);

  result.at = [=, func = term.result](Expr j) {
    std::vector<Expr> index;
    for (const Var &variable : variables)
      index.push_back(variable.name() == context.j.name() ? j : Expr(variable));
    return fromBits(func(index));
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Terms that do
//===----------------------------------------------------------------------===//

FailureOr<ScoreValue> ScoreBuilder::tableDot(TableDotOp op) {
  ScoreValue result;
  Func place("table_row"), share("table_share");
  if (llvm::isa<ScoreType>(op.getIndex().getType())) {
    FailureOr<ScoreValue> index = build(op.getIndex());
    if (mlir::failed(index))
      return mlir::failure();
    result.mayBeMasked = index->mayBeMasked;
    Expr row = index->at(context.j);
    place(context.i, context.j, context.t) = row;
    // Rows that follow one another may differ much: a sum of many numbers says
    // more about where it stands between them than one f32 can.
    Expr between = Halide::strict_float(row - floor(row));
    if (index->rest)
      between = Halide::strict_float(between + index->rest(context.j));
    share(context.i, context.j, context.t) = between;
    indices.push_back({share, Func()});
  } else {
    FailureOr<TermInput> index =
        terms.readIndex(op.getIndex(), terms.getPlace(context.j));
    if (mlir::failed(index))
      return mlir::failure();
    bool isProjected = llvm::isa<ProjectOp>(op.getTable().getDefiningOp());
    if (!index->dependsOnRow && !index->dependsOnKey && !isProjected)
      return constantTableDot(op, roundToInt(index->value));
    place(context.i, context.j, context.t) = roundToInt(index->value);
  }
  indices.push_back({place, Func()});
  FailureOr<Func> product = products.tableDot(op, place, share, terms);
  if (mlir::failed(product))
    return mlir::failure();
  float scale = static_cast<float>(op.getScale().convertToDouble());
  result.at = [=, func = *product, isMasked = result.mayBeMasked](Expr j) {
    Expr value = func(context.i, j, context.t) * scale;
    if (!isMasked)
      return value;
    return Halide::select(isMaskedScore(place(context.i, j, context.t)),
                          kMaskedScore, value);
  };
  return result;
}

/// One number for each row, or for each key.
FailureOr<ScoreValue> ScoreBuilder::constantTableDot(TableDotOp op, Expr row) {
  FailureOr<Func> product = products.constantTableDot(op, row, terms);
  if (mlir::failed(product))
    return mlir::failure();
  bool isOfQuery = llvm::isa<QueryType>(op.getVector().getType());
  float scale = static_cast<float>(op.getScale().convertToDouble());
  ScoreValue result;
  result.at = [=, func = *product](Expr j) {
    return (isOfQuery ? func(context.i) : fromBits(func(j, context.t))) * scale;
  };
  return result;
}

// A function of scores is evaluated in f32, like the scores, on its way from
// the accumulators to the score tile; in f64 where it reads numbers that need
// it. Masked scores stay masked.
FailureOr<ScoreValue> ScoreBuilder::map(MapOp op) {
  SmallVector<Expr> leading;
  ScoreValue result;
  Expr isMasked;
  auto addMask = [&](Expr mask) {
    isMasked = isMasked.defined() ? isMasked || mask : mask;
    result.mayBeMasked = true;
  };
  for (mlir::Value operand : op.getScores()) {
    FailureOr<ScoreValue> score = build(operand);
    if (mlir::failed(score))
      return mlir::failure();
    leading.push_back(score->at(context.j));
    if (score->mayBeMasked)
      addMask(isMaskedScore(leading.back()));
  }
  std::optional<RDom> sum = makeSum(op.getInputs());
  FailureOr<SmallVector<TermInput>> read = terms.read(
      op.getInputs(), terms.getPlace(context.j), sum ? Expr(sum->x) : Expr());
  if (mlir::failed(read))
    return mlir::failure();
  bool isPrecise = llvm::any_of(
      *read, [](const TermInput &input) { return input.isPrecise; });
  Halide::Type type = Halide::Float(isPrecise ? 64 : 32);
  RegionInputs inputs(*read, type, leading);
  if (inputs.isPairMasked.defined())
    addMask(inputs.isPairMasked);

  Expr value = evaluateRegion(op.getBody(), inputs.arguments, type);
  Mapped mapped{Func("mapped"), Func(),
                isPrecise || callsLibrary(op.getBody())};
  std::vector<Var> variables = getVariables(context, true, true);
  if (sum) {
    mapped.isLarge = true;
    mapped.sum = Func("map_sum");
    mapped.sum(variables) = Halide::cast(type, 0);
    mapped.sum(variables) += value;
    value = mapped.sum(variables);
  }
  value = Halide::cast<float>(value);
  if (isMasked.defined())
    value = Halide::select(isMasked, kMaskedScore, value);
  // A Func of its own: the score is used twice, for the tile and its maximum.
  mapped.func(variables) = value;
  maps.push_back(mapped);
  result.at = [=, func = mapped.func](Expr j) {
    return func(context.i, j, context.t);
  };
  return result;
}

FailureOr<ScoreValue> ScoreBuilder::scan(RowscanOp op) {
  FailureOr<ScoreValue> input = build(op.getScore());
  if (mlir::failed(input))
    return mlir::failure();
  Func sums = scans.lookup(op);
  bool isExclusive = op.getKind() == ScanKind::exclusive;
  ScoreValue result;
  result.mayBeMasked = input->mayBeMasked;
  result.at = [=, score = *input](Expr j) {
    Expr first = keys.validKey(context.t, j) + (isExclusive ? 1 : 0);
    Expr last = context.number(TileArgKind::KeyCount) - 1;
    Expr value = Halide::select(first <= last,
                                sums(context.i, 2 * min(first, last)), 0.f);
    if (!score.mayBeMasked)
      return value;
    return Halide::select(isMaskedScore(score.at(j)), kMaskedScore, value);
  };
  result.rest = [=](Expr j) {
    Expr first = keys.validKey(context.t, j) + (isExclusive ? 1 : 0);
    Expr last = context.number(TileArgKind::KeyCount) - 1;
    return Halide::select(first <= last,
                          sums(context.i, 2 * min(first, last) + 1), 0.f);
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

static Expr floorDiv(Expr a, int64_t b) {
  if (a.type().is_int())
    return a / static_cast<int>(b);
  return floor(a /
               Halide::Internal::make_const(a.type(), static_cast<double>(b)));
}

/// Whether a query at `a` sees a key at `b`; undefined for a mask that is not
/// known.
static Expr allowsPair(mlir::Attribute mask, Expr a, Expr b) {
  if (llvm::isa<FullMaskAttr>(mask))
    return Halide::Internal::const_true();
  if (llvm::isa<CausalMaskAttr>(mask))
    return b <= a;
  if (auto window = llvm::dyn_cast<WindowMaskAttr>(mask)) {
    Expr allowed = Halide::Internal::const_true();
    if (window.getLeft() >= 0)
      allowed = a - b <= static_cast<int>(window.getLeft());
    if (window.getRight() >= 0)
      allowed = allowed && b - a <= static_cast<int>(window.getRight());
    return allowed;
  }
  if (auto chunk = llvm::dyn_cast<ChunkMaskAttr>(mask))
    return floorDiv(a, chunk.getSize()) == floorDiv(b, chunk.getSize()) &&
           b <= a;
  return Expr();
}

/// Whether the mask of a select allows a pair.
FailureOr<std::function<Expr(Expr)>> ScoreBuilder::compare(SelectOp op) {
  MaskAttrInterface mask = op.getMaskAttr();
  if (!allowsPair(mask, Expr(0), Expr(0)).defined())
    return op.emitOpError("has a mask that cannot be generated: ") << mask;
  if (op.getPositions().empty()) {
    bool isShifted = mask.getMaskAlignment().value_or(
                         Alignment::bottom_right) == Alignment::bottom_right;
    return std::function<Expr(Expr)>([=](Expr j) {
      Expr row = context.queryIndex(context.i);
      if (isShifted)
        row = row + context.number(TileArgKind::QueryShift);
      return allowsPair(mask, row,
                        context.number(TileArgKind::KeyBegin) +
                            keys.key(context.t, j));
    });
  }
  mlir::Value query = op.getPositions()[0], key = op.getPositions()[1];
  for (mlir::Value side : {query, key})
    if (mlir::failed(terms.readIndex(side, terms.getPlace(context.j))))
      return mlir::failure();
  return std::function<Expr(Expr)>([=](Expr j) {
    TokenPlace place = terms.getPlace(j);
    return allowsPair(mask, terms.readIndex(query, place)->value,
                      terms.readIndex(key, place)->value);
  });
}

FailureOr<ScoreValue> ScoreBuilder::select(SelectOp op) {
  FailureOr<ScoreValue> score = build(op.getScore());
  if (mlir::failed(score))
    return mlir::failure();
  ScoreValue other;
  if (op.getOther()) {
    FailureOr<ScoreValue> built = build(op.getOther());
    if (mlir::failed(built))
      return mlir::failure();
    other = *built;
  }

  std::function<Expr(Expr)> allowed;
  Expr isPairMasked;
  if (op.getMaskAttr()) {
    FailureOr<std::function<Expr(Expr)>> predicate = compare(op);
    if (mlir::failed(predicate))
      return mlir::failure();
    allowed = *predicate;
  } else {
    FailureOr<SmallVector<TermInput>> read =
        terms.read(op.getInputs(), terms.getPlace(context.j));
    if (mlir::failed(read))
      return mlir::failure();
    RegionInputs inputs(*read, Halide::Float(64));
    // 0: masked, 1: the score, 2: the other.
    Expr choice = Halide::select(
        evaluateRegion(op.getBody(), inputs.arguments, Halide::Float(64)), 1,
        2);
    if (inputs.isPairMasked.defined())
      choice = Halide::select(inputs.isPairMasked, 0, choice);
    Func chosen("chosen");
    chosen(context.i, context.j, context.t) = choice;
    indices.push_back({chosen, Func()});
    allowed = [=](Expr j) { return chosen(context.i, j, context.t) == 1; };
    if (other.at && inputs.isPairMasked.defined())
      other = masked(
          other, [=](Expr j) { return chosen(context.i, j, context.t) == 2; });
  }
  if (!other.at)
    return masked(*score, allowed);
  ScoreValue result;
  result.mayBeMasked = score->mayBeMasked || other.mayBeMasked;
  result.at = [=, a = *score, b = other](Expr j) {
    return Halide::select(hideFromBounds(allowed(j)), a.at(j), b.at(j));
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static bool hasVariable(const std::vector<Var> &variables, const Var &which) {
  return llvm::any_of(variables, [&](const Var &variable) {
    return variable.name() == which.name();
  });
}

void ScoreBuilder::schedule(const ScoreLevels &levels) {
  int lanes = static_cast<int>(context.shape.lanes),
      rows = static_cast<int>(context.shape.rows),
      count = static_cast<int>(levels.keys);
  Var i = context.i, j = context.j, t = context.t;
  products.schedule(levels);
  if (levels.hasBlocks)
    terms.schedule(levels.state, levels.block);

  size_t inBlocks = 0;
  for (Term &term : biases) {
    std::vector<Var> variables = term.result.args();
    bool onRow = hasVariable(variables, i), onKey = hasVariable(variables, j);
    bool isBlock =
        levels.hasBlocks && (!onRow || !onKey || inBlocks++ < kBlockBiases);
    if (isBlock)
      term.result.compute_at(levels.state, levels.block);
    else
      term.result.compute_at(levels.group);
    term.result.store_in(kTileMemory);
    if (onKey)
      term.result.bound_storage(
          j, isBlock ? static_cast<int>(context.shape.blockCapacity()) : count);
    if (onRow)
      term.result.vectorize(i, lanes);
    if (!term.sum.defined())
      continue;
    term.sum.compute_at(term.result, onKey ? j : t);
    if (onRow) {
      term.sum.bound(i, 0, rows).vectorize(i, lanes);
      term.sum.update().reorder(i, term.sum.rvars(0)[0]).vectorize(i, lanes);
    }
  }
  for (Term &index : indices)
    index.result.compute_at(levels.group)
        .bound(i, 0, rows)
        .align_bounds(j, count)
        .bound_extent(j, count)
        .vectorize(i, lanes);
  for (Mapped &mapped : maps) {
    auto place = [&](Func func) {
      func.compute_at(levels.group)
          .bound(i, 0, rows)
          .align_bounds(j, count)
          .bound_extent(j, count)
          .vectorize(i, lanes);
    };
    place(mapped.func);
    if (!mapped.isLarge)
      mapped.func.unroll(i).unroll(j);
    if (mapped.sum.defined()) {
      place(mapped.sum);
      mapped.sum.update()
          .reorder(i, mapped.sum.rvars(0)[0])
          .vectorize(i, lanes);
    }
  }
}
