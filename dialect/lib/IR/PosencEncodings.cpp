// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named encodings: the checks against their kernel and their expansion.
#include "posenc/IR/Posenc.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What encodings build with
//===----------------------------------------------------------------------===//

Value Expansion::position(Side side) {
  Value &value = positions[static_cast<size_t>(side)];
  if (!value)
    value =
        PositionOp::create(builder, loc, side, kernel.getPositionsOrDefault());
  return value;
}

Value Expansion::relation(Attribute law) {
  // Named, since the order in which arguments are evaluated is not fixed.
  Value query = position(Side::query), key = position(Side::key);
  return RelationOp::create(builder, loc, query, key,
                            cast<RelationLawAttrInterface>(law));
}

void Expansion::addBias(ValueRange inputs,
                        function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto bias = BiasOp::create(builder, loc, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&bias.getBody());
  for (size_t i = 0; i < inputs.size(); ++i)
    block->addArgument(builder.getF64Type(), loc);
  Value result = body(builder, block->getArguments());
  YieldOp::create(builder, loc, result);
  terms.push_back(bias);
}

/// A bias that is a table looked up by a relation.
static void addLookup(Expansion &expansion, Attribute relationLaw,
                      StringRef operand, int64_t rows) {
  MLIRContext *context = expansion.builder.getContext();
  TableAxis axes[] = {TableAxis::row, TableAxis::head};
  Value table = TableOp::create(expansion.builder, expansion.loc,
                                TableType::get(context, axes),
                                OperandAttr::get(context, operand, rows));
  expansion.addBias(
      {expansion.relation(relationLaw), table},
      [](OpBuilder &, ValueRange arguments) { return arguments[1]; });
}

//===----------------------------------------------------------------------===//
// Nope
//===----------------------------------------------------------------------===//

StringRef NopeAttr::getEncodingName() const { return getMnemonic(); }
LogicalResult
NopeAttr::verifyInKernel(KernelOp &, function_ref<InFlightDiagnostic()>) const {
  return success();
}
void NopeAttr::expand(Expansion &) const {}

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat base, Pairing, int64_t dims, Placement,
                               StringRef) {
  // rope_c1
  if (!base.isFinite() || base.isNegative() || base.isZero())
    return emitError() << "expected 'base' of #posenc.rope to be positive and "
                          "finite, but got "
                       << base.convertToDouble();
  // rope_c2
  if (dims < 0 || dims % 2 != 0)
    return emitError() << "expected 'dims' of #posenc.rope to be even and "
                          "positive, or 0 for the whole head, but got "
                       << dims;
  return success();
}

StringRef RopeAttr::getEncodingName() const { return getName(); }

LogicalResult
RopeAttr::verifyInKernel(KernelOp &kernel,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // rope_c3
  if (getDims() > static_cast<int64_t>(kernel.getHeadDim()))
    return emitError() << "expected 'dims' of #posenc.rope (" << getDims()
                       << ") to be at most the kernel's 'head_dim' ("
                       << kernel.getHeadDim() << ")";
  return success();
}

void RopeAttr::expand(Expansion &expansion) const {
  OpBuilder &builder = expansion.builder;
  int64_t headDim = expansion.kernel.getHeadDim();
  int64_t dims = getDims() == 0 ? headDim : getDims();
  int64_t firstDim = getPlacement() == Placement::first ? 0 : headDim - dims;
  Value freqs = FreqsOp::create(
      builder, expansion.loc,
      GeometricAttr::get(builder.getContext(), getBase(), dims));
  auto rotate = [&](Value input, Side side) -> Value {
    return RotateOp::create(builder, expansion.loc, input.getType(), input,
                            expansion.position(side), freqs, getPairing(),
                            firstDim);
  };
  expansion.query = rotate(expansion.query, Side::query);
  expansion.key = rotate(expansion.key, Side::key);
}

//===----------------------------------------------------------------------===//
// Alibi
//===----------------------------------------------------------------------===//

