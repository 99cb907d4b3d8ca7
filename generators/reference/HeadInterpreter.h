// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes the body of a kernel for one head at a time.
#ifndef POSENC_REFERENCE_HEADINTERPRETER_H
#define POSENC_REFERENCE_HEADINTERPRETER_H

#include "posenc/Reference/Reference.h"

#include "llvm/ADT/DenseMap.h"

namespace posenc {

/// The extents of one call, checked against its tensors.
struct CallShape {
  int64_t batch = 0, heads = 0, kvHeads = 0, queryLen = 0, keyLen = 0;
  int64_t headDim = 0, valueDim = 0;
  int64_t firstHead = 0;
};

/// Values that do not depend on the pair are computed when a batch entry, a key
/// head or a query head is entered; values per pair for a few rows at a time.
class HeadInterpreter {
public:
  HeadInterpreter(KernelOp kernel, const ReferenceInputs &inputs,
                  const CallShape &shape);

  /// Whether the body holds only what can be interpreted.
  static llvm::Error checkBody(KernelOp kernel);

  void enterBatch(int64_t b);
  void enterHead(int64_t h);
  /// Writes rows [begin, end) of the current head. Calls for different rows may
  /// run at the same time.
  void evaluateRows(int64_t begin, int64_t end,
                    ReferenceOutputs &outputs) const;

private:
  struct Angles {
    std::vector<double> cos, sin; // [tokens, pairs]
  };
  /// The table of the current head.
  struct TableView {
    const double *data = nullptr;
    int64_t rowStride = 0, queryStride = 0, keyStride = 0;
    bool masks = false;
  };
  /// Values of one pair each: [rows, Lk].
  using PairValues = llvm::DenseMap<mlir::Value, std::vector<double>>;

  int64_t getLength(Side side) const;
  void computePositions(PositionOp op, int64_t b);
  void computeAngles(RotateOp op);
  void rotate(RotateOp op);
  void enterKeyHead(int64_t kvHead);
  void viewTable(TableOp op);
  std::vector<double> evaluateRegion(mlir::Region &region, mlir::Value score,
                                     mlir::ValueRange inputs, int64_t begin,
                                     int64_t end,
                                     const PairValues &values) const;

  mlir::Block &body;
  int64_t kernelHeads;
  const ReferenceInputs &inputs;
  CallShape shape;

  int64_t batchIndex = -1, headIndex = -1, kvHeadIndex = -1;
  llvm::DenseMap<mlir::Value, std::vector<int64_t>> positions;
  llvm::DenseMap<mlir::Operation *, Angles> angles;
  llvm::DenseMap<mlir::Value, TableView> tables;
  /// Query, key and value vectors [tokens, channels]: an input's, or rotated.
  llvm::DenseMap<mlir::Value, const double *> vectors;
  llvm::DenseMap<mlir::Value, std::vector<double>> rotated;
  /// Keys that take part in a dot product, [channels, Lk].
  llvm::DenseMap<mlir::Value, std::vector<double>> transposedKeys;
  /// The greatest |element| of each value vector.
  std::vector<double> valueMagnitudes;
  bool valuesAreFinite = true;
};

} // namespace posenc

#endif // POSENC_REFERENCE_HEADINTERPRETER_H
