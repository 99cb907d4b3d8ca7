// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far back the queries of a kernel see: what a ring of keys must hold.
#ifndef POSENC_ANALYSIS_KEYREACH_H
#define POSENC_ANALYSIS_KEYREACH_H

#include "posenc/IR/Posenc.h"

#include <optional>

namespace posenc {

/// The most keys before its own place that a query of an expanded kernel sees;
/// nothing if no mask over indices that hides pairs from everything bounds it.
std::optional<int64_t> getKeyReach(KernelOp kernel);

/// kernel_c14: whether a kernel with keys(ring), whose cache has been split
/// off, needs nothing but the keys that a ring holds.
llvm::LogicalResult checkRing(KernelOp kernel);

} // namespace posenc

#endif // POSENC_ANALYSIS_KEYREACH_H
