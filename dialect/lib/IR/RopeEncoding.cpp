// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rotary encoding, and what its variants share: checks and expansion.
#include "posenc/IR/Encodings.h"

#include "Rotation.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What rotations share
//===----------------------------------------------------------------------===//

LogicalResult posenc::verifyPositive(StringRef mnemonic, StringRef parameter,
                                     const APFloat &value,
                                     EmitError emitError) {
  if (value.isFinite() && !value.isNegative() && !value.isZero())
    return success();
  return emitError() << "expected '" << parameter << "' of #posenc." << mnemonic
                     << " to be positive and finite, but got "
                     << value.convertToDouble();
}

LogicalResult posenc::verifyRotatedChannels(StringRef mnemonic, int64_t dims,
                                            KernelOp kernel,
                                            EmitError emitError) {
  if (dims <= static_cast<int64_t>(kernel.getHeadDim()))
    return success();
  return emitError() << "expected 'dims' of #posenc." << mnemonic << " ("
                     << dims << ") to be at most the kernel's 'head_dim' ("
                     << kernel.getHeadDim() << ")";
}

LogicalResult posenc::verifyDims(StringRef mnemonic, int64_t dims, int64_t step,
                                 EmitError emitError) {
  if (dims >= 0 && dims % step == 0)
    return success();
  return emitError() << "expected 'dims' of #posenc." << mnemonic << " to be "
                     << (step == 2 ? "even" : "a multiple of 4")
                     << " and positive, or 0 for the whole head, but got "
                     << dims;
}

RopeAttr posenc::getInnerRope(RopeAttr rope, MLIRContext *context,
                              Pairing pairing) {
  if (rope)
    return rope;
  return RopeAttr::get(context, APFloat(1.0e4), pairing, /*dims=*/int64_t{0},
                       Placement::first, RopeExponent::dims,
                       RopeFrequencies::law, RopeScalingAttrInterface(),
                       APFloat(0.0), FactorSite::rotation, "rope");
}

RotatedChannels posenc::getRotatedChannels(RopeAttr rope, KernelOp kernel) {
  return {rope.getDims(), rope.getPlacement(),
          static_cast<int64_t>(kernel.getHeadDim())};
}

RotaryLaw posenc::getRotaryLaw(RopeAttr rope, int64_t headDim) {
  RotatedChannels channels(rope.getDims(), rope.getPlacement(), headDim);
  RotaryLaw law{rope.getBase().convertToDouble(), channels.count, headDim, {}};
  int64_t pairs = channels.getNumPairs();
  for (int64_t k = 0; k < pairs; ++k) {
    double exponent =
        rope.getExponent() == RopeExponent::dims ? -2.0 * k / channels.count
        : rope.getExponent() == RopeExponent::head_dim ? -2.0 * k / headDim
                                                       : -1.0 * k / (pairs - 1);
    law.frequencies.push_back(std::pow(law.base, exponent));
  }
  return law;
}

AttentionFactors posenc::getAttentionFactors(RopeAttr rope) {
  if (!rope.getAttentionFactor().isZero()) {
    double m = rope.getAttentionFactor().convertToDouble();
    return rope.getFactorSite() == FactorSite::rotation
               ? AttentionFactors{m, 1}
               : AttentionFactors{1, m * m};
  }
  if (RopeScalingAttrInterface scaling = rope.getScaling())
    return scaling.getAttentionFactors(rope.getFactorSite());
  return {};
}

int64_t posenc::countPositionAxes(KernelOp kernel) {
  auto tensor = dyn_cast<PositionTensorAttr>(kernel.getPositionsOrDefault());
  return tensor ? tensor.getAxes() : 1;
}

Value posenc::getPositionAxis(Expansion &expansion, Side side, int64_t axis) {
  auto tensor =
      cast<PositionTensorAttr>(expansion.kernel.getPositionsOrDefault());
  return expansion.position(
      side, PositionTensorAttr::get(tensor.getContext(), tensor.getName(),
                                    tensor.getAxes(), axis, tensor.getAlign(),
                                    tensor.getQueries()));
}