/// The slopes of ALiBi for any head count, as the authors' code orders them.
static SmallVector<double> geometricSlopes(int64_t heads, double maxExponent) {
  int64_t power = llvm::bit_floor(static_cast<uint64_t>(heads));
  SmallVector<double> slopes;
  for (int64_t h = 0; h < power; ++h)
    slopes.push_back(std::exp2(-maxExponent * (h + 1) / power));
  for (int64_t h = 0; h < heads - power; ++h)
    slopes.push_back(std::exp2(-maxExponent * (2 * h + 1) / (2 * power)));
  return slopes;
}

LogicalResult AlibiAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                BiasForm, APFloat maxExponent, StringRef) {
  // alibi_c1
  if (!maxExponent.isFinite() || maxExponent.isNegative() ||
      maxExponent.isZero())
    return emitError() << "expected 'max_exponent' of #posenc.alibi to be "
                          "positive and finite, but got "
                       << maxExponent.convertToDouble();
  return success();
}

StringRef AlibiAttr::getEncodingName() const { return getName(); }

LogicalResult
AlibiAttr::verifyInKernel(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  // alibi_c2
  if (getForm() == BiasForm::causal && kernel.getMaskOrDefault().showsFuture())
    return emitError()
           << "#posenc.alibi with 'form = causal' would reward future keys, "
              "which this mask shows: state 'form = symmetric' or "
              "mask(#posenc.causal)";
  return success();
}

void AlibiAttr::expand(Expansion &expansion) const {
  OpBuilder &builder = expansion.builder;
  MLIRContext *context = builder.getContext();
  SmallVector<double> slopes = geometricSlopes(
      expansion.kernel.getHeads(), getMaxExponent().convertToDouble());
  Value table = TableOp::create(
      builder, expansion.loc, TableType::get(context, {TableAxis::head}),
      ConstantsAttr::get(context, DenseF64ArrayAttr::get(context, slopes)));
  Value distance = expansion.relation(
      DifferenceAttr::get(context, Orientation::query_minus_key));
  bool symmetric = getForm() == BiasForm::symmetric;
  expansion.addBias({distance, table}, [&](OpBuilder &b, ValueRange arguments) {
    Value d = arguments[0];
    if (symmetric)
      d = math::AbsFOp::create(b, expansion.loc, d);
    Value product = arith::MulFOp::create(b, expansion.loc, d, arguments[1]);
    return arith::NegFOp::create(b, expansion.loc, product).getResult();
  });
}

//===----------------------------------------------------------------------===//
// T5Bias
//===----------------------------------------------------------------------===//

/// Whether distance n has reached bucket `exact + x` of a log law, that is
///   ln(n / exact) / ln(maxDistance / exact) * (buckets - exact) >= x
///   <=>  n^c * exact^x >= maxDistance^x * exact^c,  c = buckets - exact.
/// Decided in double precision unless the two sides are too close, then in
/// integers: exact powers sit on the border (n = 16, 32, 64 for 32 buckets).
static bool hasReached(int64_t n, int64_t x, int64_t exact, int64_t c,
                       int64_t maxDistance) {
  double position =
      std::log(double(n) / exact) / std::log(double(maxDistance) / exact) * c;
  if (std::abs(position - x) > 1e-6)
    return position >= x;
  auto bits = [](int64_t v) { return llvm::Log2_64_Ceil(v + 1); };
  unsigned width = (bits(n) + bits(exact) + bits(maxDistance)) * c + 1;
  auto power = [&](int64_t v, int64_t exponent) {
    APInt result(width, 1), factor(width, v);
    for (; exponent > 0; exponent >>= 1, factor *= factor)
      if (exponent & 1)
        result *= factor;
    return result;
  };
  return (power(n, c) * power(exact, x))
      .uge(power(maxDistance, x) * power(exact, c));
}

/// Distances at which the buckets 1 .. buckets-1 of one direction start:
/// bucket b holds the distances n with thresholds[b-1] <= n < thresholds[b].
/// The law of Mesh TensorFlow's _relative_position_bucket in exact arithmetic.
static SmallVector<int64_t> logBucketThresholds(int64_t buckets,
                                                int64_t maxDistance) {
  int64_t exact = buckets / 2;
  SmallVector<int64_t> thresholds;
  for (int64_t bucket = 1; bucket <= exact; ++bucket)
    thresholds.push_back(bucket);
  for (int64_t bucket = exact + 1; bucket < buckets; ++bucket) {
    int64_t low = thresholds.back(), high = maxDistance;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (hasReached(middle, bucket - exact, exact, buckets - exact,
                     maxDistance))
        high = middle;
      else
        low = middle + 1;
    }
    thresholds.push_back(low);
  }
  return thresholds;
}

