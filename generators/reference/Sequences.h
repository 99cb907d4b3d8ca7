// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls whose batch entries have lengths of their own, one entry at a time.
#ifndef POSENC_GENERATORS_REFERENCE_SEQUENCES_H
#define POSENC_GENERATORS_REFERENCE_SEQUENCES_H

#include "Call.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace posenc {

/// Evaluates each sequence as a dense call of one batch entry with
/// `evaluateDense`, and puts its outputs where the kernel has them. The number
/// is that of the tokens before those that are given, not 0 with keys(state).
llvm::Expected<ReferenceOutputs>
evaluateSequences(KernelOp kernel, const ReferenceInputs &inputs,
                  const ReferenceOptions &options,
                  llvm::function_ref<llvm::Expected<ReferenceOutputs>(
                      KernelOp, const ReferenceInputs &, int64_t)>
                      evaluateDense);

/// Writes what `encode` makes of the new keys of each sequence, [1, Hkv,
/// tokens, D], and the new values to where the cache has them.
llvm::Expected<AppendOutputs> evaluateAppendSequences(
    KernelOp kernel, const ReferenceInputs &inputs,
    llvm::function_ref<llvm::Expected<RealTensor>(const ReferenceInputs &,
                                                  const CallShape &)>
        encode);

} // namespace posenc

#endif // POSENC_GENERATORS_REFERENCE_SEQUENCES_H
