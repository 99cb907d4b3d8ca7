// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls whose batch entries have lengths of their own, one entry at a time.
#ifndef POSENC_GENERATORS_REFERENCE_SEQUENCES_H
#define POSENC_GENERATORS_REFERENCE_SEQUENCES_H

#include "posenc/Reference/Reference.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace posenc {

/// Evaluates each sequence as a dense call of one batch entry with
/// `evaluateDense`, and puts its outputs where the kernel has them.
llvm::Expected<ReferenceOutputs>
evaluateSequences(KernelOp kernel, const ReferenceInputs &inputs,
                  const ReferenceOptions &options,
                  llvm::function_ref<llvm::Expected<ReferenceOutputs>(
                      KernelOp, const ReferenceInputs &)>
                      evaluateDense);

} // namespace posenc

#endif // POSENC_GENERATORS_REFERENCE_SEQUENCES_H
