// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One evaluation of an input embedding: its numbers and vectors.
#ifndef POSENC_REFERENCE_EMBEDCALL_H
#define POSENC_REFERENCE_EMBEDCALL_H

#include "RegionLanes.h"

#include "posenc/Reference/Embed.h"

namespace posenc {

using EmbedNumbers = std::vector<double>;

/// Numbers have an element for each token [B L], vectors for each channel of
/// each token [B L dim].
class EmbedCall {
public:
  EmbedCall(EmbedOp embed, const EmbedInputs &inputs)
      : embed(embed), inputs(inputs), dim(embed.getDim()) {}

  llvm::Expected<RealTensor> evaluate();

private:
  llvm::Error checkShapes();
  llvm::Error setExtent(int64_t &extent, int64_t actual, llvm::StringRef name);

  // Numbers of tokens.
  llvm::Error evaluateNumber(mlir::Operation *op);
  EmbedNumbers readPositions(PositionOp op);
  EmbedNumbers mapNumbers(mlir::Region &region, mlir::ValueRange inputs);
  EmbedNumbers sum(const EmbedNumbers &numbers);
  EmbedNumbers mean(const EmbedNumbers &numbers);
  EmbedNumbers draw(RandomOp op);
  llvm::Error checkBound(BoundedOp op);

  /// An element of a table at a token; `row` and `channel` where it has them,
  /// clamped.
  double lookUp(mlir::Value table, int64_t token, double row, int64_t channel);

  // Vectors.
  void evaluateVector(mlir::Operation *op);
  void map(llvm::function_ref<double(double x, int64_t token, int64_t channel)>
               function);
  void rotate(RotateOp op);
  void norm(VectorNormOp op);
  void channelMap(ChannelMapOp op);
  EmbedNumbers getFrequencies(mlir::Value freqs, mlir::Value position);

  /// The region at each token, or each channel of one.
  double evaluateScalar(mlir::Region &region, llvm::ArrayRef<double> arguments);

  EmbedOp embed;
  const EmbedInputs &inputs;
  int64_t dim, batch = -1, length = -1;
  llvm::DenseMap<mlir::Value, EmbedNumbers> numbers;
  std::vector<double> vectors;
  RegionLanes lanes;
};

} // namespace posenc

#endif // POSENC_REFERENCE_EMBEDCALL_H
