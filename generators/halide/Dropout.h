// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of a block of which random ones are dropped.
#ifndef POSENC_GENERATORS_HALIDE_DROPOUT_H
#define POSENC_GENERATORS_HALIDE_DROPOUT_H

#include "TileContext.h"

namespace posenc {

/// The random numbers of posenc.drop_weights. Four keys from a multiple of 4 on
/// share the words of one counter, so weights are kept in such groups: a block
/// may begin within one.
class Dropout {
public:
  /// `probability`: that of the plan, above 0.
  Dropout(const TileContext &context, const KeyBlocks &keys,
          double probability);

  /// `weights(i, x, group, t)` are bits of groups of a register tile's keys.
  void define(Halide::Func weights);
  /// The bits of what is left of the weight of (i, key of the block, t).
  Halide::Expr at(Halide::Expr key) const;
  /// Computed once for each block of the state's loop.
  void schedule(Halide::Func state, Halide::RVar block);

private:
  /// The place of key 0 of a block in its group of 4.
  Halide::Expr offset(Halide::Expr t) const;

  const TileContext &context;
  const KeyBlocks &keys;
  double probability;
  /// Word and group of four keys.
  Halide::Var w{"w"}, four{"four"};
  Halide::Func drawn{"drawn"}, kept{"kept"};
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_DROPOUT_H
