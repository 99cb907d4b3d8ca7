// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps of scores that are products: what they multiply a score by, proved from
// their regions.
#ifndef POSENC_ANALYSIS_MAPFACTORS_H
#define POSENC_ANALYSIS_MAPFACTORS_H

#include "posenc/IR/Posenc.h"

#include <string>

namespace posenc {

/// Why something has not a wanted form, and the operation that breaks it.
struct Obstacle {
  mlir::Operation *op = nullptr;
  std::string reason;
};

/// A product of values of a region, or the exponential of one.
struct RegionFactor {
  enum Form { Plain, Exp, Exp2 };
  Form form = Plain;
  /// Whether the exponent's sign is changed.
  bool isNegative = false;
  /// The values, and whether each divides.
  llvm::SmallVector<std::pair<mlir::Value, bool>> values;
};

/// `constant * ofQuery * ofKey * decay^distance` times the one score.
struct MapFactors {
  double constant = 1;
  /// Of numbers of the query's own token and the head, and of the key's.
  llvm::SmallVector<RegionFactor> ofQuery, ofKey;
  /// Of numbers of the head alone. The distance is that between the places of
  /// query and key, positive where the query is behind the key.
  llvm::SmallVector<RegionFactor> decay;
};

/// The factors of a map of one score, if it is such a product.
std::optional<MapFactors> factorMap(MapOp map, Obstacle &obstacle);

/// Yields the product of the factors in a region whose arguments stand for
/// those of `map` that the factors read. Returns the inputs of these arguments,
/// in the order that they have in the map.
llvm::SmallVector<mlir::Value>
buildFactors(mlir::OpBuilder &builder, mlir::Region &region, MapOp map,
             llvm::ArrayRef<RegionFactor> factors);

/// Multiplies the one value that a region yields by another region's, which
/// reads inputs of its own.
void multiplyRegions(mlir::OpBuilder &builder, mlir::Region &region,
                     mlir::Region &other);

} // namespace posenc

#endif // POSENC_ANALYSIS_MAPFACTORS_H
