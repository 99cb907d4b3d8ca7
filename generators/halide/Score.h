// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a step: from dot products to masked scores in base 2.
#ifndef POSENC_GENERATORS_HALIDE_SCORE_H
#define POSENC_GENERATORS_HALIDE_SCORE_H

#include "Terms.h"

#include <functional>

namespace posenc {

/// A score of the body as a function of the key of the block; the row and the
/// block are the context's variables.
struct ScoreValue {
  std::function<Halide::Expr(Halide::Expr)> at;
  /// Whether it may be kMaskedScore or less.
  bool mayBeMasked = false;
};

class ScoreBuilder {
public:
  /// `dots` holds q.k at (row, key of the block, block).
  ScoreBuilder(const TileContext &context, const KeyBlocks &keys,
               Halide::Func dots)
      : context(context), keys(keys), dots(dots), terms(context, keys) {}

  /// What the step yields. Keys behind the end of the step are masked.
  mlir::FailureOr<ScoreValue> build(StepOp step);

  /// Schedules the Funcs behind the scores: terms once per block of the running
  /// state, pointwise functions with a register tile of `scores`.
  void schedule(Halide::Func state, Halide::RVar block, Halide::Func scores,
                Halide::Var group);

private:
  mlir::FailureOr<ScoreValue> translate(mlir::Operation &op);
  mlir::FailureOr<ScoreValue> bias(BiasOp op);
  mlir::FailureOr<ScoreValue> map(MapOp op);
  mlir::FailureOr<ScoreValue> mask(SelectOp op);
  ScoreValue masked(ScoreValue score,
                    std::function<Halide::Expr(Halide::Expr)> allowed);

  const TileContext &context;
  const KeyBlocks &keys;
  Halide::Func dots;
  TermReader terms;
  llvm::DenseMap<mlir::Value, ScoreValue> scores;
  std::vector<Halide::Func> biases, maps;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_SCORE_H
