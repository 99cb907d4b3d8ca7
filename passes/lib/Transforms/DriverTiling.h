// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How query rows are cut into tiles.
//
// Rows of one head: the tallest tile is used until less than two of them are
// left. That rest is cut so that the last tile has the least padding, then so
// that tiles are few, then with taller tiles first: with rows 48 and 32, 50
// rows are 32 + 18 (of 32) rather than 48 + 2. A table has the cut for each
// possible rest. Rows that come in blocks are cut block by block.
//
// Packed rows, of all heads that share a key head: one tile if one has them
// all, the lowest of these, and otherwise the tallest tile throughout.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERTILING_H
#define POSENC_LIB_TRANSFORMS_DRIVERTILING_H

#include "DriverBuilder.h"

#include "posenc/Halide/TileSignature.h"

namespace posenc {

/// The tiles of one head, or of all heads that share a key head.
class TileCut {
public:
  virtual ~TileCut() = default;

  /// The number of tiles of `length` queries, which is not 0.
  virtual mlir::Value emitCount(DriverBuilder &b, mlir::Value length) const = 0;

  struct Tile {
    mlir::Value begin;    // its first query
    mlir::Value end;      // one past the queries that it may have
    mlir::Value function; // its number in `rows`
    /// Its first head, counted from the first that shares the key head, and the
    /// number of its heads; null for tiles of one head.
    mlir::Value head, heads;
  };
  virtual Tile emitTile(DriverBuilder &b, mlir::Value length,
                        mlir::Value tile) const = 0;
};

/// A constant table: the i64 entry at an index.
mlir::Value emitEntry(DriverBuilder &b, const llvm::Twine &name,
                      llvm::ArrayRef<int64_t> entries, mlir::Value index);

class PackedCut : public TileCut {
public:
  /// `name` prefixes the table; sequences have at most `most` queries.
  PackedCut(std::string name, llvm::ArrayRef<TileFunction> tiles, int64_t group,
            int64_t most);

  mlir::Value emitCount(DriverBuilder &b, mlir::Value length) const override;
  Tile emitTile(DriverBuilder &b, mlir::Value length,
                mlir::Value tile) const override;

  /// The number of the tile function for so many queries.
  int64_t getFunction(int64_t queries) const { return functions[queries]; }

private:
  struct Shape {
    int64_t heads, queries; // of a tile
  };
  /// A number of the shape of a tile function.
  mlir::Value ofFunction(DriverBuilder &b, mlir::Value function,
                         llvm::function_ref<int64_t(const Shape &)> get) const;
  mlir::Value emitFunction(DriverBuilder &b, mlir::Value length) const;
  int64_t countParts(const Shape &shape) const;

  std::string name;
  int64_t group;
  llvm::SmallVector<Shape> shapes;
  llvm::SmallVector<int64_t> functions; // by the number of queries
};

class RowCut : public TileCut {
public:
  /// `name` prefixes the tables; `rows` are those of the tile functions. No
  /// tile has rows of two blocks of `blockRows`, unless that is 0.
  RowCut(std::string name, llvm::ArrayRef<int64_t> rows, int64_t blockRows);

  mlir::Value emitCount(DriverBuilder &b, mlir::Value length) const override;
  Tile emitTile(DriverBuilder &b, mlir::Value length,
                mlir::Value tile) const override;

  /// The numbers of the tile functions of `left` rows.
  llvm::ArrayRef<unsigned> getCut(int64_t left) const { return cuts[left]; }

private:
  mlir::Value emitWholeTiles(DriverBuilder &b, mlir::Value length) const;
  /// Of a block, or of rows without blocks.
  mlir::Value emitBlockCount(DriverBuilder &b, mlir::Value length) const;
  Tile emitBlockTile(DriverBuilder &b, mlir::Value length,
                     mlir::Value tile) const;
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