Value posenc::readFrequencies(Expansion &expansion, StringRef operand,
                              ArrayRef<TableAxis> axes, int64_t pairs) {
  Value table = expansion.operand(operand, axes, pairs);
  return expansion.create<FreqsMapOp>(
      3, [](ArrayRef<Real> x) { return x[2]; },
      FreqsType::get(expansion.getContext()), table, pairs);
}

/// The frequencies of a #posenc.rope.
static Value buildFrequencies(Expansion &expansion, RopeAttr rope) {
  RotaryLaw law = getRotaryLaw(rope, expansion.kernel.getHeadDim());
  switch (rope.getFrequencies()) {
  case RopeFrequencies::operand:
    return readFrequencies(expansion, rope.getOperandNames().front(),
                           {TableAxis::row}, law.frequencies.size());
  case RopeFrequencies::per_head:
    return readFrequencies(expansion, rope.getOperandNames().front(),
                           {TableAxis::head, TableAxis::row},
                           law.frequencies.size());
  case RopeFrequencies::law:
    break;
  }
  if (RopeScalingAttrInterface scaling = rope.getScaling())
    return scaling.buildFrequencies(expansion, law);
  if (rope.getExponent() != RopeExponent::dims)
    return expansion.freqs(law.frequencies);
  return FreqsOp::create(
      expansion.builder, expansion.loc,
      GeometricAttr::get(expansion.getContext(), rope.getBase(), law.dims));
}

/// The same, those of pairs that `keep` refuses put to 0. Every law multiplies
/// a frequency by something, so that 0 stays 0.
static Value buildSomeFrequencies(Expansion &expansion, RopeAttr rope,
                                  function_ref<bool(int64_t pair)> keep) {
  RotaryLaw law = getRotaryLaw(rope, expansion.kernel.getHeadDim());
  if (rope.getFrequencies() == RopeFrequencies::law) {
    for (auto [k, value] : llvm::enumerate(law.frequencies))
      if (!keep(k))
        value = 0;
    RopeScalingAttrInterface scaling = rope.getScaling();
    return scaling ? scaling.buildFrequencies(expansion, law)
                   : expansion.freqs(law.frequencies);
  }
  assert(rope.getFrequencies() == RopeFrequencies::operand);
  int64_t pairs = law.frequencies.size();
  SmallVector<double> kept;
  for (int64_t k = 0; k < pairs; ++k)
    kept.push_back(keep(k));
  Value table = expansion.operand(rope.getOperandNames().front(),
                                  {TableAxis::row}, pairs);
  Value ones = expansion.constants(kept, {TableAxis::row});
  return expansion.create<FreqsMapOp>(
      4, [](ArrayRef<Real> x) { return x[2] * x[3]; },
      FreqsType::get(expansion.getContext()), ValueRange{table, ones}, pairs);
}

Rotation::Rotation(Expansion &expansion, RopeAttr rope)
    : expansion(expansion), rope(rope),
      channels(getRotatedChannels(rope, expansion.kernel)),
      factor(::getAttentionFactors(rope).rotation) {
  freqs.push_back(buildFrequencies(expansion, rope));
  if (RopeScalingAttrInterface scaling = rope.getScaling())
    prefix = scaling.getUnscaledPrefix();
  if (prefix > 0)
    freqs.insert(
        freqs.begin(),
        expansion.freqs(
            getRotaryLaw(rope, expansion.kernel.getHeadDim()).frequencies));
}

Rotation::Rotation(Expansion &expansion, RopeAttr rope, int64_t axes,
                   AxisOfPair axisOfPair)
    : expansion(expansion), rope(rope),
      channels(getRotatedChannels(rope, expansion.kernel)),
      factor(::getAttentionFactors(rope).rotation) {
  for (int64_t axis = 0; axis < axes; ++axis)
    freqs.push_back(buildSomeFrequencies(
        expansion, rope, [&](int64_t k) { return axisOfPair(k) == axis; }));
}

