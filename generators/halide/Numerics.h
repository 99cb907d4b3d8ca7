// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Real functions of vectors and the conventions of tile intermediates.
#ifndef POSENC_GENERATORS_HALIDE_NUMERICS_H
#define POSENC_GENERATORS_HALIDE_NUMERICS_H

#include "posenc/Halide/TileSignature.h"

#include "Halide.h"

#include <vector>

namespace posenc {

/// The score of a pair that must not count: finite, so that sums of it and
/// differences to it are not NaN.
constexpr float kMaskedScore = -1e30f;

/// No maximum is below this, even that of a row without keys: the weight of a
/// masked score, 2^(score - maximum), is then 0 without a test.
constexpr float kLowestMaximum = -1e20f;

/// Whether a score is kMaskedScore or less; false for NaN.
Halide::Expr isMaskedScore(Halide::Expr score);

/// The same condition, of which Halide's bounds inference learns nothing: it
/// would compute less of a register tile than its consumer walks, with extents
/// that are no constants.
Halide::Expr hideFromBounds(Halide::Expr condition);

/// Where intermediates live. Halide takes Stack memory of more than 16 KB from
/// halide_malloc; Register memory is always an alloca of constant size.
constexpr Halide::MemoryType kTileMemory = Halide::MemoryType::Register;

/// Intermediates of kTileMemory hold the bits of floats. Halide gives a small
/// allocation the space of a larger one of the same type that is free again;
/// accumulators that land in a large array reach registers too late for LLVM to
/// delete the products that nobody reads (5 % of the time on AVX2).
Halide::Expr toBits(Halide::Expr value);
Halide::Expr fromBits(Halide::Expr bits);

/// A stored number, or a code without its scale, as f32; and the nearest number
/// of 16 bits, ties to even. Real numbers are their bits: Halide would warn of
/// each. `hasHalf` says whether the instruction set converts f16.
Halide::Expr widen(Halide::Expr stored, Storage storage, bool hasHalf);
Halide::Expr narrow(Halide::Expr value, Storage storage);

/// The bits of a bf16 as f32, in a form that Halide multiplies in pairs: both
/// factors of a sum over the two numbers of a pair, which is vectorised.
Halide::Expr widenPair(Halide::Expr bits);
/// The bits of the nearest bf16, ties to even, in one instruction where the
/// instruction set has one: lanes are twice those of f32.
Halide::Expr narrowPair(Halide::Expr value);

/// 2^x for f32, relative error 1.1e-7, exactly 1 at 0. It is 0 from -127 down,
/// and less than 2^-126 between there and -126. NaN stays NaN.
Halide::Expr exp2Approx(Halide::Expr x);

/// The same, and infinity from 128 on.
Halide::Expr exp2OrInfinity(Halide::Expr x);

/// tanh(x) for f32, relative error a few units in the last place.
Halide::Expr tanhApprox(Halide::Expr x);

/// max or sum of a group of values, as a tree.
Halide::Expr treeMax(std::vector<Halide::Expr> values);
Halide::Expr treeSum(std::vector<Halide::Expr> values);

/// The largest of limit, limit / 2, ... 1 that divides n; limit is a power
/// of 2.
int dividingWidth(int64_t n, int64_t limit);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_NUMERICS_H
