// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the body of an input embedding computes.
#ifndef POSENC_ANALYSIS_EMBEDBODY_H
#define POSENC_ANALYSIS_EMBEDBODY_H

#include "posenc/IR/Posenc.h"

#include "llvm/Support/Error.h"

namespace posenc {

/// The operations on the vectors of an expanded embedding, first to last. Each
/// has one vector as its first operand.
llvm::SmallVector<mlir::Operation *> getVectorOps(EmbedOp embed);

/// Whether the result depends on the vectors that the caller gives: the first
/// of the operations above reads its input.
bool readsInput(EmbedOp embed);

/// Fails, with a sentence, if the body holds what has no meaning for tokens
/// that stand alone, such as scores or tables of heads.
llvm::Error checkEmbedBody(EmbedOp embed);

} // namespace posenc

#endif // POSENC_ANALYSIS_EMBEDBODY_H
