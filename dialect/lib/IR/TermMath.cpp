// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encodings of scores share.
#include "TermMath.h"

#include "llvm/ADT/APInt.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Logarithmic buckets
//===----------------------------------------------------------------------===//

/// In double precision unless the two sides of
///   n^c exact^x >= maxDistance^x exact^c
/// are too close, then in integers: exact powers sit on the border (n = 16, 32,
/// 64 for T5's 32 buckets).
bool posenc::hasReachedStep(int64_t n, int64_t x, int64_t exact, int64_t c,
                            int64_t maxDistance, bool strict) {
  double position =
      std::log(double(n) / exact) / std::log(double(maxDistance) / exact) * c;
  if (std::abs(position - x) > 1e-6)
    return position >= x;
  auto bits = [](int64_t v) { return llvm::Log2_64_Ceil(v + 1); };
  unsigned width =
      (bits(n) + bits(exact) + bits(maxDistance)) * std::max(c, x) + 1;
  auto power = [&](int64_t v, int64_t exponent) {
    APInt result(width, 1), factor(width, v);
    for (; exponent > 0; exponent >>= 1, factor *= factor)
      if (exponent & 1)
        result *= factor;
    return result;
  };
  APInt lhs = power(n, c) * power(exact, x);
  APInt rhs = power(maxDistance, x) * power(exact, c);
  return strict ? lhs.ugt(rhs) : lhs.uge(rhs);
}

SmallVector<int64_t> posenc::logBucketThresholds(int64_t buckets,
                                                 int64_t maxDistance) {
  int64_t exact = buckets / 2;
  SmallVector<int64_t> thresholds;
  for (int64_t bucket = 1; bucket <= exact; ++bucket)
    thresholds.push_back(bucket);
  for (int64_t bucket = exact + 1; bucket < buckets; ++bucket) {
    int64_t low = thresholds.back(), high = maxDistance;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (hasReachedStep(middle, bucket - exact, exact, buckets - exact,
                         maxDistance))
        high = middle;
      else
        low = middle + 1;
    }
    thresholds.push_back(low);
  }
  return thresholds;
}

static int64_t countPerSide(int64_t buckets, Direction direction) {
  return direction == Direction::bidirectional ? buckets / 2 : buckets;
}

int64_t posenc::getT5Reach(int64_t buckets, int64_t maxDistance,
                           Direction direction) {
  return logBucketThresholds(countPerSide(buckets, direction), maxDistance)
      .back();
}

Attribute posenc::getT5Buckets(MLIRContext *context, int64_t buckets,
                               int64_t maxDistance, Direction direction) {
  int64_t perSide = countPerSide(buckets, direction);
  return ThresholdBucketAttr::get(
      context,
      DenseI64ArrayAttr::get(context,
                             logBucketThresholds(perSide, maxDistance)),
      direction == Direction::bidirectional ? perSide : -1);
}

LogicalResult
posenc::verifyT5Buckets(function_ref<InFlightDiagnostic()> emitError,
                        StringRef mnemonic, int64_t buckets,
                        int64_t maxDistance, Direction direction) {
  bool both = direction == Direction::bidirectional;
  if (both && (buckets < 4 || buckets % 2 != 0))
    return emitError() << "expected 'buckets' of a bidirectional #posenc."
                       << mnemonic << " to be even and at least 4, but got "
                       << buckets;
  if (!both && buckets < 2)
    return emitError() << "expected 'buckets' of #posenc." << mnemonic
                       << " to be at least 2, but got " << buckets;
  if (buckets > 4096)
    return emitError() << "expected 'buckets' of #posenc." << mnemonic
                       << " to be at most 4096, but got " << buckets;
  int64_t exact = (both ? buckets / 2 : buckets) / 2;
  if (maxDistance <= exact || maxDistance > (int64_t{1} << 30))
    return emitError() << "expected 'max_distance' of #posenc." << mnemonic
                       << " to exceed the " << exact
                       << " distances with a bucket of their own and to be at "
                          "most 2^30, but got "
                       << maxDistance;
  return success();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult posenc::verifyRange(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef mnemonic, StringRef parameter,
                                  int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high)
    return success();
  return emitError() << "expected '" << parameter << "' of #posenc." << mnemonic
                     << " to be from " << low << " to " << high << ", but got "
                     << value;
}

