// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the numbers of one token of an input embedding: positions, random
// numbers, elements of tables.
#ifndef POSENC_LIB_TRANSFORMS_EMBEDNUMBERS_H
#define POSENC_LIB_TRANSFORMS_EMBEDNUMBERS_H

#include "DriverFrame.h"

#include "posenc/Analysis/KernelTensors.h"

#include "llvm/ADT/DenseMap.h"

namespace posenc {

/// An embedding that is lowered.
struct EmbedProgram {
  EmbedOp op;
  std::string name;
  std::vector<KernelTensor> tensors;
  /// coord_sum and coord_mean: each has a number for every token in the shared
  /// scratch, computed before the tokens.
  llvm::SmallVector<mlir::Operation *> sequences;

  unsigned findTensor(llvm::StringRef tensor) const;
  unsigned findSequence(mlir::Operation *op) const;
};

/// Numbers are f64, indices i64. Emits at the builder's insertion point what
/// does not depend on a channel, once for each number.
class EmbedNumbers {
public:
  using Value = mlir::Value;

  EmbedNumbers(DriverBuilder &b, DriverFrame frame, const EmbedProgram &program,
               Value batch, Value token)
      : b(b), frame(frame), program(program), batch(batch), token(token) {}

  /// A number of the token.
  Value emit(Value number);
  /// An element of a table. `row` is a number, `channel` an index below the
  /// table's channels; null where the table has no such axis.
  Value emitElement(Value table, Value row, Value channel);
  /// A table's channel of that index, or its last.
  Value clampChannel(Value table, Value channel, int64_t largest);
  /// The arguments that inputs of a region are.
  llvm::SmallVector<Value> emitInputs(mlir::ValueRange inputs, Value channel,
                                      int64_t largestChannel);
  /// What a region yields.
  Value emitRegion(mlir::Region &region, llvm::ArrayRef<Value> arguments);
  /// Uniform number `index` of a stream.
  Value emitUniform(int64_t stream, Value index);
  /// The place of a sequence's number of the token.
  Value emitSequenceAddress(mlir::Operation *sequence, Value token);

  Value f64(double value);
  Value toF64(Value integer);
  /// b L + t
  Value emitTokenNumber() { return emitTokenNumber(token); }
  Value getToken() { return token; }
  DriverFrame getFrame() { return frame; }

private:
  Value emitTokenNumber(Value token);
  Value emitPosition(PositionOp op);
  Value emitRow(Value row, double low, double high);
  Value emitConstant(TableOp op, ConstantsAttr constants, Value row,
                     Value channel);
  Value emitOperand(TableOp op, OperandAttr operand, Value row, Value channel);

  DriverBuilder &b;
  DriverFrame frame;
  const EmbedProgram &program;
  Value batch, token;
  llvm::DenseMap<Value, Value> numbers;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_EMBEDNUMBERS_H
