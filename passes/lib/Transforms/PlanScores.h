// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the scores of a kernel.
#ifndef POSENC_LIB_TRANSFORMS_PLANSCORES_H
#define POSENC_LIB_TRANSFORMS_PLANSCORES_H

#include "PlanTables.h"

#include "llvm/ADT/SetVector.h"

namespace posenc {

/// The terms of a score and the places that they got.
struct ScoreTerms {
  mlir::Value root;
  DotOp dot;
  /// A posenc.map reads the dot product, so that it cannot come in base 2.
  bool naturalDot = false;
  /// Masks that hide something.
  llvm::SetVector<MaskAttrInterface> masks;
  /// The strips that stand for biases, natural and in base 2.
  llvm::DenseMap<mlir::Operation *, llvm::StringRef> strips[2];

  /// Maps over (q_begin, q_end, lq, lk): keys below the minimum of the results
  /// are seen by every row; keys from there on are seen by none.
  mlir::AffineMap getInteriorEnd() const;
  mlir::AffineMap getKeysEnd() const;
};

/// Places every term of the score `root`, which ends in base 2; a diagnostic
/// when one has no place.
mlir::FailureOr<ScoreTerms> placeScores(mlir::Value root, PlanTables &tables);

/// Writes the score of a step, with the masks or without.
mlir::Value writeScores(mlir::OpBuilder &builder, const ScoreTerms &terms,
                        mlir::Value query, mlir::Value key, bool masked);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANSCORES_H
