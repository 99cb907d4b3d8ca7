// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of every input embedding: an interpreter of level 2 in double
// precision.
#ifndef POSENC_REFERENCE_EMBED_H
#define POSENC_REFERENCE_EMBED_H

#include "posenc/Reference/Reference.h"

namespace posenc {

struct EmbedInputs {
  RealTensor x; // [B, L, dim], unless nothing reads it
  /// The embedding's other tensors by name; see EmbedOp::getOperandTensors().
  llvm::StringMap<RealTensor> tables;
  llvm::StringMap<IntTensor> positions;
  /// Of random numbers, as in posenc_call.
  uint64_t seed = 0, offset = 0;
};

/// y [B, L, dim] of an embedding that has a body. Fails, with a sentence, when
/// the inputs do not fit or a position is no row of what it looks up.
llvm::Expected<RealTensor> evaluateEmbed(EmbedOp embed,
                                         const EmbedInputs &inputs);

} // namespace posenc

#endif // POSENC_REFERENCE_EMBED_H
