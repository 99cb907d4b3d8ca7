// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 2: the kernels that append to key and value caches.
#include "IdentityRemarks.h"
#include "posenc/Analysis/KeyReach.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCSPLITCACHE
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// The key vector that a cache can hold
//===----------------------------------------------------------------------===//

static bool isKey(Value value) { return isa<KeyType>(value.getType()); }

/// The key vectors that scores are made of.
static llvm::SetVector<Value> findKeys(Block &body) {
  llvm::SetVector<Value> keys;
  for (Operation &op : body)
    if (llvm::none_of(op.getResults(), isKey))
      for (Value operand : op.getOperands())
        if (isKey(operand))
          keys.insert(operand);
  return keys;
}

static InFlightDiagnostic refuse(KernelOp kernel) {
  return kernel.emitOpError("cannot have key_cache(encoded); expected "
                            "key_cache(raw), since ");
}

/// Why what `op` computes is not known when a key is appended, or nothing.
static std::string getObstacle(KernelOp kernel, Operation *op) {
  if (auto freqs = dyn_cast<FreqsMapOp>(op))
    if (!freqs.getBody().getArgument(1).use_empty())
      return "its frequencies depend on the length of the call";
  if (auto position = dyn_cast<PositionOp>(op);
      position && position.getSide() == Side::query)
    return "it depends on the positions of queries";
  auto table = dyn_cast<TableOp>(op);
  if (!table)
    return "";
  if (table.getType().hasAxis(TableAxis::head) &&
      static_cast<int64_t>(kernel.getHeads()) != kernel.getNumKvHeads())
    return "it depends on the query head, and query heads share their keys";
  if (table.getType().hasAxis(TableAxis::key) ||
      table.getType().hasAxis(TableAxis::query))
    return "it depends on an operand with a number for each key or query of "
           "the call";
  return "";
}

/// Whether a key can be made from what is known when it is appended.
static LogicalResult checkKey(KernelOp kernel, Value key) {
  llvm::SetVector<Operation *> ops;
  if (Operation *op = key.getDefiningOp())
    ops.insert(op);
  for (size_t i = 0; i < ops.size(); ++i) {
    std::string obstacle = getObstacle(kernel, ops[i]);
    if (!obstacle.empty()) {
      InFlightDiagnostic diag = refuse(kernel)
                                << "the key vector is not that of the key "
                                   "alone: "
                                << obstacle;
      diag.attachNote(ops[i]->getLoc()) << "this takes part in it";
      return diag;
    }
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        ops.insert(op);
  }
  return success();
}

/// The one key vector of all products: what the cache of encoded keys holds.
static FailureOr<Value> findEncodedKey(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  eraseDead(body);
  llvm::SetVector<Value> keys = findKeys(body);
  if (keys.empty())
    return Value(body.getArgument(1));
  if (keys.size() > 1) {
    InFlightDiagnostic diag = refuse(kernel)
                              << "its products read " << keys.size()
                              << " different key vectors, and a cache holds "
                                 "one";
    for (Value key : keys)
      diag.attachNote(key.getLoc())
          << (isa<BlockArgument>(key) ? "one is the key itself"
                                      : "one is made here");
    return diag;
  }
  if (failed(checkKey(kernel, keys.front())))
    return failure();
  return keys.front();
}

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

/// New tokens are counted from the start of their sequence.
static void countFromStart(Block &body) {
  for (PositionOp position : body.getOps<PositionOp>())
    if (auto iota = dyn_cast<IotaAttr>(position.getLaw()))
      position.setLawAttr(
          AppendedAttr::get(iota.getContext(), iota.getOffset()));
}

/// A kernel that yields the copy of `key`.
static KernelOp makeAppend(KernelOp kernel, Value key) {
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(kernel);
  IRMapping mapping;
  auto append = cast<KernelOp>(builder.clone(*kernel, mapping));
  append.setSymName(kernel.getAppendName());
  append.removeKeyCacheAttr();
  append.removeNoLseAttr();
  append.removeContextLengthAttr();
  append.removeBlocksAttr();
  Block &body = append.getBody().front();
  body.getTerminator()->setOperand(0, mapping.lookup(key));
  eraseDead(body);
  countFromStart(body);
  return append;
}

static LogicalResult split(KernelOp kernel) {
  std::string name = kernel.getAppendName();
  if (Operation *other = SymbolTable::lookupNearestSymbolFrom(
          kernel, StringAttr::get(kernel.getContext(), name))) {
    auto append = dyn_cast<KernelOp>(other);
    if (append && append.isAppend())
      return success();
    InFlightDiagnostic diag = other->emitOpError("has the name '")
                              << name
                              << "', which is that of the kernel that fills "
                                 "another one's cache; rename one of the two";
    diag.attachNote(kernel.getLoc()) << "the other kernel is here";
    return diag;
  }
  Value own = kernel.getBody().front().getArgument(1);
  FailureOr<Value> key = own;
  bool isEncoded = kernel.getKeyCache() == KeyCache::encoded;
  if (isEncoded)
    key = findEncodedKey(kernel);
  if (failed(key))
    return failure();
  makeAppend(kernel, *key);
  if (isEncoded && *key != own) {
    key->replaceAllUsesWith(own);
    eraseDead(kernel.getBody().front());
  }
  return checkRing(kernel);
}

namespace {
struct SplitCache : posenc::impl::PosencSplitCacheBase<SplitCache> {
  void runOnOperation() override {
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (kernel.isExpanded() && kernel.hasCache() && !kernel.isAppend() &&
          failed(split(kernel)))
        signalPassFailure();
  }
};
} // namespace
