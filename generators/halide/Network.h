// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks over the scores of all heads: posenc.head_mlp.
#ifndef POSENC_GENERATORS_HALIDE_NETWORK_H
#define POSENC_GENERATORS_HALIDE_NETWORK_H

#include "Score.h"

namespace posenc {

/// The scores of one head that a network takes, at (row, key of the run,
/// number of the score).
class NetworkInputs {
public:
  NetworkInputs(const TileContext &context, const StepVectors &vectors);

  mlir::LogicalResult build(HeadMlpOp op);

  /// Fully scheduled. It refers to this object until the pipeline is compiled.
  Halide::Func getOutput() const { return output; }

private:
  const TileContext &context;
  KeyBlocks keys;
  ScanFuncs scans; // none
  ScoreBuilder builder;
  Halide::Func output{"head_scores"};
};

/// The results of a network for all heads, at (row, key of the run, head).
/// Fully scheduled.
mlir::FailureOr<Halide::Func> buildNetwork(HeadMlpOp op,
                                           const TileContext &context);

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_NETWORK_H
