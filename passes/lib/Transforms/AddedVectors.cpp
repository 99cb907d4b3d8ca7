// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// q . k + u . k = (q + u) . k: products of keys with one vector join another
// product of these keys.
//
// The product with u costs as much as the one with q, while adding u to the
// queries happens once per tile.
#include "ScoreIdentities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace posenc;

static void missed(TableDotOp dot, const Twine &reason) {
  reportMissed(dot.getLoc(), "AddedVectors",
               "kept a product of keys with one vector: " + reason);
}

/// Whether all keys are multiplied with one row: then what looks it up does not
/// matter. Scores do: what is no number would show.
static bool readsOneRow(TableDotOp dot) {
  auto table = dot.getTable().getDefiningOp<TableOp>();
  return isa<KeyType>(dot.getVector().getType()) &&
         isa<RelationType>(dot.getIndex().getType()) && table &&
         table.getNumRows() == 1;
}

/// The sum that a term is added to with nothing else in between.
static Value findSum(Value term) {
  while (term.hasOneUse() && isa<AddOp>(*term.user_begin()))
    term = (*term.user_begin())->getResult(0);
  return term;
}

/// The product that can take the vector; null with a remark if there is none.
static DotOp findProduct(TableDotOp dot, Value sum) {
  DotOp result;
  StringRef reason = "nothing else multiplies them in its sum";
  for (Operation *user : dot.getVector().getUsers()) {
    auto other = dyn_cast<DotOp>(user);
    if (!other || !other->hasOneUse() || findSum(other) != sum)
      continue;
    if (!other.isWhole())
      reason = "the other product in its sum has other channels";
    else if (other.getScale() != dot.getScale())
      reason = "the other product in its sum has another scale";
    else if (!result || other->isBeforeInBlock(result))
      result = other;
  }
  if (!result)
    missed(dot, reason);
  return result;
}

/// A position that looks up row 0 for every query.
static Value buildFirstRow(OpBuilder &builder, Location loc) {
  auto law =
      IotaAttr::get(builder.getContext(), int64_t{0}, Alignment::bottom_right);
  Value position = PositionOp::create(builder, loc, Side::query, law);
  auto first = RemapOp::create(builder, loc, position);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&first.getBody(), {}, builder.getF64Type(), loc);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
  YieldOp::create(builder, loc, zero);
  return first;
}

/// Takes a term out of its sum.
static void dropTerm(Operation *term) {
  Operation *add = *term->user_begin();
  unsigned other = add->getOperand(0) == term->getResult(0) ? 1 : 0;
  add->getResult(0).replaceAllUsesWith(add->getOperand(other));
  add->erase();
  term->erase();
}

static bool addVector(TableDotOp dot) {
  if (!readsOneRow(dot))
    return false;
  if (!dot->hasOneUse() || !isa<AddOp>(*dot->user_begin())) {
    missed(dot, "it is no term of a sum");
    return false;
  }
  DotOp product = findProduct(dot, findSum(dot));
  if (!product)
    return false;
  // The later one has all operands before it, and tables stay where they are:
  // their order is that of the caller's arguments. Other products of these
  // queries do not get the vector.
  Operation *earlier = dot, *later = product;
  if (product->isBeforeInBlock(dot))
    std::swap(earlier, later);
  OpBuilder builder(later);
  Location loc = dot.getLoc();
  Value query = product.getQuery();
  Value added = VaddOp::create(builder, loc, query.getType(), query,
                               dot.getTable(), buildFirstRow(builder, loc));
  Value joint = DotOp::create(builder, product.getLoc(), added,
                              product.getKey(), product.getScale());
  later->getResult(0).replaceAllUsesWith(joint);
  dropTerm(earlier);
  later->erase();
  reportPassed(loc, "AddedVectors",
               "added the vector of a product with keys to the queries of "
               "another");
  return true;
}

bool posenc::addVectorsToQueries(KernelOp kernel) {
  bool changed = false;
  for (TableDotOp dot : llvm::to_vector(kernel.getBody().getOps<TableDotOp>()))
    changed |= addVector(dot);
  return changed;
}
