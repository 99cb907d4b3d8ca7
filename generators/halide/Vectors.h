// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to one vector of each token, for queries and keys alike.
#ifndef POSENC_GENERATORS_HALIDE_VECTORS_H
#define POSENC_GENERATORS_HALIDE_VECTORS_H

#include "Terms.h"
#include "posenc/IR/FactorOps.h"

namespace posenc {

/// Translates the vectors of posenc.prologue or posenc.keys. How vectors lie in
/// memory and when they are computed is up to the part.
class VectorBuilder {
public:
  VectorBuilder(const TileParams &params, int64_t headDim)
      : terms(params), headDim(headDim), params(params) {}
  virtual ~VectorBuilder() = default;

protected:
  /// A vector after one operation other than posenc.tile.rotate and tile.scale.
  mlir::FailureOr<Halide::Func> apply(mlir::Operation *op, Halide::Func input);

  /// A channel of a vector of prepared factors.
  mlir::FailureOr<Halide::Expr> readFactors(TileVectorOp op,
                                            Halide::Expr channel);

  /// A channel of the token's vector.
  virtual Halide::Expr read(Halide::Func vector, Halide::Expr channel) = 0;
  /// A scheduled vector with `value(channel)` in each channel.
  virtual Halide::Func
  define(const std::string &name,
         llvm::function_ref<Halide::Expr(Halide::Var)> value) = 0;
  /// A scheduled number of each token, in f64.
  virtual Halide::Func defineNumber(const std::string &name,
                                    Halide::Expr value) = 0;
  /// The same, a sum of `value(index)` over the indices below the product of
  /// `extents`.
  virtual Halide::Func defineSum(
      const std::string &name, int64_t outer, int64_t channels,
      llvm::function_ref<Halide::Expr(Halide::Expr, Halide::Expr)> value) = 0;
  virtual Halide::Expr getNumber(Halide::Func number) = 0;
  virtual TokenPlace getPlace() = 0;
  /// The caller's vectors of all heads.
  virtual TileArgKind getAllHeads() = 0;
  virtual Halide::Expr getToken() = 0;

  TermSource terms;
  int64_t headDim;
  const TileParams &params;

private:
  mlir::FailureOr<Halide::Func> applyTable(mlir::Operation *op,
                                           mlir::Value table,
                                           mlir::Value position,
                                           Halide::Func input);
  mlir::FailureOr<Halide::Func> scaleRows(RowScaleOp op, Halide::Func input);
  Halide::Func normalize(VectorNormOp op, Halide::Func input, int64_t heads);
};

/// Heads behind the vectors of a part.
int64_t getNumHeads(mlir::Operation *part);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_VECTORS_H
