// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Scans.h"
#include "Numerics.h"
#include "RegionExpr.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::strict_float;
using Halide::Var;

/// What Funcs refer to until the pipeline is compiled. All keys of the run are
/// one block here, and are taken one by one.
struct Scans::Pass {
  Pass(const TileContext &context, const StepVectors &vectors,
       const ScanFuncs &scans)
      : keys(context.shape, 0, context.number(TileArgKind::KeyCount),
             /*whole=*/true),
        score(context, keys, vectors, scans) {}

  KeyBlocks keys;
  ScoreBuilder score;
};

Scans::Scans(const TileContext &context, const StepVectors &vectors)
    : context(context), vectors(vectors) {}
Scans::~Scans() = default;

mlir::LogicalResult Scans::add(StepOp step) {
  for (RowscanOp op : step.getBody().front().getOps<RowscanOp>())
    if (mlir::failed(addScan(op)))
      return mlir::failure();
  return mlir::success();
}

mlir::LogicalResult Scans::addScan(RowscanOp op) {
  Var i = context.i, j = context.j, t = context.t, c("c");
  int rows = static_cast<int>(context.shape.rows),
      lanes = static_cast<int>(context.shape.lanes);
  passes.push_back(std::make_unique<Pass>(context, vectors, funcs));
  ScoreBuilder &builder = passes.back()->score;
  mlir::FailureOr<ScoreValue> score = builder.build(op.getScore());
  if (mlir::failed(score))
    return mlir::failure();
  ScoreValue shared = builder.share(*score, /*isLarge=*/true);
  Func term("scan_term");
  // In f64: errors of one sign would add up.
  Expr value = Halide::cast<float>(evaluateRegion(
      op.getBody(), {Halide::cast<double>(shared.at(j))}, Halide::Float(64)));
  if (shared.mayBeMasked)
    value = select(isMaskedScore(shared.at(j)), 0.f, value);
  term(i, j, t) = value;

  // A sum of thousands of numbers in f32 would miss the rule of accuracy: what
  // each addition cuts off is carried along (Knuth, The Art of Computer
  // Programming 2, section 4.2.2, theorem B).
  Func scan("scan_" + std::to_string(outputs.size()));
  Expr count = context.number(TileArgKind::KeyCount);
  RDom r(0, 2, 0, count, "scanned");
  Expr key = count - 1 - r.y, next = min(key + 1, count - 1);
  scan(i, c) = Halide::undef<float>();
  Expr sum = select(r.y > 0, scan(i, 2 * next), 0.f);
  Expr rest = select(r.y > 0, scan(i, 2 * next + 1), 0.f);
  Expr added = strict_float(term(i, key, 0) + rest);
  Expr total = strict_float(sum + added);
  Expr part = strict_float(total - sum);
  Expr cut = strict_float(strict_float(sum - strict_float(total - part)) +
                          strict_float(added - part));
  scan(i, 2 * key + r.x) = select(r.x == 0, total, cut);
  scan.update().reorder(i, r.x, r.y).vectorize(i, lanes);
  scan.bound(i, 0, rows);
  Halide::OutputImageParam buffer = scan.output_buffer();
  buffer.set_host_alignment(64);
  buffer.dim(0).set_bounds(0, rows).set_stride(1);
  buffer.dim(1).set_min(0).set_stride(rows);

  ScoreLevels levels;
  levels.group = Halide::LoopLevel(scan, r.y);
  term.compute_at(levels.group).bound(i, 0, rows).vectorize(i, lanes);
  builder.schedule(levels);
  funcs[op] = scan;
  outputs.push_back(scan);
  return mlir::success();
}
