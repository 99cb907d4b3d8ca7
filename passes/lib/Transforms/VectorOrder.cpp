// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotations commute with norms without gains and with factors of whole vectors.
// The one order is: norms, rotations, factors.
//
// Norms come first, where a norm over all heads must stand and where vectors
// with several rotations share one. Factors come last: those on either side of
// a rotation meet and become one, constant ones reach the scale of the product,
// and vectors that differ in a factor alone share a rotation.
#include "VectorIdentities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace posenc;

static void missed(Operation *op, const Twine &reason) {
  reportMissed(op->getLoc(), "VectorOrder",
               "kept the order of operations on vectors: " + reason);
}

/// Makes `op`, which reads the result of `first`, stand before it.
static void swap(Operation *first, Operation *op) {
  Value input = first->getOperand(0);
  op->getResult(0).replaceAllUsesExcept(first->getResult(0), first);
  first->setOperand(0, op->getResult(0));
  op->setOperand(0, input);
  first->moveAfter(op);
}

/// norm(rotate(x)) => rotate(norm(x))
static bool moveNorm(VectorNormOp norm) {
  auto rotation = norm.getInput().getDefiningOp<RotateOp>();
  if (!rotation)
    return false;
  if (norm.getKind() == NormKind::layer) {
    missed(norm, "a rotation changes the mean of the channels, which the norm "
                 "takes off");
    return false;
  }
  if (!rotation.getMix().empty() || !rotation.getModulus().empty()) {
    missed(norm, "the rotation before a norm changes lengths");
    return false;
  }
  if (!rotation->hasOneUse()) {
    missed(norm, "the vectors before a norm are used without it too");
    return false;
  }
  swap(rotation, norm);
  reportPassed(norm.getLoc(), "VectorOrder", "moved a norm before a rotation");
  return true;
}

/// rotate(factor(x)) => factor(rotate(x))
static bool moveFactor(RotateOp rotation) {
  auto scale = rotation.getInput().getDefiningOp<RowScaleOp>();
  if (!scale)
    return false;
  if (!scale->hasOneUse()) {
    missed(rotation, "the vectors before a rotation are used without it too");
    return false;
  }
  swap(scale, rotation);
  reportPassed(rotation.getLoc(), "VectorOrder",
               "moved a factor of vectors behind a rotation");
  return true;
}

bool posenc::orderVectorOps(KernelOp kernel) {
  bool anyChanged = false;
  for (bool changed = true; changed; anyChanged |= changed) {
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
      if (auto norm = dyn_cast<VectorNormOp>(op))
        changed |= moveNorm(norm);
      else if (auto rotation = dyn_cast<RotateOp>(op))
        changed |= moveFactor(rotation);
    }
  }
  return anyChanged;
}

//===----------------------------------------------------------------------===//
// Factors side by side
//===----------------------------------------------------------------------===//

/// One factor whose region is the product of the regions of two.
static void merge(RowScaleOp first, RowScaleOp second) {
  OpBuilder builder(second);
  Location loc = builder.getFusedLoc({first.getLoc(), second.getLoc()});
  SmallVector<Value> inputs(first.getInputs());
  llvm::append_range(inputs, second.getInputs());
  auto merged = RowScaleOp::create(builder, loc, second.getType(),
                                   first.getInput(), inputs);
  SmallVector<Type> types(inputs.size(), builder.getF64Type());
  SmallVector<Location> locs(inputs.size(), loc);
  Block *block = builder.createBlock(&merged.getBody(), {}, types, locs);
  Value product;
  unsigned next = 0;
  for (RowScaleOp scale : {first, second}) {
    IRMapping mapping;
    for (BlockArgument argument : scale.getBody().getArguments())
      mapping.map(argument, block->getArgument(next++));
    for (Operation &op : scale.getBody().front().without_terminator())
      builder.clone(op, mapping);
    Value factor =
        mapping.lookup(scale.getBody().front().getTerminator()->getOperand(0));
    product =
        product ? arith::MulFOp::create(builder, loc, product, factor) : factor;
  }
  YieldOp::create(builder, loc, product);
  reportPassed(second.getLoc(), "MergedFactors",
               "merged two factors of vectors into one");
  second.getResult().replaceAllUsesWith(merged);
  second.erase();
  first.erase();
}

bool posenc::mergeFactors(KernelOp kernel) {
  bool changed = false;
  for (RowScaleOp second :
       llvm::make_early_inc_range(kernel.getBody().getOps<RowScaleOp>())) {
    auto first = second.getInput().getDefiningOp<RowScaleOp>();
    if (!first || !first->hasOneUse())
      continue;
    merge(first, second);
    changed = true;
  }
  return changed;
}
