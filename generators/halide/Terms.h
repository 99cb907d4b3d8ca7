// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of regions: positions, relations and tables.
#ifndef POSENC_GENERATORS_HALIDE_TERMS_H
#define POSENC_GENERATORS_HALIDE_TERMS_H

#include "TileContext.h"

namespace posenc {

/// The value of one region input.
struct TermInput {
  Halide::Expr value; // int32, f32 or f64
  bool dependsOnRow = false, dependsOnKey = false;
  /// The table that is read at (query, key), if it is one: its small values
  /// mask the pair.
  bool isPairTable = false;
  /// An f32 would not do for differences of it.
  bool isPrecise = false;
};

/// A query, a key or a pair of them. Rows and keys of buffers are clamped to
/// those that exist, storage indices are not.
struct TokenPlace {
  Halide::Expr row, rowIndex; // undefined where only keys are
  Halide::Expr key, keyIndex; // undefined where only queries are
  Halide::Expr inBlock;       // the key within its block, if it is in one
  Halide::Expr head;          // undefined where tables are those of one head
};

/// Reads inputs at one place.
class TermSource {
public:
  explicit TermSource(const TileParams &params) : params(params) {}
  virtual ~TermSource() = default;

  /// The inputs of a region. `summed` is the value of the posenc.sum_index
  /// among them, if there is one.
  mlir::FailureOr<llvm::SmallVector<TermInput>>
  read(mlir::ValueRange inputs, const TokenPlace &place,
       Halide::Expr summed = Halide::Expr());

  /// A position or relation.
  mlir::FailureOr<TermInput> readIndex(mlir::Value index,
                                       const TokenPlace &place,
                                       Halide::Expr summed = Halide::Expr());
  /// An element of a table; `row` and `channel` where it has such axes.
  mlir::FailureOr<TermInput> readTable(mlir::Value table,
                                       const TokenPlace &place, TermInput row,
                                       Halide::Expr channel);

protected:
  /// An element of a table over queries and keys alone.
  virtual Halide::Expr readPair(const TileParams::Table &table,
                                const TokenPlace &place);

private:
  mlir::FailureOr<TermInput> position(PositionOp op, const TokenPlace &place);
  mlir::FailureOr<TermInput> relation(RelationOp op, const TokenPlace &place);
  mlir::FailureOr<TermInput> relationMap(RelationMapOp op,
                                         const TokenPlace &place);

protected:
  const TileParams &params;
};

/// The extent of the posenc.sum_index among the inputs, if there is one.
std::optional<int64_t> getSumExtent(mlir::ValueRange inputs);

/// The nearest integer; halves away from 0.
Halide::Expr roundToInt(Halide::Expr value);

/// Reads at row `context.i` and a key of block `context.t`. Tables of pairs are
/// transposed, block by block.
class BlockTerms : public TermSource {
public:
  BlockTerms(const TileContext &context, const KeyBlocks &keys)
      : TermSource(context.params), context(context), keys(keys) {}

  /// Key `j` of the block.
  TokenPlace getPlace(Halide::Expr j) const;

  /// Schedules what has been read, inside one block of the running state.
  void schedule(Halide::Func state, Halide::RVar block);

protected:
  Halide::Expr readPair(const TileParams::Table &table,
                        const TokenPlace &place) override;

private:
  struct Transposed {
    Halide::ImageParam table;
    /// Whether all of every square lies before the end of the keys.
    bool isWhole = false;
    Halide::Var element{"element"}, keySquare{"key_square"},
        rowSquare{"row_square"};
    std::vector<Halide::Func> squares;
    Halide::Func result;
  };

  const TileContext &context;
  const KeyBlocks &keys;
  std::vector<Transposed> transposed;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_TERMS_H
