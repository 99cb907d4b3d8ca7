// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotations of channel pairs, for queries and keys alike.
#ifndef POSENC_GENERATORS_HALIDE_ROTATION_H
#define POSENC_GENERATORS_HALIDE_ROTATION_H

#include "posenc/IR/Posenc.h"

#include "Halide.h"

namespace posenc {

/// The channels of a rotation. `half` is 0 for the first and 1 for the second
/// channel of a pair.
struct RotatedPairs {
  explicit RotatedPairs(TileRotateOp op)
      : first(op.getFirstDim()), pairs(op.getDims() / 2),
        interleaved(op.getPairing() == Pairing::interleaved) {}

  Halide::Expr channel(Halide::Expr pair, Halide::Expr half) const {
    int begin = static_cast<int>(first);
    if (interleaved)
      return begin + 2 * pair + half;
    return begin + half * static_cast<int>(pairs) + pair;
  }

  int64_t first, pairs;
  bool interleaved;
};

/// Channel `half` of the pair (a, b) after the rotation.
inline Halide::Expr rotated(Halide::Expr a, Halide::Expr b, Halide::Expr cosine,
                            Halide::Expr sine, Halide::Expr half) {
  return Halide::select(half == 0, a * cosine - b * sine,
                        a * sine + b * cosine);
}

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_ROTATION_H
