// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The masks that hide a pair from everything.
#ifndef POSENC_ANALYSIS_SCOREMASKS_H
#define POSENC_ANALYSIS_SCOREMASKS_H

#include "posenc/IR/Posenc.h"

#include "llvm/ADT/SetVector.h"

namespace posenc {

using MaskSet = llvm::SetVector<MaskAttrInterface>;

/// Whether a select is a mask over storage indices.
bool isIndexMask(SelectOp select);

/// The masks over storage indices that hide their pairs from each of these
/// scores and from every posenc.rowscan behind them: keys that they hide need
/// not be looked at. A mask in one branch of a select does not count.
MaskSet findCommonMasks(llvm::ArrayRef<mlir::Value> scores);

/// The other selects that do the same: those over positions, and predicates.
llvm::SmallVector<SelectOp>
findCommonPredicates(llvm::ArrayRef<mlir::Value> scores);

} // namespace posenc

#endif // POSENC_ANALYSIS_SCOREMASKS_H
