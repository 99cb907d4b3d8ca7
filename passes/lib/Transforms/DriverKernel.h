// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host program is made from: a kernel and its plans, checked.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H
#define POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Halide/TileSignature.h"

#include <vector>

namespace posenc {

/// A table of the prepared buffer.
struct DriverTable {
  PrepareOp op;
  /// Of both sides; null for a strip that depends on no distance.
  PositionLawAttrInterface positions;
  /// Angles: one for each pair.
  llvm::SmallVector<double> frequencies;

  /// Strips: which heads have a row of their own.
  enum class Heads {
    Same,   // one row for all
    Kernel, // the kernel's: constants differ by head
    Call    // the call's: operands differ by head
  } heads = Heads::Same;

  llvm::StringRef getName() { return op.getSymName(); }
};

struct DriverPlan {
  PlanOp op;
  /// One for each entry of `rows`; the arguments are the same.
  llvm::SmallVector<TileFunction> tiles;
  std::optional<TileFunction> keys;
  /// How masks and iota positions of the steps place query rows.
  Alignment alignment = Alignment::bottom_right;
};

struct DriverKernel {
  KernelOp op;
  std::string name;
  std::vector<KernelTensor> tensors;
  llvm::SmallVector<OperandTensor> operands;
  std::vector<DriverPlan> plans; // best first
  std::vector<DriverTable> tables;
  /// Rows of the tallest tile and bytes of the largest state.
  int64_t tallest = 0;
  int64_t stateBytes = 0;

  // Numbers of tensors, as in posenc_frame.tensors.
  enum : unsigned { Query, Key, Value, Output, LogSumExp };
  bool hasLogSumExp() { return !op.getNoLse(); }
  unsigned getFirstOperand() { return hasLogSumExp() ? 5 : 4; }
  /// The number of an operand of the kernel.
  std::optional<unsigned> findOperand(llvm::StringRef operand);
  /// Whether some plan transforms keys.
  bool transformsKeys();
};

/// Checks that the plans, each verified, are of that kernel and can be driven
/// together.
mlir::FailureOr<DriverKernel> analyzeKernel(KernelOp kernel,
                                            llvm::ArrayRef<PlanOp> plans);

/// The law of the positions that the query side of a plan reads from an
/// operand.
PositionTensorAttr findQueryPositions(PlanOp plan, llvm::StringRef operand);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H
