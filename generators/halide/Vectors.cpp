// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Vectors.h"
#include "Numerics.h"
#include "RegionExpr.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::Var;
using llvm::SmallVector;
using mlir::FailureOr;

int64_t posenc::getNumHeads(mlir::Operation *part) {
  auto plan = part->getParentOfType<PlanOp>();
  return llvm::isa<KeysOp>(part) ? plan.getKvHeads() : plan.getHeads();
}

FailureOr<Func> VectorBuilder::apply(mlir::Operation *op, Func input) {
  if (auto add = llvm::dyn_cast<VaddOp>(op))
    return applyTable(op, add.getTable(), add.getPosition(), input);
  if (auto scale = llvm::dyn_cast<ChannelScaleOp>(op))
    return applyTable(op, scale.getTable(), mlir::Value(), input);
  if (auto scale = llvm::dyn_cast<RowScaleOp>(op))
    return scaleRows(scale, input);
  if (auto norm = llvm::dyn_cast<VectorNormOp>(op))
    return normalize(
        norm, input,
        norm.getOver() == NormAxis::head ? 1 : getNumHeads(op->getParentOp()));
  if (auto map = llvm::dyn_cast<VectorMapOp>(op))
    return define("mapped_vectors", [&](Var d) {
      return evaluateRegion(map.getBody(), {read(input, d)}, Halide::Float(32));
    });
  return op->emitOpError("cannot be generated in ")
         << op->getParentOp()->getName();
}

/// posenc.vadd and posenc.channel_scale.
FailureOr<Func> VectorBuilder::applyTable(mlir::Operation *op,
                                          mlir::Value table,
                                          mlir::Value position, Func input) {
  TermInput row;
  if (position) {
    FailureOr<TermInput> index = terms.readIndex(position, getPlace());
    if (mlir::failed(index))
      return mlir::failure();
    row = *index;
  }
  bool failed = false;
  Func result = define("changed_vectors", [&](Var d) -> Expr {
    FailureOr<TermInput> element = terms.readTable(table, getPlace(), row, d);
    if ((failed = mlir::failed(element)))
      return 0.f;
    Expr value = Halide::cast<float>(element->value);
    auto scale = llvm::dyn_cast<ChannelScaleOp>(op);
    if (!scale)
      return read(input, d) + value;
    float offset = static_cast<float>(scale.getOffset().convertToDouble());
    return read(input, d) * (offset == 0 ? value : value + offset);
  });
  if (failed)
    return mlir::failure();
  return result;
}

// Channels behind those of the tables repeat the last one; nobody reads them.
FailureOr<Expr> VectorBuilder::readFactors(TileVectorOp op, Expr channel) {
  Expr result;
  int end = 0;
  for (mlir::Value table : op.getTables())
    end += static_cast<int>(*getFactorChannels(table));
  bool isWhole = op.getTables().size() == 1 && end == headDim;
  for (mlir::Value table : llvm::reverse(op.getTables())) {
    int count = static_cast<int>(*getFactorChannels(table));
    int begin = end - count;
    Expr index = isWhole ? channel : clamp(channel - begin, 0, count - 1);
    FailureOr<TermInput> element =
        terms.readTable(table, getPlace(), TermInput(), index);
    if (mlir::failed(element))
      return mlir::failure();
    Expr value = Halide::cast<float>(element->value);
    result = result.defined() ? select(channel < end, value, result) : value;
    end = begin;
  }
  return result;
}

FailureOr<Func> VectorBuilder::scaleRows(RowScaleOp op, Func input) {
  FailureOr<SmallVector<TermInput>> inputs =
      terms.read(op.getInputs(), getPlace());
  if (mlir::failed(inputs))
    return mlir::failure();
  SmallVector<Expr> arguments;
  for (const TermInput &term : *inputs)
    arguments.push_back(Halide::cast<double>(term.value));
  Func factor = defineNumber(
      "row_factor", evaluateRegion(op.getBody(), arguments, Halide::Float(64)));
  return define("scaled_vectors", [&](Var d) {
    return read(input, d) * Halide::cast<float>(getNumber(factor));
  });
}

/// Sums are in f64: their rounding would be that of a whole row of scores.
Func VectorBuilder::normalize(VectorNormOp op, Func input, int64_t heads) {
  bool isOver = op.getOver() == NormAxis::all_heads;
  auto element = [&](Expr head, Expr channel) {
    return Halide::cast<double>(
        isOver ? params.element(getAllHeads(), {channel, head, getToken()})
               : read(input, channel));
  };
  Expr count = Halide::Internal::make_const(
      Halide::Float(64), static_cast<double>(heads * headDim));
  Expr mean = Halide::Internal::make_const(Halide::Float(64), 0.0);
  if (op.getKind() == NormKind::layer) {
    Func sum = defineSum("channel_sum", heads, headDim, element);
    mean = getNumber(defineNumber("channel_mean", getNumber(sum) / count));
  }
  Func squares =
      defineSum("channel_squares", heads, headDim, [&](Expr head, Expr d) {
        Expr centred = element(head, d) - mean;
        return centred * centred;
      });
  Expr square = getNumber(squares);
  if (op.getKind() != NormKind::l2)
    square = square / count;
  Expr epsilon = Halide::Internal::make_const(
      Halide::Float(64), op.getEpsilon().convertToDouble());
  Expr norm = op.getEpsilonSite() == EpsilonSite::added
                  ? sqrt(square + epsilon)
                  : max(sqrt(square), epsilon);
  Func factor =
      defineNumber("norm_factor",
                   Halide::Internal::make_const(Halide::Float(64), 1.0) / norm);
  return define("normed_vectors", [&](Var d) {
    Expr x = read(input, d);
    if (op.getKind() == NormKind::layer)
      x = Halide::cast<float>(Halide::cast<double>(x) - mean);
    return x * Halide::cast<float>(getNumber(factor));
  });
}
