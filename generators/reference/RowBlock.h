// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes what depends on pairs, for some rows of one head or of all.
#ifndef POSENC_REFERENCE_ROWBLOCK_H
#define POSENC_REFERENCE_ROWBLOCK_H

#include "Vectors.h"

namespace posenc {

/// The number of visible scores times the greatest, over the sum: by how much
/// the relative error of a sum of scores may exceed that of the greatest.
double getCondition(llvm::ArrayRef<double> scores, double sum);

/// Walks the body once. Each operation is executed for every head that is given
/// before the next one is, so that posenc.head_mlp finds the scores of all.
class RowBlock {
public:
  RowBlock(const Call &call, const Positions &positions,
           llvm::ArrayRef<const Head *> heads, int64_t begin, int64_t end);

  void evaluate(ReferenceOutputs &outputs);

private:
  /// Per row of a posenc.normalize: see ReferenceOutputs.
  struct Rows {
    Numbers lse, maxScore;
    /// What the error of an output grows with, for values of magnitude 1.
    Numbers mass;
    /// The sum of the weights.
    Numbers sum;
  };
  struct Output {
    Numbers data;  // [rows, valueDim]
    Numbers bound; // per row: see ReferenceOutputs::maxValue
  };
  struct HeadValues {
    const Head *head = nullptr;
    /// Relations, scores and weights: [rows, Lk].
    llvm::DenseMap<mlir::Value, Numbers> pairs;
    llvm::DenseMap<mlir::Value, Rows> rows;
    llvm::DenseMap<mlir::Value, Output> outputs;
  };

  int64_t getNumRows() const { return end - begin; }
  void evaluate(mlir::Operation *op, HeadValues &values,
                ReferenceOutputs &outputs) const;
  /// The number of the block's first row among all rows of the call.
  int64_t getFirstRow(const HeadValues &values) const {
    return (values.head->batch * call.shape.heads + values.head->head) *
               call.shape.queryLen +
           begin;
  }

  // Scores.cpp
  Numbers relate(RelationOp op) const;
  Numbers relate(RelationMapOp op, const HeadValues &values) const;
  Numbers dot(DotOp op, const HeadValues &values) const;
  Numbers dotTable(TableDotOp op, const HeadValues &values) const;
  Numbers evaluateRegion(mlir::Region &region, mlir::ValueRange scores,
                         mlir::ValueRange inputs, const HeadValues &values,
                         Numbers *masked = nullptr) const;
  Numbers evaluateScores(mlir::Region &region, mlir::ValueRange scores,
                         mlir::ValueRange inputs,
                         const HeadValues &values) const;
  Numbers addScores(AddOp op, const HeadValues &values) const;
  Numbers select(SelectOp op, const HeadValues &values) const;
  Numbers isAllowed(SelectOp op, MaskAttrInterface mask) const;
  Numbers scan(RowscanOp op, const HeadValues &values) const;

  // HeadMlp.cpp
  void mixHeads(HeadMlpOp op);
  Numbers gatherScores(HeadMlpOp op, int64_t row) const;
  Numbers computeHidden(HeadMlpOp op, const Numbers &scores) const;
  void writeScores(HeadMlpOp op, int64_t row, const Numbers &scores,
                   const Numbers &hidden);

  // Weights.cpp
  void hideUnlisted(mlir::Value score, HeadValues &values) const;
  void normalize(NormalizeOp op, HeadValues &values) const;
  void drop(DropWeightsOp op, HeadValues &values,
            ReferenceOutputs &outputs) const;
  Output sumValues(WeightedSumOp op, const HeadValues &values) const;
  Output sumTable(ValueTableOp op, const HeadValues &values) const;
  Output addRemainder(RemainderOp op, const HeadValues &values) const;
  Output addOutputs(AddOp op, const HeadValues &values) const;

  // Recurrence.cpp
  Numbers sumProducts(mlir::ValueRange queries, mlir::ValueRange keyVectors,
                      const HeadValues &values) const;
  Output recur(RecurrenceOp op, HeadValues &values) const;

  void write(const HeadValues &values, YieldOp yield,
             ReferenceOutputs &outputs) const;

  const Call &call;
  const Positions &positions;
  int64_t begin, end, keys;
  llvm::SmallVector<HeadValues> heads;
};

} // namespace posenc

#endif // POSENC_REFERENCE_ROWBLOCK_H
