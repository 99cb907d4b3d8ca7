// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlanRecurrence.h"
#include "PlanRemarks.h"
#include "PlanVectors.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

/// Work grows with the tokens of a chunk where these meet each other, and with
/// the number of chunks where they meet the state.
static constexpr int64_t kChunkTokens = 64;

TileSizes posenc::getChunks(const InstructionSet &isa) {
  return {{kChunkTokens, std::max(isa.lanes, isa.transpose)}, kChunkTokens};
}

namespace {
class RecurrenceWriter {
public:
  RecurrenceWriter(RecurrenceOp op, PlanOp plan)
      : op(op), plan(plan), tables(plan), builder(op.getContext()),
        loc(op.getLoc()) {
    builder.setInsertionPointToEnd(&plan.getBody().front());
    for (ValueRange vectors : {op.getKeys(), op.getByKeys()})
      keys.insert_range(vectors);
  }

  void run() {
    writeKeys();
    writePrologue();
    writeChunk();
    planned(op, "Recurrence",
            "tokens are computed in chunks of " + Twine(plan.getKeys()) +
                ", one after another, with a state of " +
                Twine(op.getKeys().size() * plan.getHeadDim()) + " x " +
                Twine(plan.getValueDim()) + " numbers for each head");
  }

private:
  template <typename OpT>
  Block *addPart(TypeRange types) {
    auto part = OpT::create(builder, loc);
    OpBuilder::InsertionGuard guard(builder);
    return builder.createBlock(&part.getBody(), {}, types,
                               SmallVector<Location>(types.size(), loc));
  }

  void writeKeys() {
    if (llvm::all_of(keys, llvm::IsaPred<BlockArgument>))
      return;
    Block *part = addPart<KeysOp>(KeyType::get(op.getContext()));
    OpBuilder inner = OpBuilder::atBlockEnd(part);
    VectorWriter writer(inner, tables, part->getArgument(0));
    SmallVector<Value> results =
        llvm::map_to_vector(keys, [&](Value key) { return writer.write(key); });
    YieldOp::create(inner, loc, results);
  }

  void writePrologue() {
    Block *part = addPart<PrologueOp>(QueryType::get(op.getContext()));
    OpBuilder inner = OpBuilder::atBlockEnd(part);
    VectorWriter writer(inner, tables, part->getArgument(0));
    SmallVector<Value> results;
    for (auto [query, scale] :
         llvm::zip_equal(op.getQueries(), op.getScales())) {
      Value vector = writer.write(query);
      if (scale != 1)
        vector = TileScaleOp::create(inner, loc, vector, APFloat(scale));
      results.push_back(vector);
    }
    for (Value query : op.getByQueries())
      results.push_back(writer.write(query));
    YieldOp::create(inner, loc, results);
  }

  void writeChunk() {
    size_t queries = op.getQueries().size(), count = op.getByQueries().size();
    SmallVector<Type> types(queries + count, QueryType::get(op.getContext()));
    types.append(keys.size(), KeyType::get(op.getContext()));
    Block *part = addPart<ChunkOp>(types);
    auto getKeys = [&](ValueRange vectors) {
      return llvm::map_to_vector(vectors, [&](Value key) -> Value {
        auto index = std::distance(keys.begin(), llvm::find(keys, key));
        return part->getArgument(queries + count + index);
      });
    };
    FlatSymbolRefAttr decays;
    if (op.decays())
      decays = FlatSymbolRefAttr::get(op.getContext(), tables.getDecays(op));
    OpBuilder inner = OpBuilder::atBlockEnd(part);
    ValueRange arguments = part->getArguments();
    auto chunk = TileRecurrenceOp::create(
        inner, loc, op.getType(), arguments.take_front(queries),
        getKeys(op.getKeys()), arguments.slice(queries, count),
        getKeys(op.getByKeys()), op.getEpsilonAttr(), op.getDecayedBy(),
        decays);
    YieldOp::create(inner, loc, chunk.getResult());
  }

  RecurrenceOp op;
  PlanOp plan;
  PlanTables tables;
  OpBuilder builder;
  Location loc;
  llvm::SetVector<Value> keys;
};
} // namespace

LogicalResult posenc::planRecurrence(RecurrenceOp op, PlanOp plan) {
  // A chunk has the keys of its queries' tokens, and what is before it in a
  // state.
  if (!op->getParentOfType<KernelOp>().hasState())
    return op.emitOpError("cannot be placed in a plan; expected its kernel to "
                          "have keys(state)");
  for (Value operand : op->getOperands())
    if (isa<QueryType, KeyType>(operand.getType()) &&
        failed(checkVector(operand)))
      return failure();
  RecurrenceWriter(op, plan).run();
  return success();
}
