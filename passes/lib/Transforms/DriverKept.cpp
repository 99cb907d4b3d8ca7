// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the key function of a plan keeps in the shared scratch.
#include "DriverKept.h"

using namespace mlir;
using namespace posenc;

/// So many bytes for each key of each head.
static Value emitBytes(DriverBuilder &b, DriverFrame frame, DriverPlan &plan,
                       int64_t keyBytes) {
  if (keyBytes == 0)
    return b.i64(0);
  Value heads = plan.hasKeysByHead ? frame.heads() : frame.kvHeads();
  Value rows = b.mul(heads, frame.allKeys());
  return b.roundUp(b.mul(rows, b.i64(keyBytes)), 64);
}

Value posenc::emitKeyVectorBytes(DriverBuilder &b, DriverFrame frame,
                                 DriverPlan &plan) {
  auto vectors = static_cast<int64_t>(plan.transformed.size());
  return emitBytes(b, frame, plan,
                   vectors * plan.op.getHeadDim() * sizeof(float));
}

Value posenc::emitTransformedBytes(DriverBuilder &b, DriverFrame frame,
                                   DriverPlan &plan) {
  Value keys = emitKeyVectorBytes(b, frame, plan);
  if (!plan.hasValuePairs)
    return keys;
  return b.add(keys, emitBytes(b, frame, plan, getPairBytes(plan)));
}
