// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens to the queries once per tile.
#ifndef POSENC_GENERATORS_HALIDE_PROLOGUE_H
#define POSENC_GENERATORS_HALIDE_PROLOGUE_H

#include "TileContext.h"

namespace posenc {

/// The queries that the plan's prologue yields, as bits, indexed (row,
/// channel): rows, or channels where the tile has them as lanes, are vector
/// lanes from here on. Fully scheduled.
mlir::FailureOr<std::vector<Halide::Func>>
buildPrologue(PrologueOp op, const TileContext &context);

/// A query as it is stored, and what its products are multiplied by.
struct QueryPairs {
  /// Bits at (number of the pair, row, pair); undefined if it is no vector that
  /// the caller stores.
  Halide::Func bits;
  double factor = 1.0;
};

/// Those of the same queries, for products of pairs.
std::vector<QueryPairs> buildQueryPairs(PrologueOp op,
                                        const TileContext &context);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_PROLOGUE_H
