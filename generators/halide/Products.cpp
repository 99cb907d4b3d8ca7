// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Products.h"
#include "Numerics.h"

using namespace posenc;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

StepVectors::StepVectors(PlanOp plan, std::vector<Func> queries,
                         const TileParams &params)
    : queries(std::move(queries)) {
  unsigned count = 0;
  for (StepOp step : plan.getStepOps())
    count = step.getBody().front().getNumArguments() - this->queries.size();
  for (unsigned index = 0; index < count; ++index) {
    bool isRead = llvm::any_of(plan.getStepOps(), [&](StepOp step) {
      return !step.getBody()
                  .front()
                  .getArgument(this->queries.size() + index)
                  .use_empty();
    });
    keys.push_back(isRead ? params.buffer(TileArgKind::Key,
                                          getKeySymbol(plan, index))
                          : Halide::ImageParam());
  }
}

Expr StepVectors::query(mlir::Value value, Expr i, Expr channel) const {
  unsigned index = llvm::cast<mlir::BlockArgument>(value).getArgNumber();
  return fromBits(queries[index](i, channel));
}

Expr StepVectors::key(mlir::Value value, Expr key, Expr channel) const {
  unsigned index = llvm::cast<mlir::BlockArgument>(value).getArgNumber();
  return keys[index - queries.size()](channel, key);
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
  RDom channel(0, count, "channel");
  Func dots("dots");
  dots(i, j, t) = 0.f;
  dots(i, j, t) +=
      vectors.query(op.getQuery(), i, queryChannel + channel) *
      vectors.key(op.getKey(), keys.validKey(t, j), keyChannel + channel);
  this->dots.push_back(dots);
  return dots;
}

mlir::FailureOr<Func> Products::tableDot(TableDotOp op, Func place,
                                         TermSource &terms) {
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
    Expr low = floor(row), share = row - low;
    value = element(low) * (1.f - share) + element(low + 1.f) * share;
  } else {
    value = element(row);
  }
  if (failed)
    return mlir::failure();
  mlir::Value vector = op.getVector();
  Expr factor = llvm::isa<QueryType>(vector.getType())
                    ? vectors.query(vector, i, channel)
                    : vectors.key(vector, keys.validKey(t, j), channel);
  Func product("table_dots");
  product(i, j, t) = 0.f;
  product(i, j, t) += factor * value;
  tableDots.push_back(product);
  return product;
}

void Products::schedule(const ScoreLevels &levels) {
  Var i = context.i, j = context.j;
  int lanes = static_cast<int>(context.shape.lanes),
      rows = static_cast<int>(context.shape.rows);
  // A register tile: all rows times a few keys.
  for (Func dot : dots) {
    dot.compute_at(levels.group)
        .bound_extent(i, rows)
        .bound_extent(j, static_cast<int>(levels.keys))
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j);
    dot.update()
        .reorder(i, j, dot.rvars(0)[0])
        .vectorize(i, lanes)
        .unroll(i)
        .unroll(j);
  }
  // Rows of a table are gathered, lane by lane: little code matters more.
  for (Func product : tableDots) {
    Var outer("outer"), inner("inner");
    product.compute_at(levels.group)
        .bound_extent(i, rows)
        .bound_extent(j, static_cast<int>(levels.keys))
        .vectorize(i, lanes);
    product.update()
        .split(i, outer, inner, lanes)
        .reorder(inner, product.rvars(0)[0], outer, j)
        .vectorize(inner);
  }
}
