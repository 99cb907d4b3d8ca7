// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Score.h"
#include "Numerics.h"
#include "RegionExpr.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::Var;
using llvm::SmallVector;
using mlir::FailureOr;

FailureOr<ScoreValue> ScoreBuilder::build(StepOp step) {
  mlir::Block &body = step.getBody().front();
  for (mlir::Operation &op : body.without_terminator()) {
    // Inputs of terms are read where they are used.
    if (llvm::isa<PositionOp, RelationOp, TableOp>(op))
      continue;
    FailureOr<ScoreValue> value = translate(op);
    if (mlir::failed(value))
      return mlir::failure();
    scores[op.getResult(0)] = *value;
  }
  mlir::Operation *yield = body.getTerminator();
  auto found = yield->getNumOperands() == 1 ? scores.find(yield->getOperand(0))
                                            : scores.end();
  if (found == scores.end())
    return yield->emitOpError("expects a score of this step");
  ScoreValue result = found->second;
  if (keys.whole)
    return result;
  return masked(result,
                [=](Expr j) { return keys.key(context.t, j) < keys.end; });
}

FailureOr<ScoreValue> ScoreBuilder::translate(mlir::Operation &op) {
  ScoreValue result;
  if (auto dot = llvm::dyn_cast<DotOp>(op)) {
    // The queries and keys are those of the prologue; there are no others.
    float scale = static_cast<float>(dot.getScale().convertToDouble());
    result.at = [=](Expr j) {
      Expr product = dots(context.i, j, context.t);
      return scale == 1.f ? product : product * scale;
    };
    return result;
  }
  if (auto add = llvm::dyn_cast<AddOp>(op)) {
    ScoreValue lhs = scores.lookup(add.getLhs()),
               rhs = scores.lookup(add.getRhs());
    result.at = [=](Expr j) { return lhs.at(j) + rhs.at(j); };
    result.mayBeMasked = lhs.mayBeMasked || rhs.mayBeMasked;
    return result;
  }
  if (auto change = llvm::dyn_cast<TileToBase2Op>(op)) {
    ScoreValue input = scores.lookup(change.getInput());
    result.at = [=](Expr j) { return input.at(j) * 1.4426950408889634f; };
    result.mayBeMasked = input.mayBeMasked;
    return result;
  }
  if (auto strip = llvm::dyn_cast<TileLoadStripOp>(op)) {
    Halide::ImageParam buffer =
        context.params.buffer(TileArgKind::Strip, strip.getTable());
    result.at = [=](Expr j) {
      return buffer(context.i - keys.validKey(context.t, j));
    };
    // A function of the distance may be -inf.
    result.mayBeMasked = true;
    return result;
  }
  if (auto biasOp = llvm::dyn_cast<BiasOp>(op))
    return bias(biasOp);
  if (auto mapOp = llvm::dyn_cast<MapOp>(op))
    return map(mapOp);
  if (auto select = llvm::dyn_cast<SelectOp>(op))
    return mask(select);
  return op.emitOpError("cannot be generated in a posenc.step");
}

/// Whether one of the tables of pairs masks this pair; undefined without any.
static Expr isAnyPairMasked(llvm::ArrayRef<TermInput> inputs) {
  Expr result;
  for (const TermInput &input : inputs)
    if (input.isPairTable) {
      Expr isMasked = isMaskedScore(input.value);
      result = result.defined() ? result || isMasked : isMasked;
    }
  return result;
}

