// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits what an input embedding does to the vector of one token.
#ifndef POSENC_LIB_TRANSFORMS_EMBEDVECTORS_H
#define POSENC_LIB_TRANSFORMS_EMBEDVECTORS_H

#include "EmbedNumbers.h"

namespace posenc {

/// Applies operations to a vector of `dim` f64 in place.
class EmbedVectors {
public:
  using Value = mlir::Value;

  EmbedVectors(DriverBuilder &b, EmbedNumbers &numbers, Value vector,
               int64_t dim)
      : b(b), numbers(numbers), vector(vector), dim(dim) {}

  void emit(mlir::Operation *op);
  /// Runs a loop over the channels begin .. end - 1.
  void forChannels(int64_t begin, int64_t end,
                   llvm::function_ref<void(Value channel)> body);
  Value load(Value channel);
  void store(Value value, Value channel);

private:
  using Function = llvm::function_ref<Value(Value element, Value channel)>;
  /// Replaces every element.
  void map(Function function);

  void emitRotate(RotateOp op);
  void emitVadd(VaddOp op);
  void emitChannelScale(ChannelScaleOp op);
  void emitRowScale(RowScaleOp op);
  void emitNorm(VectorNormOp op);
  void emitVectorMap(VectorMapOp op);
  void emitChannelMap(ChannelMapOp op);
  void emitDropout(DropoutOp op);

  /// The sum of a function of the elements.
  Value emitSum(Function function);
  Value emitFrequency(mlir::Value freqs, mlir::Value position, Value index,
                      const llvm::Twine &name);
  /// The cosine and sine that turn a pair.
  std::pair<Value, Value> emitTurn(RotateOp op, Value pair);
  /// p_0 w_0[index] + p_1 w_1[index] + ...
  Value emitAngle(RotateOp op, Value index);

  DriverBuilder &b;
  EmbedNumbers &numbers;
  Value vector;
  int64_t dim;
};

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_EMBEDVECTORS_H
