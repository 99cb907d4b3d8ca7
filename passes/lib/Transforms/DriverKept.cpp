// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the key function keeps at the start of the shared scratch.
#include "DriverKept.h"

using namespace mlir;
using namespace posenc;

/// So many bytes for each key of each head.
static Value emitBytes(DriverBuilder &b, DriverFrame frame,
                       DriverKernel &kernel, int64_t keyBytes) {
  // Those of a recurrence are in the scratch of workers.
  if (keyBytes == 0 || kernel.isRecurrent())
    return b.i64(0);
  Value heads = kernel.hasKeysByHead ? frame.heads() : frame.kvHeads();
  Value rows = b.mul(heads, frame.allKeys());
  return b.roundUp(b.mul(rows, b.i64(keyBytes)), 64);
}

Value posenc::emitKeyVectorBytes(DriverBuilder &b, DriverFrame frame,
                                 DriverKernel &kernel) {
  return emitBytes(b, frame, kernel,
                   kernel.keyVectors * kernel.op.getHeadDim() * sizeof(float));
}

Value posenc::emitTransformedBytes(DriverBuilder &b, DriverFrame frame,
                                   DriverKernel &kernel) {
  return b.add(emitKeyVectorBytes(b, frame, kernel),
               emitBytes(b, frame, kernel,
                         kernel.hasValuePairs ? getPairBytes(kernel) : 0));
}
