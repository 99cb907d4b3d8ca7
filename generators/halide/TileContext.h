// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the stages of one tile function share.
#ifndef POSENC_GENERATORS_HALIDE_TILECONTEXT_H
#define POSENC_GENERATORS_HALIDE_TILECONTEXT_H

#include "TileParams.h"
#include "TileShape.h"

namespace posenc {

struct TileContext {
  TileShape shape;
  TileParams params;
  /// Row of the tile, key of a block, value column, block of a step.
  Halide::Var i{"i"}, j{"j"}, d{"d"}, t{"t"};

  Halide::Expr number(TileArgKind kind) const { return params.number(kind); }
  /// A row or, beyond the last valid row, that one: for reads of buffers.
  Halide::Expr validRow(Halide::Expr row) const {
    return clamp(row, 0, number(TileArgKind::Rows) - 1);
  }
  /// The query of a row, counted from that of row 0, and its head, counted from
  /// the first of the tile.
  Halide::Expr query(Halide::Expr row) const {
    return shape.group == 1 ? row : row / static_cast<int>(shape.group);
  }
  Halide::Expr head(Halide::Expr row) const {
    return shape.group == 1 ? Halide::Expr(0)
                            : row % static_cast<int>(shape.group);
  }
  /// The storage index of a row's query.
  Halide::Expr queryIndex(Halide::Expr row) const {
    return number(TileArgKind::QueryBegin) + query(row);
  }
  /// The index of a row in buffers that have one for each query, and where
  /// tiles have several heads for each of these.
  std::vector<Halide::Expr> rowIndex(Halide::Expr row) const {
    if (shape.hasHeads)
      return {head(row), query(row)};
    return {query(row)};
  }
};

/// The keys of one step of this call, cut into blocks.
struct KeyBlocks {
  /// Keys begin .. end - 1 of the call; `whole`: a multiple of the block size.
  KeyBlocks(const TileShape &shape, Halide::Expr begin, Halide::Expr end,
            bool whole);

  /// Key j of block t, which may lie behind the end of the step.
  Halide::Expr key(Halide::Expr t, Halide::Expr j) const {
    return begin + t * length + j;
  }
  /// The same for reads of buffers: the last key in its stead.
  Halide::Expr validKey(Halide::Expr t, Halide::Expr j) const {
    return whole ? key(t, j) : min(key(t, j), end - 1);
  }

  /// Copies as f32 of vectors (by number) and values whose rows lie elsewhere
  /// or are stored otherwise: bits at (channel, key of the block, block).
  /// Undefined where they are read where they lie.
  std::vector<Halide::Func> keyCopies;
  Halide::Func valueCopy;

  Halide::Expr begin, end;
  bool whole;
  /// Number of blocks, keys of each, register tiles of each.
  Halide::Expr blocks, length, groups;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_TILECONTEXT_H
