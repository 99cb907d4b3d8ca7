// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The running state of a query tile: softmax over keys that arrive in blocks.
#ifndef POSENC_GENERATORS_HALIDE_ONLINESOFTMAX_H
#define POSENC_GENERATORS_HALIDE_ONLINESOFTMAX_H

#include "Score.h"

#include <memory>

namespace posenc {

/// state(row, slot): kRunningValues numbers, then the output, unnormalized.
class OnlineSoftmax {
public:
  /// Slots of the state. The factors come first: they are computed from the old
  /// maximum, which is replaced after them.
  enum Slot { OldFactor = 0, NewFactor = 1, Maximum = 2, Sum = 3 };

  /// `query` is the prologue's result.
  OnlineSoftmax(const TileContext &context, Halide::Func query);
  ~OnlineSoftmax();

  /// Adds the keys of a step, from where the step before stopped.
  mlir::LogicalResult addStep(StepOp step);

  Halide::Func getState() const { return state; }

private:
  struct Stage;
  void makeDots(Stage &stage);
  void makeSection(Stage &stage, int begin, int end);
  void makeScores(Stage &stage, const ScoreValue &score);
  void makeWeights(Stage &stage);
  void makeOutput(Stage &stage);
  void updateState(Stage &stage);
  void scheduleDots(Stage &stage);

  const TileContext &context;
  Halide::Func query, state;
  Halide::Expr begin = 0;
  int updates = 0;
  /// Funcs refer to what is in the stages until the pipeline is compiled.
  std::vector<std::unique_ptr<Stage>> stages;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_ONLINESOFTMAX_H
