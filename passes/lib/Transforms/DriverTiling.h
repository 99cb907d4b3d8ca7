// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the query rows of one head are cut into tiles.
//
// The tallest tile is used until less than two of them are left. That rest is
// cut so that the last tile has the least padding, then so that tiles are few,
// then with taller tiles first: with rows 48 and 32, 50 rows are 32 + 18 (of
// 32) rather than 48 + 2. A table has the cut for each possible rest.
// Rows that come in blocks are cut block by block.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERTILING_H
#define POSENC_LIB_TRANSFORMS_DRIVERTILING_H

#include "DriverBuilder.h"

namespace posenc {

class RowCut {
public:
  /// `name` prefixes the tables; `rows` are those of the tile functions. No
  /// tile has rows of two blocks of `blockRows`, unless that is 0.
  RowCut(std::string name, llvm::ArrayRef<int64_t> rows, int64_t blockRows);

  /// The number of tiles of `length` rows, which is not 0.
  mlir::Value emitCount(DriverBuilder &b, mlir::Value length) const;

  struct Tile {
    mlir::Value begin;    // its first row
    mlir::Value end;      // one past the rows that it may have
    mlir::Value function; // its number in `rows`
  };
  Tile emitTile(DriverBuilder &b, mlir::Value length, mlir::Value tile) const;

  /// The numbers of the tile functions of `left` rows.
  llvm::ArrayRef<unsigned> getCut(int64_t left) const { return cuts[left]; }

private:
  mlir::Value emitWholeTiles(DriverBuilder &b, mlir::Value length) const;
  /// Of a block, or of rows without blocks.
  mlir::Value emitBlockCount(DriverBuilder &b, mlir::Value length) const;
  Tile emitBlockTile(DriverBuilder &b, mlir::Value length,
                     mlir::Value tile) const;
  mlir::Value emitEntry(DriverBuilder &b, llvm::StringRef what,
                        llvm::ArrayRef<int64_t> entries,
                        mlir::Value index) const;

  std::string name;
  llvm::SmallVector<int64_t> rows;
  int64_t blockRows;
  /// Index of the tallest entry of `rows`.
  unsigned tallest = 0;
  /// By the number of rows left, 0 .. 2 * rows[tallest] - 1.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> cuts;
  size_t longest = 1;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERTILING_H