// A bias is evaluated in f64 and stored as f32, once per block, over no more of
// rows and keys than it depends on.
FailureOr<ScoreValue> ScoreBuilder::bias(BiasOp op) {
  FailureOr<SmallVector<TermInput>> inputs =
      terms.read(op.getInputs(), context.j);
  if (mlir::failed(inputs))
    return mlir::failure();

  bool onRow = false, onKey = false;
  SmallVector<Expr> arguments;
  for (const TermInput &input : *inputs) {
    onRow |= input.dependsOnRow;
    onKey |= input.dependsOnKey;
    arguments.push_back(Halide::cast<double>(input.value));
  }
  Expr pairIsMasked = isAnyPairMasked(*inputs);

  ScoreValue result;
  result.mayBeMasked = true;

  // A table of pairs as it is: no copy of the copy.
  mlir::Block &body = op.getBody().front();
  mlir::Value yielded = body.getTerminator()->getOperand(0);
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(yielded);
      argument && (*inputs)[argument.getArgNumber()].isPairTable &&
      inputs->size() == 1) {
    mlir::ValueRange values = op.getInputs();
    result.at = [=](Expr j) { return terms.read(values, j)->front().value; };
    return result;
  }

  Expr value = Halide::cast<float>(
      evaluateRegion(op.getBody(), arguments, Halide::Float(64)));
  if (pairIsMasked.defined())
    value = select(pairIsMasked, kMaskedScore, value);

  std::vector<Var> variables;
  if (onRow)
    variables.push_back(context.i);
  if (onKey)
    variables.push_back(context.j);
  variables.push_back(context.t);
  Func term("bias");
  term(variables) = toBits(value);
  biases.push_back(term);

  result.at = [=](Expr j) {
    std::vector<Expr> index;
    if (onRow)
      index.push_back(context.i);
    if (onKey)
      index.push_back(j);
    index.push_back(context.t);
    return fromBits(term(index));
  };
  return result;
}

// A function of the score is evaluated in f32, like the score, on its way from
// the accumulators to the score tile. Masked scores stay masked.
FailureOr<ScoreValue> ScoreBuilder::map(MapOp op) {
  ScoreValue score = scores.lookup(op.getScores().front());
  FailureOr<SmallVector<TermInput>> inputs =
      terms.read(op.getInputs(), context.j);
  if (mlir::failed(inputs))
    return mlir::failure();
  SmallVector<Expr> arguments{score.at(context.j)};
  for (const TermInput &input : *inputs)
    arguments.push_back(Halide::cast<float>(input.value));
  Expr value = evaluateRegion(op.getBody(), arguments, Halide::Float(32));
  if (score.mayBeMasked)
    value = select(isMaskedScore(arguments.front()), kMaskedScore, value);
  Expr pairIsMasked = isAnyPairMasked(*inputs);
  if (pairIsMasked.defined())
    value = select(pairIsMasked, kMaskedScore, value);

  // A Func of its own: the score is used twice, for the tile and its maximum.
  Func mapped("mapped");
  mapped(context.i, context.j, context.t) = value;
  maps.push_back(mapped);

  ScoreValue result;
  result.mayBeMasked = score.mayBeMasked || pairIsMasked.defined();
  result.at = [=](Expr j) { return mapped(context.i, j, context.t); };
  return result;
}

FailureOr<ScoreValue> ScoreBuilder::mask(SelectOp op) {
  ScoreValue score = scores.lookup(op.getScore());
  if (llvm::isa<FullMaskAttr>(op.getMaskAttr()))
    return score;
  if (llvm::isa<CausalMaskAttr>(op.getMaskAttr()))
    // The alignment is in the shift.
    return masked(score, [=](Expr j) {
      return context.number(TileArgKind::KeyBegin) + keys.key(context.t, j) <=
             context.number(TileArgKind::QueryBegin) + context.i +
                 context.number(TileArgKind::QueryShift);
    });
  return op.emitOpError("has a mask that cannot be generated: ")
         << op.getMaskAttr();
}

ScoreValue ScoreBuilder::masked(ScoreValue score,
                                std::function<Expr(Expr)> allowed) {
  ScoreValue result;
  result.mayBeMasked = true;
  result.at = [=](Expr j) {
    return select(allowed(j), score.at(j), kMaskedScore);
  };
  return result;
}

void ScoreBuilder::schedule(Func state, Halide::RVar block, Func scoreTile,
                            Var group) {
  int lanes = static_cast<int>(context.shape.lanes);
  terms.schedule(state, block);
  for (Func term : biases) {
    std::vector<Var> variables = term.args();
    term.compute_at(state, block).store_in(kTileMemory);
    for (const Var &variable : variables)
      if (variable.name() == context.j.name())
        term.bound_storage(variable,
                           static_cast<int>(context.shape.blockCapacity()));
    if (variables.front().name() == context.i.name())
      term.vectorize(variables.front(), lanes);
  }
  for (Func mapped : maps)
    mapped.compute_at(scoreTile, group)
        .bound_extent(context.i, static_cast<int>(context.shape.rows))
        .bound_extent(context.j, static_cast<int>(context.shape.keys))
        .vectorize(context.i, lanes)
        .unroll(context.i)
        .unroll(context.j);
}
