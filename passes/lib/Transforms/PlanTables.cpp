// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of a plan, and the terms that are copied into its parts.
#include "PlanTables.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace posenc;

Value posenc::cloneTermInput(OpBuilder &builder, Value input,
                             IRMapping &mapping) {
  if (Value copy = mapping.lookupOrNull(input))
    return copy;
  Operation *op = input.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneTermInput(builder, operand, mapping);
  return builder.clone(*op, mapping)->getResult(0);
}

Value posenc::cloneBias(OpBuilder &builder, BiasOp bias,
                        const llvm::BitVector &usedInputs, IRMapping &mapping) {
  SmallVector<Value> inputs;
  for (unsigned index : usedInputs.set_bits())
    inputs.push_back(cloneTermInput(builder, bias.getInputs()[index], mapping));
  auto copy = BiasOp::create(builder, bias.getLoc(), inputs);
  IRMapping regionMapping;
  bias.getBody().cloneInto(&copy.getBody(), regionMapping);
  Block &block = copy.getBody().front();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(block.without_terminator())))
    if (op.use_empty())
      op.erase();
  llvm::BitVector unusedInputs = usedInputs;
  block.eraseArguments(unusedInputs.flip());
  return copy;
}

PlanTables::PlanTables(PlanOp plan) : plan(plan), builder(plan.getContext()) {}

StringRef PlanTables::add(Location loc, TableKind kind,
                          function_ref<SmallVector<Value>()> writeBody) {
  SmallVector<PrepareOp, 4> tables = plan.getPrepareOps();
  int64_t count = llvm::count_if(
      tables, [&](PrepareOp table) { return table.getKind() == kind; });
  // Tables come before the other parts, in order of first use.
  if (tables.empty())
    builder.setInsertionPointToStart(&plan.getBody().front());
  else
    builder.setInsertionPointAfter(tables.back());
  std::string name = (stringifyTableKind(kind) + Twine(count)).str();
  auto table = PrepareOp::create(builder, loc, name, kind);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&table.getBody());
    SmallVector<Value> values = writeBody();
    YieldOp::create(builder, loc, values);
  }
  for (PrepareOp other : tables)
    if (other.getKind() == kind && OperationEquivalence::isRegionEquivalentTo(
                                       &other.getBody(), &table.getBody(),
                                       OperationEquivalence::IgnoreLocations)) {
      table.erase();
      return other.getSymName();
    }
  return table.getSymName();
}

StringRef PlanTables::getAngles(Location loc,
                                PositionLawAttrInterface positions,
                                FreqsLawAttrInterface freqs) {
  return add(loc, TableKind::angles, [&] {
    Value position = PositionOp::create(builder, loc, Side::key, positions);
    Value frequencies = FreqsOp::create(builder, loc, freqs);
    return SmallVector<Value>{position, frequencies};
  });
}

StringRef PlanTables::getStrip(BiasOp bias, const BiasTraits &traits,
                               bool base2) {
  Location loc = bias.getLoc();
  return add(loc, TableKind::strip, [&] {
    IRMapping mapping;
    Value score = cloneBias(builder, bias, traits.usedInputs, mapping);
    if (base2)
      score = TileToBase2Op::create(builder, loc, score);
    return SmallVector<Value>{score};
  });
}
