// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a step: from products to masked scores.
#ifndef POSENC_GENERATORS_HALIDE_SCORE_H
#define POSENC_GENERATORS_HALIDE_SCORE_H

#include "Products.h"

#include <functional>

namespace posenc {

/// A score of the body as a function of the key of the block; the row and the
/// block are the context's variables.
struct ScoreValue {
  std::function<Halide::Expr(Halide::Expr)> at;
  /// Whether it may be kMaskedScore or less.
  bool mayBeMasked = false;
  /// What rounding the sum has cut off, of a scan; null elsewhere.
  std::function<Halide::Expr(Halide::Expr)> rest;
};

/// The inclusive sums of a posenc.rowscan over the run, at (row, 2 * key) and,
/// what rounding has cut off, at (row, 2 * key + 1).
using ScanFuncs = llvm::DenseMap<mlir::Operation *, Halide::Func>;

/// Builds scores on demand; what several of them read is made once.
class ScoreBuilder {
public:
  ScoreBuilder(const TileContext &context, const KeyBlocks &keys,
               const StepVectors &vectors, const ScanFuncs &scans)
      : context(context), keys(keys), scans(scans), terms(context, keys),
        products(context, keys, vectors) {}

  mlir::FailureOr<ScoreValue> build(mlir::Value score);
  /// The same, masked behind the end of the step.
  mlir::FailureOr<ScoreValue> buildWithinKeys(mlir::Value score);
  /// Makes a Func of a score that is used several times.
  ScoreValue share(ScoreValue score, bool isLarge = false);
  /// The score, masked where another one is.
  ScoreValue maskedAs(ScoreValue score, ScoreValue other);
  /// 0 where the score is masked.
  ScoreValue zeroMasked(ScoreValue score);

  void schedule(const ScoreLevels &levels);

private:
  mlir::FailureOr<ScoreValue> translate(mlir::Operation &op);
  mlir::FailureOr<ScoreValue> tableDot(TableDotOp op);
  mlir::FailureOr<ScoreValue> constantTableDot(TableDotOp op, Halide::Expr row);
  mlir::FailureOr<ScoreValue> bias(BiasOp op);
  mlir::FailureOr<ScoreValue> map(MapOp op);
  mlir::FailureOr<ScoreValue> select(SelectOp op);
  mlir::FailureOr<ScoreValue> scan(RowscanOp op);
  mlir::FailureOr<std::function<Halide::Expr(Halide::Expr)>>
  compare(SelectOp op);
  ScoreValue masked(ScoreValue score,
                    std::function<Halide::Expr(Halide::Expr)> allowed);

  const TileContext &context;
  const KeyBlocks &keys;
  const ScanFuncs &scans;
  BlockTerms terms;
  Products products;
  llvm::DenseMap<mlir::Value, ScoreValue> scores;
  /// A Func, and the reduction that it ends if it is a sum.
  struct Term {
    Halide::Func result, sum;
  };
  std::vector<Term> biases, indices;
  struct Mapped {
    Halide::Func func;
    Halide::Func sum;
    bool isLarge = false;
  };
  std::vector<Mapped> maps;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_SCORE_H
