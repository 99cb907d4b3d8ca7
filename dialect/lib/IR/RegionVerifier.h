// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that operations with a region of real numbers share.
#ifndef POSENC_LIB_IR_REGIONVERIFIER_H
#define POSENC_LIB_IR_REGIONVERIFIER_H

#include "posenc/IR/Posenc.h"

namespace posenc {

/// The region has that many f64 arguments, holds operations of the closed list
/// and yields one f64, or one i1.
llvm::LogicalResult verifyScalarRegion(mlir::Operation *op,
                                       mlir::Region &region, unsigned arguments,
                                       bool yieldsTruth = false);

/// bias_c3, bias_c4: what looks up each table among the inputs.
llvm::LogicalResult verifyLookups(mlir::Operation *op, mlir::ValueRange inputs,
                                  bool allowsSum = true);

/// The number of values 0 .. n-1 of a relation, when it is finite.
std::optional<int64_t> getCardinality(mlir::Value relation);

/// The extents of a table's axes, when they are known.
std::optional<int64_t> getNumRows(mlir::Value table);
std::optional<int64_t> getNumChannels(mlir::Value table);

/// The axes of a table, in any order, are those required and some of those
/// allowed.
bool hasAxes(TableType type, llvm::ArrayRef<TableAxis> required,
             llvm::ArrayRef<TableAxis> allowed = {});

} // namespace posenc

#endif // POSENC_LIB_IR_REGIONVERIFIER_H
