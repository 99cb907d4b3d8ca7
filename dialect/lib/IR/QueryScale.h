// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of the queries: temperatures and learned scales.
#ifndef POSENC_LIB_IR_QUERYSCALE_H
#define POSENC_LIB_IR_QUERYSCALE_H

#include "posenc/IR/Expansion.h"

#include "RegionMath.h"

namespace posenc {

/// Multiplies queries by a function of one input: a position or a table.
inline void scaleQueries(
    Expansion &expansion, mlir::Value input,
    llvm::function_ref<mlir::Value(RegionMath &, mlir::Value)> factor) {
  expansion.transformQueries([&](mlir::Value query) -> mlir::Value {
    auto op = RowScaleOp::create(expansion.builder, expansion.loc,
                                 query.getType(), query, input);
    expansion.fillRegion(
        op.getBody(), 1,
        [&](mlir::OpBuilder &builder, mlir::ValueRange arguments) {
          RegionMath m(builder, expansion.loc);
          return factor(m, arguments[0]);
        });
    return op;
  });
}

} // namespace posenc

#endif // POSENC_LIB_IR_QUERYSCALE_H