Value Rotation::apply(Value vector, ValueRange positions,
                      const Modulus &modulus) {
  SmallVector<Value> coords(positions);
  if (prefix > 0) {
    // Each position is one of two, and the other is 0.
    Value first = expansion.remap(positions[0], [&](ArrayRef<Real> p) {
      return select(p[0] < prefix, p[0], 0);
    });
    Value rest = expansion.remap(positions[0], [&](ArrayRef<Real> p) {
      return select(p[0] < prefix, 0, p[0]);
    });
    coords = {first, rest};
  }
  auto op = RotateOp::create(expansion.builder, expansion.loc, vector.getType(),
                             vector, coords, freqs, /*mix=*/ValueRange(),
                             rope.getPairing(), channels.first);
  if (!modulus && factor == 1)
    return op;
  expansion.fillRegion(op.getModulus(), 2, [&](ArrayRef<Real> x) {
    if (!modulus)
      return Real(factor);
    Real length = modulus(x[0], x[1]);
    return factor == 1 ? length : length * factor;
  });
  return op;
}

void posenc::rotateBoth(Expansion &expansion,
                        function_ref<Value(Value vector, Side side)> rotate) {
  expansion.transformQueries(
      [&](Value query) { return rotate(query, Side::query); });
  expansion.transformKeys([&](Value key) { return rotate(key, Side::key); });
}

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat base, Pairing, int64_t dims, Placement,
                               RopeExponent exponent,
                               RopeFrequencies frequencies,
                               RopeScalingAttrInterface scaling,
                               APFloat attentionFactor, FactorSite, StringRef) {
  // rope_c1
  if (failed(verifyPositive(getMnemonic(), "base", base, emitError)))
    return failure();
  // rope_c2
  if (failed(verifyDims(getMnemonic(), dims, 2, emitError)))
    return failure();
  // rope_c4
  if (!attentionFactor.isFinite() ||
      (attentionFactor.isNegative() && !attentionFactor.isZero()))
    return emitError() << "expected 'attention_factor' of #posenc.rope to be "
                          "finite and not negative, but got "
                       << attentionFactor.convertToDouble();
  // rope_c9
  if (scaling && !scaling.isFactorKnown() && attentionFactor.isZero())
    return emitError() << "expected 'attention_factor' of #posenc.rope beside "
                       << scaling
                       << ", whose own factor grows with the length of the "
                          "call: state that of the longest call, or 1.0 for "
                          "none";
  // rope_c5
  if (frequencies != RopeFrequencies::law &&
      (scaling || exponent != RopeExponent::dims ||
       base.convertToDouble() != 1.0e4))
    return emitError() << "expected no 'base', 'exponent' or 'scaling' of "
                          "#posenc.rope beside frequencies that the caller "
                          "passes in: they say everything";
  return success();
}

StringRef RopeAttr::getEncodingName() const { return getName(); }

SmallVector<std::string> RopeAttr::getOperandNames() const {
  switch (getFrequencies()) {
  case RopeFrequencies::law:
    return {};
  case RopeFrequencies::operand:
    return {(getName() + ".inv_freq").str()};
  case RopeFrequencies::per_head:
    return {(getName() + ".frequencies").str()};
  }
  llvm_unreachable("a source of frequencies");
}

/// The rotation inside an encoding, with its default if it states none.
static RopeAttr findRope(Attribute encoding) {
  MLIRContext *context = encoding.getContext();
  return llvm::TypeSwitch<Attribute, RopeAttr>(encoding)
      .Case([](RopeAttr rope) { return rope; })
      .Case([&](XposAttr xpos) {
        return getInnerRope(xpos.getRope(), context, Pairing::interleaved);
      })
      .Case<MropeAttr, ReRopeAttr, LeakyReRopeAttr, SelfExtendAttr>(
          [&](auto variant) {
            return getInnerRope(variant.getRope(), context);
          })
      .Default(RopeAttr());
}

