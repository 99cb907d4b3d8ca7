// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Positions that a rotation scales are scaled frequencies: (a p + b) w is
// (p + b / a) (a w). Positions stay integers, which are exact, and rotations of
// queries and keys by one law can share a table of angles.
#include "PositionIdentities.h"

#include "posenc/Analysis/AffineRegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

/// Whether frequencies times a number are numbers.
static bool canScale(Value freqs, double factor) {
  auto op = freqs.getDefiningOp<FreqsOp>();
  return !op || llvm::all_of(op.getLaw().getFrequencies(), [=](double value) {
    return std::isfinite(value * factor);
  });
}

/// Frequencies times a number.
static Value scaleFrequencies(OpBuilder &builder, Value freqs, double factor) {
  if (auto map = freqs.getDefiningOp<FreqsMapOp>()) {
    auto scaled = cast<FreqsMapOp>(builder.clone(*map));
    Operation *yield = scaled.getBody().front().getTerminator();
    OpBuilder inner(yield);
    Value number = arith::ConstantOp::create(inner, map.getLoc(),
                                             inner.getF64FloatAttr(factor));
    yield->setOperand(0, arith::MulFOp::create(inner, map.getLoc(),
                                               yield->getOperand(0), number));
    return scaled;
  }
  auto op = freqs.getDefiningOp<FreqsOp>();
  SmallVector<double> values = op.getLaw().getFrequencies();
  for (double &value : values)
    value *= factor;
  MLIRContext *context = builder.getContext();
  return FreqsOp::create(
      builder, op.getLoc(),
      FrequenciesAttr::get(context, DenseF64ArrayAttr::get(context, values)));
}

/// A position plus a number.
static Value shift(OpBuilder &builder, Location loc, Value position,
                   double offset) {
  if (offset == 0)
    return position;
  auto op = RemapOp::create(builder, loc, position);
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, builder.getF64Type(), loc);
  Value number =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(offset));
  Value sum =
      arith::AddFOp::create(builder, loc, block->getArgument(0), number);
  YieldOp::create(builder, loc, sum);
  return op;
}

static bool modulusReadsPosition(RotateOp rotation) {
  Region &modulus = rotation.getModulus();
  return !modulus.empty() && !modulus.getArgument(1).use_empty();
}

static bool foldAxis(RotateOp rotation, unsigned axis) {
  Value position = rotation.getPositions()[axis];
  if (!position.getDefiningOp<RemapOp>())
    return false;
  auto [base, function] = resolvePosition(position);
  if (base == position) {
    reportMissed(rotation.getLoc(), "PositionScale",
                 "kept the positions of a rotation as they are mapped: the map "
                 "is no affine function");
    return false;
  }
  // A constant angle has no scale, and a shift alone stays what it is.
  if (function.isConstant() ||
      (function.slope == 1 && function.offset != 0 &&
       position.getDefiningOp<RemapOp>().getPosition() == base))
    return false;
  if (axis == 0 && modulusReadsPosition(rotation)) {
    reportMissed(rotation.getLoc(), "PositionScale",
                 "kept the positions of a rotation as they are scaled: its "
                 "modulus reads them too");
    return false;
  }
  double offset = function.offset / function.slope;
  if (!std::isfinite(offset) ||
      !canScale(rotation.getFreqs()[axis], function.slope)) {
    reportMissed(rotation.getLoc(), "PositionScale",
                 "kept the positions of a rotation as they are scaled: the "
                 "scaled numbers would overflow");
    return false;
  }
  OpBuilder builder(rotation);
  rotation.getPositionsMutable()[axis].assign(
      shift(builder, rotation.getLoc(), base, offset));
  if (function.slope != 1)
    rotation.getFreqsMutable()[axis].assign(
        scaleFrequencies(builder, rotation.getFreqs()[axis], function.slope));
  reportPassed(rotation.getLoc(), "PositionScale",
               "scaled the frequencies of a rotation instead of its positions");
  return true;
}

bool posenc::foldPositionScales(KernelOp kernel) {
  bool changed = false;
  for (RotateOp rotation : kernel.getBody().getOps<RotateOp>())
    for (unsigned axis = 0; axis < rotation.getPositions().size(); ++axis)
      changed |= foldAxis(rotation, axis);
  return changed;
}
