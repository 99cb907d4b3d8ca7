// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Biases of low rank as more channels of queries and keys.
#ifndef POSENC_LIB_TRANSFORMS_PLANFACTORS_H
#define POSENC_LIB_TRANSFORMS_PLANFACTORS_H

#include "PlanTables.h"

namespace posenc {

/// A pair of vectors whose product is a part of a bias.
struct FactorVectors {
  llvm::SmallVector<PreparedFactors> queries, keys;
  int64_t channels = 0;
};

/// A bias that is a sum of products of vectors.
struct FactoredBias {
  llvm::SmallVector<FactorVectors> parts;
  /// Whether some use wants it natural.
  bool natural = false;
};

/// Prepares the factors of a bias that pays as a product of vectors. Fails with
/// a reason.
mlir::FailureOr<FactoredBias> placeFactors(BiasOp bias, PlanTables &tables,
                                           std::string &reason);

/// The tables' names and the number of channels, for remarks.
std::string describeFactors(const FactoredBias &bias);

/// A vector of prepared factors, in a part of a plan.
mlir::Value writeFactorVector(mlir::OpBuilder &builder, mlir::Location loc,
                              llvm::ArrayRef<PreparedFactors> tables,
                              Side side);

/// The bias in a step, of the vectors of its parts: in base 2 if the queries
/// are.
mlir::Value writeFactorProducts(mlir::OpBuilder &builder, mlir::Location loc,
                                const FactoredBias &bias,
                                mlir::ValueRange queries, mlir::ValueRange keys,
                                int64_t headDim);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_PLANFACTORS_H
