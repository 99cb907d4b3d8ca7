// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Network.h"
#include "Numerics.h"
#include "RegionExpr.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::RDom;
using Halide::Var;
using mlir::FailureOr;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

NetworkInputs::NetworkInputs(const TileContext &context,
                             const StepVectors &vectors)
    : context(context),
      keys(context.shape, 0, context.number(TileArgKind::KeyCount),
           /*whole=*/false),
      builder(context, keys, vectors, scans) {}

mlir::LogicalResult NetworkInputs::build(HeadMlpOp op) {
  Var i = context.i, j = context.j, t = context.t, s("s");
  Var group("group"), x("x");
  int rows = static_cast<int>(context.shape.rows),
      lanes = static_cast<int>(context.shape.lanes),
      tile = static_cast<int>(context.shape.keys);
  std::vector<Expr> values;
  for (mlir::Value score : op.getScores()) {
    FailureOr<ScoreValue> value = builder.build(score);
    if (mlir::failed(value))
      return mlir::failure();
    values.push_back(value->at(j));
  }
  int count = static_cast<int>(values.size());
  // All keys are one block.
  Func scores("scores");
  scores(i, j, t, s) = count == 1 ? values[0] : mux(s, values);
  output(i, j, s) = scores(i, j, 0, s);
  output.bound(i, 0, rows)
      .bound(s, 0, count)
      .split(j, group, x, tile, Halide::TailStrategy::RoundUp)
      .reorder(i, x, s, group)
      .vectorize(i, lanes)
      .unroll(i)
      .unroll(x)
      .unroll(s);
  Halide::OutputImageParam buffer = output.output_buffer();
  buffer.dim(0).set_bounds(0, rows).set_stride(1);
  buffer.dim(1).set_min(0).set_stride(rows);
  buffer.dim(2).set_bounds(0, count);

  ScoreLevels levels;
  levels.group = Halide::LoopLevel(output, group);
  levels.keys = tile;
  builder.schedule(levels);
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

/// Bytes of the stack for the sums of a few keys and all heads.
static constexpr int64_t kSumBytes = 65536;

namespace {
/// Hidden units one after another: each is computed for a few keys, from the
/// scores of all heads, and added to the results of all heads. Sums are in f64:
/// results may be small beside what they are made of.
class Network {
public:
  Network(HeadMlpOp op, const TileContext &context)
      : op(op), context(context), terms(context.params),
        scores(context.params.buffer(TileArgKind::AllScores,
                                     getNetworkSymbol(op))),
        taps(static_cast<int>(op.getTaps())) {}

  FailureOr<Func> build();

private:
  /// A number of a table.
  Expr read(mlir::Value table, Expr row, Expr channel, Expr head);
  /// Keys beyond the ends have none.
  Expr isKey(Expr key) {
    return key >= scores.dim(1).min() && key <= scores.dim(1).max();
  }
  Expr score(Expr key, Expr channel) {
    return scores(context.i,
                  clamp(key, scores.dim(1).min(), scores.dim(1).max()),
                  channel);
  }
  void makeSeen();
  void makeUnits();
  void makeSums();
  Expr isMasked(Var head);
  void schedule(Func result, Var head);

  HeadMlpOp op;
  const TileContext &context;
  TermSource terms;
  ImageParam scores;
  int taps, heads = 0, channels = 0, hidden = 0;
  bool failed = false;
  /// Whether some head sees the pair.
  Func seen{"seen"};
  Func unitSums{"unit_sums"}, units{"units"}, sums{"sums"};
  Var m{"m"}, h{"h"};
  RDom inputs, outputs, all;
};
} // namespace

Expr Network::read(mlir::Value table, Expr row, Expr channel, Expr head) {
  TokenPlace place;
  place.head = head;
  TermInput index;
  index.value = row;
  FailureOr<TermInput> term = terms.readTable(table, place, index, channel);
  failed |= mlir::failed(term);
  return failed ? Halide::Internal::make_const(Halide::Float(64), 0)
                : Halide::cast<double>(term->value);
}

void Network::makeSeen() {
  Var i = context.i, j = context.j;
  all = RDom(0, channels, "all");
  seen(i, j) = 0;
  seen(i, j) = max(seen(i, j),
                   select(isKey(j) && !isMaskedScore(score(j, all.x)), 1, 0));
}

void Network::makeUnits() {
  Var i = context.i, j = context.j;
  inputs = RDom(0, taps, 0, channels, "inputs");
  Expr key = j + inputs.x - taps / 2;
  Expr value = score(key, inputs.y);
  value = select(isKey(key) && !isMaskedScore(value), value, 0.f);
  unitSums(i, j, m) = read(op.getBiasIn(), Expr(), m, Expr());
  unitSums(i, j, m) +=
      read(op.getWeightsIn(), inputs.y * taps + inputs.x, m, Expr()) *
      Halide::cast<double>(value);
  Expr unit =
      evaluateRegion(op.getBody(), {unitSums(i, j, m)}, Halide::Float(64));
  units(i, j, m) = select(seen(i, j) != 0, unit,
                          Halide::Internal::make_const(Halide::Float(64), 0));
}

void Network::makeSums() {
  Var i = context.i, j = context.j;
  outputs = RDom(0, taps, 0, hidden, "outputs");
  sums(i, j, h) = read(op.getBiasOut(), Expr(), Expr(), h);
  sums(i, j, h) +=
      read(op.getWeightsOut(), outputs.y * taps + outputs.x, Expr(), h) *
      units(i, j + outputs.x - taps / 2, outputs.y);
}

/// A result is masked where one of the head's own scores is.
Expr Network::isMasked(Var head) {
  Expr result = Halide::Internal::const_false();
  for (int n = 0, e = channels / heads; n < e; ++n)
    result = result || isMaskedScore(score(context.j, n * heads + head));
  return result;
}

void Network::schedule(Func result, Var head) {
  const TileShape &shape = context.shape;
  int rows = static_cast<int>(shape.rows),
      lanes = static_cast<int>(shape.lanes);
  int keys = static_cast<int>(std::clamp<int64_t>(
      llvm::bit_floor<uint64_t>(kSumBytes / (rows * heads * sizeof(double))), 1,
      8));
  Var i = context.i, j = context.j, group("group"), x("x");
  result.bound(i, 0, rows)
      .bound(head, 0, heads)
      .split(j, group, x, keys, Halide::TailStrategy::RoundUp)
      .reorder(i, x, head, group)
      .vectorize(i, lanes);
  auto place = [&](Func func, Halide::LoopLevel level) {
    func.compute_at(level)
        .store_in(kTileMemory)
        .bound(i, 0, rows)
        .vectorize(i, lanes);
  };
  Halide::LoopLevel ofKeys(result, group);
  place(seen, ofKeys);
  seen.update().reorder(i, j, all.x).vectorize(i, lanes);
  place(sums, ofKeys);
  sums.update().reorder(i, j, outputs.x, h, outputs.y).vectorize(i, lanes);
  Halide::LoopLevel ofUnit(sums, outputs.y);
  place(unitSums, ofUnit);
  unitSums.update().reorder(i, j, inputs.x, inputs.y, m).vectorize(i, lanes);
  place(units, ofUnit);
}

FailureOr<Func> Network::build() {
  auto biases = op.getBiasIn().getDefiningOp<TableOp>();
  if (!biases || !biases.getNumChannels())
    return op.emitOpError("expects the first biases to be a posenc.table, "
                          "which says how many hidden units there are");
  auto plan = op->getParentOfType<PlanOp>();
  heads = static_cast<int>(plan.getHeads());
  channels = heads * static_cast<int>(op.getScores().size());
  hidden = static_cast<int>(*biases.getNumChannels());
  makeSeen();
  makeUnits();
  makeSums();
  if (failed)
    return mlir::failure();
  Var i = context.i, j = context.j, head("head");
  Func result("all_mixed");
  result(i, j, head) = select(isMasked(head), kMaskedScore,
                              Halide::cast<float>(sums(i, j, head)));
  schedule(result, head);
  Halide::OutputImageParam buffer = result.output_buffer();
  buffer.dim(0)
      .set_bounds(0, static_cast<int>(context.shape.rows))
      .set_stride(1);
  buffer.dim(1).set_min(0).set_stride(static_cast<int>(context.shape.rows));
  buffer.dim(2).set_bounds(0, heads);
  return result;
}

FailureOr<Func> posenc::buildNetwork(HeadMlpOp op, const TileContext &context) {
  // Expressions hold what they need of it.
  return Network(op, context).build();
}
