// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks over two indices: verification and meaning.
#include "posenc/IR/Expansion.h"

#include "MaskSides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

bool MaskAttrInterface::allows(int64_t i, int64_t j, int64_t queryLen,
                               int64_t keyLen) {
  bool isShifted = getMaskAlignment().value_or(Alignment::bottom_right) ==
                   Alignment::bottom_right;
  return allowsPair(i + (isShifted ? keyLen - queryLen : 0), j);
}

//===----------------------------------------------------------------------===//
// What masks share
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions of maps over (q_begin, q_end, lq, lk), and row indices
/// aligned with keys.
struct Range {
  Range(MLIRContext *context, Alignment alignment) : context(context) {
    bindDims(context, qBegin, qEnd, lq, lk);
    if (alignment == Alignment::bottom_right) {
      qBegin = qBegin + lk - lq;
      qEnd = qEnd + lk - lq;
    }
  }
  /// A minimum or maximum over the results.
  AffineMap over(ArrayRef<AffineExpr> results) {
    return AffineMap::get(4, 0, results, context);
  }
  AffineExpr number(int64_t value) {
    return getAffineConstantExpr(value, context);
  }

  MLIRContext *context;
  AffineExpr qBegin, qEnd, lq, lk;
};
} // namespace

static Value applyMask(Expansion &expansion, Value score,
                       MaskAttrInterface mask, MaskBasis by) {
  SmallVector<Value> positions;
  if (by == MaskBasis::position)
    positions = getTwoSides(expansion, by, Alignment::bottom_right);
  return SelectOp::create(expansion.builder, expansion.loc,
                          ScoreType::get(mask.getContext()), score, Value(),
                          positions, ValueRange(), mask);
}

static Value buildNumber(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF64FloatAttr(value));
}
static Value buildCompare(OpBuilder &builder, Location loc,
                          arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}

//===----------------------------------------------------------------------===//
// Full
//===----------------------------------------------------------------------===//

bool FullMaskAttr::allowsPair(double, double) const { return true; }
AffineMap FullMaskAttr::getKeysBegin() const {
  return Range(getContext(), Alignment::top_left).over({});
}
AffineMap FullMaskAttr::getKeysEnd() const {
  Range range(getContext(), Alignment::top_left);
  return range.over(range.lk);
}
AffineMap FullMaskAttr::getInteriorBegin() const { return getKeysBegin(); }
AffineMap FullMaskAttr::getInteriorEnd() const { return getKeysEnd(); }
bool FullMaskAttr::showsFuture() const { return true; }
std::optional<Alignment> FullMaskAttr::getMaskAlignment() const {
  return std::nullopt;
}
std::optional<int64_t> FullMaskAttr::getReach() const { return std::nullopt; }
std::optional<Alignment> FullMaskAttr::getClauseAlignment() const {
  return std::nullopt;
}
Value FullMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyMask(expansion, score, *this, MaskBasis::index);
}
SmallVector<Value> FullMaskAttr::getPredicateInputs(Expansion &) const {
  return {};
}
unsigned FullMaskAttr::getNumPredicateInputs() const { return 0; }
Value FullMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                   ValueRange) const {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
}

//===----------------------------------------------------------------------===//
// Causal
//===----------------------------------------------------------------------===//

bool CausalMaskAttr::allowsPair(double a, double b) const { return b <= a; }
AffineMap CausalMaskAttr::getKeysBegin() const {
  return Range(getContext(), getAlignment()).over({});
}
AffineMap CausalMaskAttr::getKeysEnd() const {
  Range range(getContext(), getAlignment());
  return range.over({range.qEnd, range.lk});
}
AffineMap CausalMaskAttr::getInteriorBegin() const { return getKeysBegin(); }
AffineMap CausalMaskAttr::getInteriorEnd() const {
  Range range(getContext(), getAlignment());
  return range.over({range.qBegin + 1, range.lk});
}
bool CausalMaskAttr::showsFuture() const { return false; }
std::optional<Alignment> CausalMaskAttr::getMaskAlignment() const {
  return getAlignment();
}
std::optional<int64_t> CausalMaskAttr::getReach() const { return std::nullopt; }
std::optional<Alignment> CausalMaskAttr::getClauseAlignment() const {
  return getAlignment();
}
Value CausalMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyMask(expansion, score, *this, MaskBasis::index);
}
SmallVector<Value>
CausalMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return getTwoSides(expansion, MaskBasis::index, getAlignment());
}
Value CausalMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                     ValueRange inputs) const {
  return buildCompare(builder, loc, arith::CmpFPredicate::OLE, inputs[1],
                      inputs[0]);
}

//===----------------------------------------------------------------------===//
// Window
//===----------------------------------------------------------------------===//

