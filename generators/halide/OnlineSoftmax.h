// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The running state of a query tile: weights of keys that arrive in blocks.
#ifndef POSENC_GENERATORS_HALIDE_ONLINESOFTMAX_H
#define POSENC_GENERATORS_HALIDE_ONLINESOFTMAX_H

#include "Score.h"

#include <memory>

namespace posenc {

/// How scores become weights, and what is summed beside them.
struct WeightKind {
  explicit WeightKind(PlanOp plan);

  NormalizeKind kind = NormalizeKind::softmax;
  /// Weights are 2^(score - maximum); otherwise they are the scores.
  bool exponentiates = true;
  /// The sum is not that of the weights, which the epilogue needs too.
  bool needsWeightSum = false;
  /// With what probability weights are dropped; 0: none.
  double dropout = 0;

  /// Whether `Sum` is the sum of the weights that values are multiplied by.
  bool sumsWeights() const {
    return kind != NormalizeKind::abs_sum && kind != NormalizeKind::linear &&
           dropout == 0;
  }
};

/// state(row, slot): running numbers, then the output, unnormalized. With
/// channels as lanes state(lane, slot): numbers of the row `lane`, then the
/// vectors of each row's output.
class OnlineSoftmax {
public:
  /// Slots of the state. The factors come first: they are computed from the old
  /// maximum, which is replaced after them. Without exponentials there are no
  /// factors and no maximum. `Sum` is what weights are divided by: their sum,
  /// that of their magnitudes or of the denominator's terms.
  enum Slot {
    OldFactor = TileState::Factor,
    NewFactor,
    Maximum = TileState::Maximum,
    Sum = TileState::FirstSum,
    WeightSum
  };

  OnlineSoftmax(const TileContext &context, WeightKind kind,
                const StepVectors &vectors, const ScanFuncs &scans);
  ~OnlineSoftmax();

  /// Adds the keys of a step, from where the step before stopped.
  mlir::LogicalResult addStep(StepOp step);

  Halide::Func getState() const { return state; }

private:
  struct Stage;
  mlir::LogicalResult buildScores(Stage &stage, mlir::Operation *yield);
  void makeScores(Stage &stage, const ScoreValue &score);
  void makeExponentials(Stage &stage);
  void makePairs(Stage &stage, Halide::Expr sum);
  void makeWeights(Stage &stage, const ScoreValue &weight);
  void makeDenominator(Stage &stage, const ScoreValue &term);
  Halide::Expr getWeight(const Stage &stage) const;
  void makeOutput(Stage &stage);
  mlir::LogicalResult addValueTable(Stage &stage, mlir::Value table,
                                    mlir::Value relation);
  Halide::Expr getColumn(Halide::Expr d) const;
  Halide::Expr getUpdate(Stage &stage, Halide::Expr lane, Halide::RVar slot,
                         Halide::RVar block);
  void updateState(Stage &stage);
  void scheduleCopies(Stage &stage);
  void scheduleScores(Stage &stage);
  void schedulePairs(Stage &stage);
  void scheduleSums(Stage &stage);
  void scheduleOutput(Stage &stage);

  const TileContext &context;
  WeightKind kind;
  const StepVectors &vectors;
  const ScanFuncs &scans;
  Halide::Func state;
  Halide::Expr begin = 0;
  int updates = 0;
  /// Funcs refer to what is in the stages until the pipeline is compiled.
  std::vector<std::unique_ptr<Stage>> stages;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_ONLINESOFTMAX_H