LogicalResult T5BiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t buckets, int64_t maxDistance,
                                 Direction direction, StringRef) {
  // t5_bias_c1
  bool both = direction == Direction::bidirectional;
  if (both && (buckets < 4 || buckets % 2 != 0))
    return emitError() << "expected 'buckets' of a bidirectional "
                          "#posenc.t5_bias to be even and at least 4, but got "
                       << buckets;
  if (!both && buckets < 2)
    return emitError() << "expected 'buckets' of #posenc.t5_bias to be at "
                          "least 2, but got "
                       << buckets;
  if (buckets > 4096)
    return emitError() << "expected 'buckets' of #posenc.t5_bias to be at most "
                          "4096, but got "
                       << buckets;
  // t5_bias_c2
  int64_t exact = (both ? buckets / 2 : buckets) / 2;
  if (maxDistance <= exact || maxDistance > (int64_t{1} << 30))
    return emitError() << "expected 'max_distance' of #posenc.t5_bias to "
                          "exceed the "
                       << exact
                       << " distances with a bucket of their own and to be at "
                          "most 2^30, but got "
                       << maxDistance;
  return success();
}

StringRef T5BiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> T5BiasAttr::getOperandNames() const {
  return {(getName() + ".table").str()};
}
LogicalResult
T5BiasAttr::verifyInKernel(KernelOp &,
                           function_ref<InFlightDiagnostic()>) const {
  return success();
}

void T5BiasAttr::expand(Expansion &expansion) const {
  MLIRContext *context = expansion.builder.getContext();
  bool both = getDirection() == Direction::bidirectional;
  int64_t perSide = both ? getBuckets() / 2 : getBuckets();
  auto law = ThresholdBucketAttr::get(
      context,
      DenseI64ArrayAttr::get(context,
                             logBucketThresholds(perSide, getMaxDistance())),
      both ? perSide : -1);
  addLookup(expansion, law, getOperandNames().front(), getBuckets());
}

//===----------------------------------------------------------------------===//
// ToeplitzBias
//===----------------------------------------------------------------------===//

LogicalResult
ToeplitzBiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t maxDistance, Orientation, StringRef) {
  // toeplitz_bias_c1
  if (maxDistance < 0 || maxDistance > (int64_t{1} << 24))
    return emitError() << "expected 'max_distance' of #posenc.toeplitz_bias to "
                          "be between 0 and 2^24, but got "
                       << maxDistance;
  return success();
}

StringRef ToeplitzBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ToeplitzBiasAttr::getOperandNames() const {
  return {(getName() + ".table").str()};
}
LogicalResult
ToeplitzBiasAttr::verifyInKernel(KernelOp &,
                                 function_ref<InFlightDiagnostic()>) const {
  return success();
}

void ToeplitzBiasAttr::expand(Expansion &expansion) const {
  auto law = ClippedDistanceAttr::get(expansion.builder.getContext(),
                                      getOrientation(), getMaxDistance());
  addLookup(expansion, law, getOperandNames().front(),
            2 * getMaxDistance() + 1);
}

//===----------------------------------------------------------------------===//
// DenseBias
//===----------------------------------------------------------------------===//

StringRef DenseBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> DenseBiasAttr::getOperandNames() const {
  return {getName().str()};
}
LogicalResult
DenseBiasAttr::verifyInKernel(KernelOp &,
                              function_ref<InFlightDiagnostic()>) const {
  return success();
}

void DenseBiasAttr::expand(Expansion &expansion) const {
  MLIRContext *context = expansion.builder.getContext();
  TableAxis axes[] = {TableAxis::head, TableAxis::query, TableAxis::key};
  Value table = TableOp::create(expansion.builder, expansion.loc,
                                TableType::get(context, axes),
                                OperandAttr::get(context, getName(), 0));
  expansion.addBias(
      {table}, [](OpBuilder &, ValueRange arguments) { return arguments[0]; });
}