LogicalResult
WindowMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t left, int64_t right, MaskBasis, Alignment) {
  // window_c1
  for (auto [name, bound] : {std::pair("left", left), {"right", right}})
    if (bound < -1 || bound > (int64_t{1} << 30))
      return emitError()
             << "expected '" << name
             << "' of #posenc.window to be from -1 to 2^30, but got " << bound;
  return success();
}
bool WindowMaskAttr::allowsPair(double a, double b) const {
  return (getLeft() < 0 || a - b <= getLeft()) &&
         (getRight() < 0 || b - a <= getRight());
}
AffineMap WindowMaskAttr::getKeysBegin() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position || getLeft() < 0)
    return range.over({});
  return range.over(range.qBegin - getLeft());
}
AffineMap WindowMaskAttr::getKeysEnd() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position || getRight() < 0)
    return range.over(range.lk);
  return range.over({range.qEnd + getRight(), range.lk});
}
AffineMap WindowMaskAttr::getInteriorBegin() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position || getLeft() < 0)
    return range.over({});
  return range.over(range.qEnd - 1 - getLeft());
}
AffineMap WindowMaskAttr::getInteriorEnd() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position)
    return range.over(range.number(0)); // positions come in any order
  if (getRight() < 0)
    return range.over(range.lk);
  return range.over({range.qBegin + getRight() + 1, range.lk});
}
bool WindowMaskAttr::showsFuture() const { return getRight() != 0; }
std::optional<Alignment> WindowMaskAttr::getMaskAlignment() const {
  return getBy() == MaskBasis::index ? std::optional(getAlign()) : std::nullopt;
}
std::optional<int64_t> WindowMaskAttr::getReach() const {
  if (getLeft() < 0 || getMaskAlignment() != Alignment::bottom_right)
    return std::nullopt;
  return getLeft();
}
std::optional<Alignment> WindowMaskAttr::getClauseAlignment() const {
  return getMaskAlignment();
}
Value WindowMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyMask(expansion, score, *this, getBy());
}
SmallVector<Value>
WindowMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return getTwoSides(expansion, getBy(), getAlign());
}
Value WindowMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                     ValueRange inputs) const {
  Value distance = arith::SubFOp::create(builder, loc, inputs[0], inputs[1]);
  Value allowed;
  auto bound = [&](arith::CmpFPredicate predicate, double limit) {
    Value fits = buildCompare(builder, loc, predicate, distance,
                              buildNumber(builder, loc, limit));
    allowed =
        allowed ? arith::AndIOp::create(builder, loc, allowed, fits).getResult()
                : fits;
  };
  if (getLeft() >= 0)
    bound(arith::CmpFPredicate::OLE, getLeft());
  if (getRight() >= 0)
    bound(arith::CmpFPredicate::OGE, -static_cast<double>(getRight()));
  if (!allowed)
    allowed =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return allowed;
}

//===----------------------------------------------------------------------===//
// Chunk
//===----------------------------------------------------------------------===//

LogicalResult
ChunkMaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t size, MaskBasis, Alignment) {
  // chunk_c1
  if (size < 1 || size > (int64_t{1} << 30))
    return emitError() << "expected 'size' of #posenc.chunk to be from 1 to "
                          "2^30, but got "
                       << size;
  return success();
}
bool ChunkMaskAttr::allowsPair(double a, double b) const {
  return b <= a && std::floor(a / getSize()) == std::floor(b / getSize());
}
AffineMap ChunkMaskAttr::getKeysBegin() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position)
    return range.over({});
  return range.over(range.qBegin.floorDiv(getSize()) * getSize());
}
AffineMap ChunkMaskAttr::getKeysEnd() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position)
    return range.over(range.lk);
  return range.over({range.qEnd, range.lk});
}
AffineMap ChunkMaskAttr::getInteriorBegin() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position)
    return range.over({});
  return range.over((range.qEnd - 1).floorDiv(getSize()) * getSize());
}
AffineMap ChunkMaskAttr::getInteriorEnd() const {
  Range range(getContext(), getAlign());
  if (getBy() == MaskBasis::position)
    return range.over(range.number(0)); // positions come in any order
  return range.over({range.qBegin + 1, range.lk});
}
bool ChunkMaskAttr::showsFuture() const { return false; }
std::optional<Alignment> ChunkMaskAttr::getMaskAlignment() const {
  return getBy() == MaskBasis::index ? std::optional(getAlign()) : std::nullopt;
}
std::optional<int64_t> ChunkMaskAttr::getReach() const {
  if (getMaskAlignment() != Alignment::bottom_right)
    return std::nullopt;
  return getSize() - 1;
}
std::optional<Alignment> ChunkMaskAttr::getClauseAlignment() const {
  return getMaskAlignment();
}
Value ChunkMaskAttr::expandMask(Expansion &expansion, Value score) const {
  return applyMask(expansion, score, *this, getBy());
}
SmallVector<Value>
ChunkMaskAttr::getPredicateInputs(Expansion &expansion) const {
  return getTwoSides(expansion, getBy(), getAlign());
}
Value ChunkMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                    ValueRange inputs) const {
  Value size = buildNumber(builder, loc, getSize());
  auto chunk = [&](Value index) -> Value {
    Value quotient = arith::DivFOp::create(builder, loc, index, size);
    return math::FloorOp::create(builder, loc, quotient);
  };
  Value query = chunk(inputs[0]), key = chunk(inputs[1]);
  Value same =
      buildCompare(builder, loc, arith::CmpFPredicate::OEQ, query, key);
  Value past = buildCompare(builder, loc, arith::CmpFPredicate::OLE, inputs[1],
                            inputs[0]);
  return arith::AndIOp::create(builder, loc, same, past);
}
