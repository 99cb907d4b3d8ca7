// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of the queries: temperatures and learned scales.
#ifndef POSENC_LIB_IR_QUERYSCALE_H
#define POSENC_LIB_IR_QUERYSCALE_H

#include "posenc/IR/Expansion.h"

namespace posenc {

/// Multiplies queries by a function of one input: a position or a table.
inline void scaleQueries(Expansion &expansion, mlir::Value input,
                         Formula factor) {
  expansion.transformQueries([&](mlir::Value query) -> mlir::Value {
    return expansion.create<RowScaleOp>(1, factor, query.getType(), query,
                                        input);
  });
}

} // namespace posenc

#endif // POSENC_LIB_IR_QUERYSCALE_H
