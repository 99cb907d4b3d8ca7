// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels as the lanes of vectors, in tiles of few rows.
#ifndef POSENC_ANALYSIS_CHANNELLANES_H
#define POSENC_ANALYSIS_CHANNELLANES_H

#include "posenc/IR/Posenc.h"

namespace posenc {

/// The lanes of the widest vector of at most `limit` that divides the channels
/// of all products and values of a plan. Vectors of fewer than four are not
/// worth it: 0.
int64_t getChannelLanes(PlanOp plan, int64_t limit);

} // namespace posenc

#endif // POSENC_ANALYSIS_CHANNELLANES_H
