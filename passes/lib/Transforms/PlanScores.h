// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the scores of a kernel.
#ifndef POSENC_LIB_TRANSFORMS_PLANSCORES_H
#define POSENC_LIB_TRANSFORMS_PLANSCORES_H

#include "PlanFactors.h"
#include "PlanTables.h"
#include "posenc/Analysis/ScoreMasks.h"

#include "llvm/ADT/MapVector.h"

namespace posenc {

/// How the terms use one query or key vector.
struct VectorUse {
  /// The operations that multiply it.
  llvm::SetVector<mlir::Operation *> products;
  /// Whether some product is wanted natural, and some in base 2.
  bool natural = false, base2 = false;

  /// The scale that all products have, if it is one.
  std::optional<double> getScale() const;
};

/// The scores of a kernel and the places that their terms got.
struct ScoreTerms {
  /// What steps yield: the scores, and with linear normalisation the terms of
  /// the denominator.
  llvm::SmallVector<mlir::Value> roots;
  /// The normalisation exponentiates: steps yield scores in base 2.
  bool exponentiates = true;
  /// In order of first use.
  llvm::MapVector<mlir::Value, VectorUse> queries, keys;
  /// A scan along rows and a network over heads, if there are any.
  RowscanOp scan;
  HeadMlpOp network;
  /// Masks that hide keys from every row of a range.
  MaskSet masks;
  /// The strips that stand for biases, natural and in base 2.
  llvm::DenseMap<mlir::Operation *, llvm::StringRef> strips[2];
  /// Biases that are products of vectors of their own.
  llvm::MapVector<mlir::Operation *, FactoredBias> factored;

  /// Whether these queries hold the scale of their products, and log2(e).
  bool holdsScale(mlir::Value query) const;
  bool holdsBase2(mlir::Value query) const;

  /// Maps over (q_begin, q_end, lq, lk), as those of a mask: the maximum of the
  /// results for begins, the minimum for ends. Begins have no results where
  /// nothing hides the first keys.
  mlir::AffineMap getKeysBegin() const;
  mlir::AffineMap getKeysEnd() const;
  mlir::AffineMap getInteriorBegin() const;
  mlir::AffineMap getInteriorEnd() const;
  /// Whether keys can be seen by every row of a tile, and may be added in any
  /// order.
  bool hasInterior() const;
};

/// Places every term of the scores; a diagnostic when one has no place.
mlir::FailureOr<ScoreTerms> placeScores(NormalizeOp normalize,
                                        PlanTables &tables);

/// The vectors of a step.
struct VectorArguments {
  /// From the kernel's query and key vectors.
  mlir::IRMapping ofKernel;
  /// Those of each factored bias, part by part.
  struct Pair {
    llvm::SmallVector<mlir::Value> queries, keys;
  };
  llvm::DenseMap<mlir::Operation *, Pair> ofBiases;
};

/// Writes what a step yields, with the masks or without.
llvm::SmallVector<mlir::Value>
writeScores(const ScoreTerms &terms, const VectorArguments &vectors,
            TermCloner &cloner, mlir::OpBuilder &builder, bool masked);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANSCORES_H
