// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Halide parameters behind the arguments of a tile function.
#ifndef POSENC_GENERATORS_HALIDE_TILEPARAMS_H
#define POSENC_GENERATORS_HALIDE_TILEPARAMS_H

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Halide/TileSignature.h"

#include "Halide.h"

#include <vector>

namespace posenc {

class TileParams {
public:
  TileParams(const TileFunction &function, const InstructionSet &target);

  /// A buffer and what its dimensions count.
  struct Table {
    Halide::ImageParam buffer;
    llvm::ArrayRef<TableAxis> dims;
    /// A last dimension holds the two parts of each number.
    bool hasRest = false;
    Storage storage = Storage::F32;
    bool hasHalf = false;

    /// A number as f32.
    Halide::Expr at(std::vector<Halide::Expr> index) const;
  };

  bool has(TileArgKind kind) const;
  /// The buffer or number of that kind. It must be in the signature.
  Halide::ImageParam buffer(TileArgKind kind,
                            llvm::StringRef symbol = {}) const;
  Halide::Expr number(TileArgKind kind, llvm::StringRef symbol = {}) const;
  /// A number of queries, keys or values as f32, codes with their scale. The
  /// last index counts rows, wherever they are.
  Halide::Expr element(TileArgKind kind, std::vector<Halide::Expr> at,
                       llvm::StringRef symbol = {}) const;
  /// Such a number as it is stored.
  Halide::Expr stored(TileArgKind kind, std::vector<Halide::Expr> at,
                      llvm::StringRef symbol = {}) const;
  /// Such a number without its scale, and the scale of a row; undefined where
  /// numbers are no codes.
  Halide::Expr code(TileArgKind kind, std::vector<Halide::Expr> at,
                    llvm::StringRef symbol = {}) const;
  Halide::Expr scale(TileArgKind kind, Halide::Expr row) const;
  /// Whether those numbers are f32 in rows that follow one another.
  bool isStoredPlainly(TileArgKind kind, llvm::StringRef symbol = {}) const;
  /// A posenc.table, posenc.tile.load_table or posenc.at_query of one.
  Table table(mlir::Value table) const;
  Halide::ImageParam positions(PositionOp op) const;

  /// The inputs in order. Outputs follow in the order of the pipeline's Funcs.
  std::vector<Halide::Argument> inputs() const;

private:
  struct Param {
    TileArg arg;
    Halide::ImageParam buffer;
    Halide::Param<int> number;
  };
  const Param &find(llvm::function_ref<bool(const TileArg &)> isRight) const;
  const Param &find(TileArgKind kind, llvm::StringRef symbol) const;
  /// The row by its number, or where a list says that it is.
  Halide::Expr findRow(TileArgKind rows, Halide::Expr number) const;
  Halide::Expr scaleAt(TileArgKind kind, std::vector<Halide::Expr> place) const;

  std::vector<Param> params;
  /// Whether the instruction set converts f16.
  bool hasHalf;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_TILEPARAMS_H
