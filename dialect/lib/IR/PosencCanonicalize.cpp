// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds and canonicalisations.
#include "posenc/IR/Posenc.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace posenc;

/// select(s, full) => s
/// select(select(s, m), m) => select(s, m)
OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (isa_and_nonnull<FullMaskAttr>(getMaskAttr()))
    return getScore();
  auto inner = getScore().getDefiningOp<SelectOp>();
  bool isRepeated = inner && getMaskAttr() && !getOther() &&
                    inner.getMaskAttr() == getMaskAttr() &&
                    inner.getPositions() == getPositions() && !inner.getOther();
  if (isRepeated)
    return inner.getResult();
  return {};
}

/// scale(q, 1) => q, unless it says something about the base of scores
OpFoldResult TileScaleOp::fold(FoldAdaptor) {
  if (getFactor().isExactlyValue(1.0) && !getBase2())
    return getInput();
  return {};
}

namespace {
/// add(s, bias that is always 0) => s
struct AddOfZeroBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  static bool isZero(Value value) {
    auto bias = value.getDefiningOp<BiasOp>();
    if (!bias)
      return false;
    Value yielded = bias.getBody().front().getTerminator()->getOperand(0);
    return matchPattern(yielded, m_AnyZeroFloat());
  }
  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    if (isZero(op.getRhs()))
      rewriter.replaceOp(op, op.getLhs());
    else if (isZero(op.getLhs()))
      rewriter.replaceOp(op, op.getRhs());
    else
      return failure();
    return success();
  }
};
} // namespace

void AddOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<AddOfZeroBias>(context);
}
