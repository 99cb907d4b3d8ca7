// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a posenc.bias, or another term, depends on, proved from its inputs and
// its region.
#ifndef POSENC_ANALYSIS_BIASTRAITS_H
#define POSENC_ANALYSIS_BIASTRAITS_H

#include "posenc/IR/Posenc.h"

#include "llvm/ADT/BitVector.h"

namespace posenc {

/// Only inputs that reach the region's result count: those whose argument is
/// used on the way to it, and the relation that looks up such a table.
struct BiasTraits {
  /// One bit for each input.
  llvm::BitVector usedInputs;

  /// Whether the value may differ between query rows or keys.
  bool dependsOnQuery = false;
  bool dependsOnKey = false;

  /// Whether the value is a function of the head and of i - j alone: used
  /// inputs are relations between positions of one affine law, and tables over
  /// `row` and `head`.
  bool toeplitz = false;
  /// The one law of all positions behind used relations; null when there are no
  /// such relations or their laws differ.
  PositionLawAttrInterface positions;

  /// Whether a used table with a head axis is an operand (indexed by the heads
  /// of the call) or constant (indexed by the heads of the kernel).
  bool readsHeadOperands = false;
  bool readsHeadConstants = false;

  /// One number for each head and distance can stand for the bias. The heads of
  /// a call may be a part of the kernel's, so a strip cannot count both.
  bool fitsStrip() const {
    return toeplitz && !(readsHeadOperands && readsHeadConstants);
  }
};

BiasTraits analyzeBias(BiasOp bias);

/// Whether what these values are made of reads tables that differ by head.
bool readsHeadTables(mlir::ValueRange values);

/// The inputs of a region whose arguments reach what it yields, and those that
/// look up its tables. A posenc.sum_index is always used.
llvm::BitVector findUsedInputs(mlir::ValueRange inputs, mlir::Block &body);

} // namespace posenc

#endif // POSENC_ANALYSIS_BIASTRAITS_H
