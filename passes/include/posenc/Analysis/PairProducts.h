// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an instruction set multiplies and adds pairs of bf16 at once.
#ifndef POSENC_ANALYSIS_PAIRPRODUCTS_H
#define POSENC_ANALYSIS_PAIRPRODUCTS_H

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/IR/Posenc.h"

#include <optional>
#include <string>

namespace posenc {

/// The products of a plan whose factors are bf16. Accumulators are f32.
struct PairProducts {
  /// Queries and keys are multiplied as they are stored: vectors that are
  /// rotated or normalised would have to be rounded once more, which the bound
  /// of errors does not leave room for.
  bool scores = false;
  /// What scores are multiplied by where exponentials are taken of them, and
  /// not before, since they are one product, masked or not; else 1.
  double lateFactor = 1;
  /// Weights are rounded to bf16, to the nearest and ties to even.
  bool values = false;
};

PairProducts getPairProducts(PlanOp plan);

/// The factor of a vector of a prologue that is what the caller stores times a
/// factor; nothing for others.
std::optional<double> getStoredFactor(mlir::Value vector);

/// Whether all rows of queries, keys, values and outputs are bf16.
bool isAllBF16(KernelOp kernel);

/// Whether the plans of an expanded kernel have pairs of values, where there is
/// an instruction for them.
bool hasValuePairs(KernelOp kernel);

/// What a kernel rounds to less than f32 on the way to its output, as relative
/// errors.
struct Rounding {
  /// Outputs, where they are stored.
  double outputs = 0;
  /// Weights, where values are multiplied with them.
  double weights = 0;
};

/// That of a kernel which was compiled for an instruction set; "" for none.
Rounding getRounding(KernelOp kernel, llvm::StringRef isa);

/// Of the instruction sets with these names, or of all if there are none, those
/// that a kernel or an embedding is compiled for, best first: one that brings
/// it nothing gives way to the next. Names must be known.
llvm::SmallVector<const InstructionSet *>
selectInstructionSets(mlir::Operation *op, llvm::ArrayRef<std::string> names);

} // namespace posenc

#endif // POSENC_ANALYSIS_PAIRPRODUCTS_H
