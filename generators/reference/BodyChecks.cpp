// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Checks.h"

using namespace mlir;
using namespace posenc;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Error unsupported(Operation &op, const llvm::Twine &what) {
  return fail("expected operations of level 2, but '" +
              op.getName().getStringRef() + "' " + what);
}

/// Whether a table of query heads takes part in a value.
static bool dependsOnHead(Value value) {
  auto type = dyn_cast<TableType>(value.getType());
  if (type && type.hasAxis(TableAxis::head))
    return true;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), dependsOnHead);
}

/// Keys have a norm over all heads when each head of keys has one vector.
static llvm::Error checkNorm(KernelOp kernel, VectorNormOp norm) {
  if (norm.getOver() == NormAxis::all_heads &&
      isa<KeyType>(norm.getInput().getType()) &&
      static_cast<int64_t>(kernel.getHeads()) != kernel.getNumKvHeads() &&
      dependsOnHead(norm.getInput()))
    return fail("expected the keys under 'posenc.vector_norm' over all heads "
                "to be the same for the query heads of a group, but a table "
                "over head takes part in them");
  return llvm::Error::success();
}

llvm::Error posenc::checkBody(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto position = dyn_cast<PositionOp>(op)) {
      if (!isa<IotaAttr, AppendedAttr, PositionTensorAttr>(position.getLaw()))
        return unsupported(op, "has a law that is none of #posenc.iota, "
                               "#posenc.appended and "
                               "#posenc.position_tensor");
    } else if (auto norm = dyn_cast<VectorNormOp>(op)) {
      if (llvm::Error error = checkNorm(kernel, norm))
        return error;
    } else if (!isa<RemapOp, RelationOp, RelationMapOp, SumIndexOp, FreqsOp,
                    FreqsMapOp, TableOp, TableMapOp, ProjectOp, PrefixSumOp,
                    AtQueryOp, RotateOp, VaddOp, ChannelScaleOp, RowScaleOp,
                    VectorMapOp, DotOp, TableDotOp, BiasOp, MapOp, HeadMlpOp,
                    AddOp, SelectOp, RowscanOp, NormalizeOp, DropWeightsOp,
                    WeightedSumOp, ValueTableOp, RemainderOp, RecurrenceOp,
                    YieldOp>(op)) {
      return unsupported(op, "is none");
    }
  }
  return llvm::Error::success();
}

static bool readsAllHeads(Operation &op) {
  auto norm = dyn_cast<VectorNormOp>(op);
  return isa<HeadMlpOp>(op) || (norm && norm.getOver() == NormAxis::all_heads);
}

llvm::Error posenc::checkCall(KernelOp kernel, const CallShape &shape) {
  int64_t heads = kernel.getHeads();
  for (Operation &op : kernel.getBody().front()) {
    llvm::StringRef name = op.getName().getStringRef();
    if (readsAllHeads(op) && shape.heads != heads)
      return fail("expected all " + llvm::Twine(heads) +
                  " heads of the kernel, which '" + name +
                  "' reads together, but got " + llvm::Twine(shape.heads));
    if (isa<AtQueryOp, RemainderOp>(op) && shape.queryLen > shape.keyLen)
      return fail("expected at most as many queries as keys (" +
                  llvm::Twine(shape.keyLen) + "), since '" + name +
                  "' reads a key at each query's place, but got " +
                  llvm::Twine(shape.queryLen));
  }
  return llvm::Error::success();
}

bool posenc::readsAllScores(KernelOp kernel) {
  return !kernel.getBody().front().getOps<HeadMlpOp>().empty();
}
