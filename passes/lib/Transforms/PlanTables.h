// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a plan, and the terms that are copied into its parts.
#ifndef POSENC_LIB_TRANSFORMS_PLANTABLES_H
#define POSENC_LIB_TRANSFORMS_PLANTABLES_H

#include "posenc/Analysis/BiasTraits.h"

#include "mlir/IR/IRMapping.h"

namespace posenc {

/// Copies the position, relation or table that defines `input`, and what it
/// needs, to where the builder stands. Each is copied once per `mapping`.
mlir::Value cloneTermInput(mlir::OpBuilder &builder, mlir::Value input,
                           mlir::IRMapping &mapping);

/// Copies a bias without the inputs that do not reach its result.
mlir::Value cloneBias(mlir::OpBuilder &builder, BiasOp bias,
                      const llvm::BitVector &usedInputs,
                      mlir::IRMapping &mapping);

/// The posenc.prepare operations of a plan, by name. Equal tables are one.
class PlanTables {
public:
  explicit PlanTables(PlanOp plan);

  /// Angles of these positions and frequencies.
  llvm::StringRef getAngles(mlir::Location loc,
                            PositionLawAttrInterface positions,
                            FreqsLawAttrInterface freqs);
  /// The bias as a function of head and distance, in base 2 if `base2`.
  llvm::StringRef getStrip(BiasOp bias, const BiasTraits &traits, bool base2);

private:
  llvm::StringRef
  add(mlir::Location loc, TableKind kind,
      llvm::function_ref<llvm::SmallVector<mlir::Value>()> writeBody);

  PlanOp plan;
  mlir::OpBuilder builder;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANTABLES_H
