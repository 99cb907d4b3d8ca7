// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the interpreter refuses, each with a sentence.
#ifndef POSENC_REFERENCE_CHECKS_H
#define POSENC_REFERENCE_CHECKS_H

#include "Call.h"

#include "llvm/Support/Error.h"

namespace posenc {

/// Whether the body holds only what can be interpreted.
llvm::Error checkBody(KernelOp kernel);

/// The extents that the inputs agree on.
llvm::Expected<CallShape> checkShapes(KernelOp kernel,
                                      const ReferenceInputs &inputs);

/// Whether each operation of the body has a meaning in a call of that shape.
llvm::Error checkCall(KernelOp kernel, const CallShape &shape);

/// Whether one head's scores need those of all heads.
bool readsAllScores(KernelOp kernel);

} // namespace posenc

#endif // POSENC_REFERENCE_CHECKS_H
