// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens to the keys, and to values that are multiplied in pairs: once
// per (batch, key head), before the tiles, or in tiles, block by block.
#ifndef POSENC_GENERATORS_HALIDE_KEYTRANSFORM_H
#define POSENC_GENERATORS_HALIDE_KEYTRANSFORM_H

#include "TileParams.h"
#include "TileShape.h"

namespace posenc {

/// The key function of a plan that has one.
mlir::FailureOr<Halide::Pipeline>
buildKeyTransform(PlanOp plan, const TileParams &params, int64_t lanes);

/// Where keys are transformed.
struct TransformedKeys {
  /// The Func that takes them, at (channel, token), and the variables of a
  /// token, which walks keys by the first. Intermediates are there for a key.
  Halide::Func out;
  std::vector<Halide::Var> token;
  /// The index of the key in buffers.
  Halide::Expr key;
  /// The kind of the tables of angles.
  TileArgKind angles;
  int64_t headDim, lanes;
};

/// A channel of a result of posenc.keys.
mlir::FailureOr<Halide::Expr> transformKey(mlir::Value vector,
                                           Halide::Var channel,
                                           const TileParams &params,
                                           const TransformedKeys &keys);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_KEYTRANSFORM_H
