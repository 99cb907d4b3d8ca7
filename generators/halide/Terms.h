// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of bias and map regions: positions, relations and tables.
#ifndef POSENC_GENERATORS_HALIDE_TERMS_H
#define POSENC_GENERATORS_HALIDE_TERMS_H

#include "TileContext.h"

namespace posenc {

/// The value of one region input at (row, key).
struct TermInput {
  Halide::Expr value; // int32 or f32
  bool dependsOnRow = false, dependsOnKey = false;
  /// The table that is read at (query, key), if it is one: its small values
  /// mask the pair.
  bool isPairTable = false;
};

class TermReader {
public:
  TermReader(const TileContext &context, const KeyBlocks &keys)
      : context(context), keys(keys) {}

  /// The inputs of a region at row `context.i` and key `j` of block
  /// `context.t`.
  mlir::FailureOr<llvm::SmallVector<TermInput>> read(mlir::ValueRange inputs,
                                                     Halide::Expr j);

  /// Schedules what `read` has made, inside one block of the running state.
  void schedule(Halide::Func state, Halide::RVar block);

private:
  mlir::FailureOr<TermInput> readOne(mlir::Value input, Halide::Expr relation,
                                     Halide::Expr j);
  mlir::FailureOr<TermInput> position(PositionOp op, Halide::Expr j);
  mlir::FailureOr<TermInput> relation(RelationOp op, Halide::Expr j);
  mlir::FailureOr<TermInput> table(TableOp op, Halide::Expr relation,
                                   Halide::Expr j);
  Halide::Expr pairTable(Halide::ImageParam table, Halide::Expr j);

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