/// rope_c7
static LogicalResult verifySamePairs(RopeAttr rope, KernelOp kernel,
                                     EmitError emitError) {
  RotatedChannels own = getRotatedChannels(rope, kernel);
  for (Attribute entry : kernel.getEncodeAttr()) {
    RopeAttr other = findRope(entry);
    if (!other)
      continue;
    RotatedChannels channels = getRotatedChannels(other, kernel);
    bool isApart = own.first >= channels.first + channels.count ||
                   channels.first >= own.first + own.count;
    bool isPairedAlike =
        rope.getPairing() == other.getPairing() &&
        (rope.getPairing() == Pairing::interleaved ||
         (own.first == channels.first && own.count == channels.count));
    if (!isApart && !isPairedAlike)
      return emitError() << "expects rotations of the same channels to have "
                            "the same pairs, but those of "
                         << rope << " and " << other
                         << " differ: one would turn pairs that the other has "
                            "mixed";
  }
  return success();
}

/// rope_c8
static LogicalResult verifyFactorSite(RopeAttr rope, KernelOp kernel,
                                      EmitError emitError) {
  if (rope.getFactorSite() == FactorSite::rotation ||
      !rope.getAttentionFactor().isZero() || !rope.getScaling() ||
      getRotatedChannels(rope, kernel).count ==
          static_cast<int64_t>(kernel.getHeadDim()) ||
      rope.getScaling().isFactorOfAll())
    return success();
  return emitError() << "expects a factor of all channels with 'factor_site = "
                        "scale' of #posenc.rope, which turns a part of the "
                        "head: the factor of "
                     << rope.getScaling()
                     << " is one of rotated channels; state 'attention_factor' "
                        "or 'factor_site = rotation'";
}

LogicalResult
RopeAttr::verifyInKernel(KernelOp &kernel,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // rope_c3
  if (failed(
          verifyRotatedChannels(getMnemonic(), getDims(), kernel, emitError)))
    return failure();
  RotatedChannels channels = getRotatedChannels(*this, kernel);
  // rope_c6
  if (getExponent() == RopeExponent::linspace && channels.getNumPairs() < 2)
    return emitError() << "expects more than one rotated pair with 'exponent = "
                          "linspace' of #posenc.rope, which divides by n - 1";
  if (failed(verifySamePairs(*this, kernel, emitError)) ||
      failed(verifyFactorSite(*this, kernel, emitError)))
    return failure();
  RopeScalingAttrInterface scaling = getScaling();
  return scaling ? scaling.verifyScaling(
                       getRotaryLaw(*this, kernel.getHeadDim()), emitError)
                 : success();
}

std::optional<double> RopeAttr::getFixedScale(KernelOp &kernel) const {
  double factor = ::getAttentionFactors(*this).scale;
  if (factor == 1)
    return std::nullopt;
  return factor / std::sqrt(static_cast<double>(kernel.getHeadDim()));
}

/// The first distance below `context` at which a key that equals the query
/// scores below average: sum_k cos(m w_k) < 0.
static std::optional<int64_t> findBlindDistance(ArrayRef<double> frequencies,
                                                int64_t context) {
  context = std::min(context, int64_t{1} << 20); // a second's work
  for (int64_t m = 1; m < context; ++m) {
    double sum = 0;
    for (double w : frequencies)
      sum += std::cos(m * w);
    if (sum < 0)
      return m;
  }
  return std::nullopt;
}

void RopeAttr::advise(KernelOp &kernel, int64_t context,
                      function_ref<void(const Twine &)> warn) const {
  RopeScalingAttrInterface scaling = getScaling();
  if (getFrequencies() != RopeFrequencies::law ||
      (scaling && !scaling.isKnown()))
    return;
  RotaryLaw law = getRotaryLaw(*this, kernel.getHeadDim());
  std::optional<int64_t> distance = findBlindDistance(
      scaling ? scaling.scaleFrequencies(law) : law.frequencies, context);
  if (!distance)
    return;
  std::string base;
  llvm::raw_string_ostream(base) << llvm::format("%g", law.base);
  warn("with the base " + base +
       " of #posenc.rope a key that equals the query scores below average at "
       "the distance " +
       Twine(*distance) + " already, but the context has " + Twine(context) +
       " tokens: a greater base or a scaling reaches farther (arXiv "
       "2405.14591)");
}

void RopeAttr::expand(Expansion &expansion) const {
  Rotation rotation(expansion, *this);
  rotateBoth(expansion, [&](Value vector, Side side) {
    return rotation.apply(vector, expansion.position(side));
  });
}
