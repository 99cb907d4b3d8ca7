// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowBlock.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace posenc;

RowBlock::RowBlock(const Call &call, const Positions &positions,
                   llvm::ArrayRef<const Head *> given, int64_t begin,
                   int64_t end)
    : call(call), positions(positions), begin(begin), end(end),
      keys(call.shape.keyLen) {
  for (const Head *head : given)
    heads.emplace_back().head = head;
}

void RowBlock::evaluate(ReferenceOutputs &outputs) {
  for (Operation &op : call.body) {
    if (auto mlp = dyn_cast<HeadMlpOp>(op)) {
      mixHeads(mlp);
      continue;
    }
    for (HeadValues &values : heads)
      if (auto yield = dyn_cast<YieldOp>(op))
        write(values, yield, outputs);
      else
        evaluate(&op, values, outputs);
  }
}

void RowBlock::evaluate(Operation *op, HeadValues &values,
                        ReferenceOutputs &outputs) const {
  auto pairs = [&](Value result, Numbers numbers) {
    values.pairs[result] = std::move(numbers);
  };
  auto output = [&](Value result, Output rows) {
    values.outputs[result] = std::move(rows);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<RelationOp>([&](RelationOp op) { pairs(op, relate(op)); })
      .Case<RelationMapOp>(
          [&](RelationMapOp op) { pairs(op, relate(op, values)); })
      .Case<DotOp>([&](DotOp op) { pairs(op, dot(op, values)); })
      .Case<TableDotOp>([&](TableDotOp op) { pairs(op, dotTable(op, values)); })
      .Case<BiasOp>([&](BiasOp op) {
        pairs(op, evaluateScores(op.getBody(), {}, op.getInputs(), values));
      })
      .Case<MapOp>([&](MapOp op) {
        pairs(op, evaluateScores(op.getBody(), op.getScores(), op.getInputs(),
                                 values));
      })
      .Case<SelectOp>([&](SelectOp op) { pairs(op, select(op, values)); })
      .Case<RowscanOp>([&](RowscanOp op) { pairs(op, scan(op, values)); })
      .Case<AddOp>([&](AddOp op) {
        if (isa<ScoreType>(op.getType()))
          pairs(op, addScores(op, values));
        else
          output(op, addOutputs(op, values));
      })
      .Case<NormalizeOp>([&](NormalizeOp op) { normalize(op, values); })
      .Case<DropWeightsOp>([&](DropWeightsOp op) { drop(op, values, outputs); })
      .Case<WeightedSumOp>(
          [&](WeightedSumOp op) { output(op, sumValues(op, values)); })
      .Case<ValueTableOp>(
          [&](ValueTableOp op) { output(op, sumTable(op, values)); })
      .Case<RecurrenceOp>(
          [&](RecurrenceOp op) { output(op, recur(op, values)); })
      .Case<RemainderOp>(
          [&](RemainderOp op) { output(op, addRemainder(op, values)); });
}