LogicalResult
posenc::verifyPositive(function_ref<InFlightDiagnostic()> emitError,
                       StringRef mnemonic, StringRef parameter,
                       const APFloat &value) {
  if (value.isFinite() && !value.isNegative() && !value.isZero())
    return success();
  return emitError() << "expected '" << parameter << "' of #posenc." << mnemonic
                     << " to be positive and finite, but got "
                     << value.convertToDouble();
}

LogicalResult
posenc::verifyHidesFuture(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError,
                          StringRef mnemonic, StringRef reason) {
  if (!kernel.getMaskOrDefault().showsFuture())
    return success();
  return emitError() << "#posenc." << mnemonic
                     << " needs a mask that hides future keys, such as "
                        "mask(#posenc.causal): "
                     << reason;
}

SmallVector<std::string> posenc::getOperands(StringRef name,
                                             ArrayRef<StringRef> suffixes) {
  SmallVector<std::string> names;
  for (StringRef suffix : suffixes)
    names.push_back((name + "." + suffix).str());
  return names;
}

//===----------------------------------------------------------------------===//
// Pieces of expansions
//===----------------------------------------------------------------------===//

Value Sinusoids::build(Expansion &expansion) const {
  double half = channels / 2.0;
  double denominator = exponent == TermExponent::half ? half : half - 1;
  return expansion.tableMap(channels, [&](ArrayRef<Real> x) {
    const Real &channel = x[1];
    Real t = origin == 0 ? x[0] : x[0] - origin;
    bool pairs = layout == TermLayout::interleaved;
    // The number of the frequency, and 1 for a cosine.
    Real quotient = floor(channel / (pairs ? 2.0 : half));
    Real remainder = channel - quotient * (pairs ? 2.0 : half);
    const Real &k = pairs ? quotient : remainder;
    const Real &isCosine = pairs ? remainder : quotient;
    Real exponentOfBase = -(k / denominator);
    Real angle = t * pow(base, exponentOfBase);
    return select(isCosine == 1, cos(angle), sin(angle));
  });
}

LogicalResult
posenc::verifyModelDim(function_ref<InFlightDiagnostic()> emitError,
                       StringRef mnemonic, int64_t modelDim) {
  if (modelDim >= 0 && modelDim <= 65536 && modelDim % 2 == 0)
    return success();
  return emitError() << "expected 'model_dim' of #posenc." << mnemonic
                     << " to be even and from 2 to 65536, or 0 for all heads, "
                        "but got "
                     << modelDim;
}

Value posenc::projectSinusoids(Expansion &expansion, const Sinusoids &law,
                               StringRef operand) {
  Value sinusoids = law.build(expansion);
  Value weights = expansion.operand(
      operand, {TableAxis::row, TableAxis::head, TableAxis::channel},
      law.channels, expansion.kernel.getHeadDim());
  return ProjectOp::create(expansion.builder, expansion.loc, weights.getType(),
                           sinusoids, weights);
}

Value posenc::buildTableDot(Expansion &expansion, Value vector, Value table,
                            Value index, double factor) {
  return TableDotOp::create(expansion.builder, expansion.loc, vector, table,
                            index, APFloat(factor));
}

Value posenc::addVector(Expansion &expansion, Value vector, StringRef operand) {
  Value table =
      expansion.operand(operand, {TableAxis::head, TableAxis::channel}, 0,
                        expansion.kernel.getHeadDim());
  return VaddOp::create(expansion.builder, expansion.loc, vector.getType(),
                        vector, table, /*position=*/Value());
}

SmallVector<TableAxis> posenc::getPairAxes(TermSwitch batch) {
  SmallVector<TableAxis> axes{TableAxis::head, TableAxis::query,
                              TableAxis::key};
  if (batch == TermSwitch::on)
    axes.insert(axes.begin(), TableAxis::batch);
  return axes;
}

Value posenc::readPositions(Expansion &expansion, Side side, StringRef operand,
                            int64_t axes, int64_t axis) {
  Alignment alignment = expansion.kernel.getPositionsOrDefault().getAlignment();
  return expansion.position(
      side, PositionTensorAttr::get(expansion.getContext(), operand, axes, axis,
                                    alignment, /*queries=*/""));
}
