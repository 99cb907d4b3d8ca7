// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls whose batch entries have lengths of their own, one entry at a time.
#ifndef POSENC_GENERATORS_REFERENCE_SEQUENCES_H
#define POSENC_GENERATORS_REFERENCE_SEQUENCES_H

#include "Call.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace posenc {

/// Tokens of a sequence before those that are given.
struct EarlierTokens {
  /// Those that a state stands for.
  int64_t inState = 0;
  /// Those that a ring no longer holds and nothing sees.
  int64_t forgotten = 0;
};

/// Evaluates each sequence as a dense call of one batch entry with
/// `evaluateDense`, and puts its outputs where the kernel has them.
llvm::Expected<ReferenceOutputs>
evaluateSequences(KernelOp kernel, const ReferenceInputs &inputs,
                  const ReferenceOptions &options,
                  llvm::function_ref<llvm::Expected<ReferenceOutputs>(
                      KernelOp, const ReferenceInputs &, EarlierTokens)>
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
