// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host program is made from: a kernel and its plans, checked.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H
#define POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Halide/TileSignature.h"

#include "llvm/Support/MathExtras.h"

#include <vector>

namespace posenc {

/// A table of the prepared buffer.
struct DriverTable {
  PrepareOp op;

  /// Which heads have a part of their own.
  enum class Heads {
    Same,   // one part for all
    Kernel, // the kernel's: constants differ by head
    Call    // the call's: operands differ by head
  } heads = Heads::Same;

  /// Angles: whose tokens have rows, one for each position or one for each
  /// token of each batch entry, and how queries find theirs among the keys.
  Side side = Side::key;
  bool hasBatchRows = false;
  Alignment alignment = Alignment::bottom_right;
  int64_t pairs = 0;
  llvm::SmallVector<mlir::Value> positions, freqs;
  RotateOp rotation;

  /// Rows: the table and, when its rows have no bounds, the relation that looks
  /// it up, of positions that are counted.
  mlir::Value values;
  TableType type;
  std::optional<int64_t> rows;
  RelationOp relation;

  llvm::StringRef getName() { return op.getSymName(); }
};

struct DriverPlan {
  PlanOp op;
  /// One for each entry of `rows`; the arguments are the same.
  llvm::SmallVector<TileFunction> tiles;
  std::optional<TileFunction> keys;
  /// The symbols of the key vectors that `keys` writes, in scratch one after
  /// another.
  llvm::SmallVector<std::string> transformed;
  /// Buffers of (rows, 2 Lk) numbers in the scratch of a worker.
  int64_t scans = 0;
  /// Whether all keys of a row come in one call of the tile function.
  bool hasOneRun() { return op.getDescending() || scans > 0; }
  /// Whether weights are exponentials of scores.
  bool exponentiates();
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
  /// The most transformed key vectors that a plan keeps for a key.
  int64_t keyVectors = 0;
  /// The most scans of a plan.
  int64_t scans = 0;
  /// Whether queries are looked up among the keys, so that Lq must not exceed
  /// Lk, and whether no head of the kernel may be missing in a call.
  bool needsQueriesAmongKeys = false, needsAllHeads = false;
  /// Whether some plan takes all keys of a row in one run.
  bool hasOneRun = false;
  /// Whether the queries (keys) of all heads are one buffer.
  bool readsAllQueries = false, readsAllKeys = false;

  // Numbers of tensors, as in posenc_frame.tensors.
  enum : unsigned { Query, Key, Value, Output, LogSumExp };
  bool hasLogSumExp() { return op.exportsLse(); }
  unsigned getFirstOperand() { return hasLogSumExp() ? 5 : 4; }
  /// The number of an operand of the kernel.
  std::optional<unsigned> findOperand(llvm::StringRef operand);
  DriverTable &lookupTable(llvm::StringRef name);
  /// The state in the scratch of a worker; scans come behind it.
  int64_t getStateBytes() { return llvm::alignTo(stateBytes, 64); }
};

/// Checks that the plans, each verified, are of that kernel and can be driven
/// together.
mlir::FailureOr<DriverKernel> analyzeKernel(KernelOp kernel,
                                            llvm::ArrayRef<PlanOp> plans);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H
