// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels as the lanes of vectors, in tiles of few rows.
#include "posenc/Analysis/ChannelLanes.h"

using namespace posenc;

int64_t posenc::getChannelLanes(PlanOp plan, int64_t limit) {
  constexpr int64_t fewest = 4;
  int64_t lanes = limit;
  auto divide = [&](int64_t channels) {
    while (channels % lanes != 0)
      lanes /= 2;
  };
  divide(plan.getHeadDim());
  divide(plan.getValueDim());
  for (StepOp step : plan.getStepOps())
    for (DotOp dot : step.getBody().front().getOps<DotOp>())
      if (std::optional<llvm::ArrayRef<int64_t>> channels = dot.getChannels())
        divide(channels->back());
  return lanes < fewest ? 0 : lanes;
}
