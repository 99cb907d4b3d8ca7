// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that rotate queries and keys: checks and expansions.
#include "posenc/IR/Encodings.h"

#include "Presets.h"
#include "RegionMath.h"
#include "Rotation.h"

#include "mlir/IR/IRMapping.h"
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

/// What is checked of `dims` alone.
static LogicalResult verifyDims(StringRef mnemonic, int64_t dims, int64_t step,
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
                                    tensor.getAxes(), axis, tensor.getAlign()));
}

/// The frequencies of a #posenc.rope.
static Value buildFrequencies(Expansion &expansion, RopeAttr rope) {
  int64_t headDim = expansion.kernel.getHeadDim();
  RotatedChannels channels = getRotatedChannels(rope, expansion.kernel);
  int64_t pairs = channels.getNumPairs();
  if (rope.getFrequencies() != RopeFrequencies::law) {
    SmallVector<TableAxis> axes{TableAxis::row};
    if (rope.getFrequencies() == RopeFrequencies::per_head)
      axes = {TableAxis::head, TableAxis::row};
    Value table =
        expansion.operand(rope.getOperandNames().front(), axes, pairs);
    auto op = FreqsMapOp::create(expansion.builder, expansion.loc,
                                 FreqsType::get(expansion.getContext()), table,
                                 pairs);
    expansion.fillRegion(
        op.getBody(), 3,
        [](OpBuilder &, ValueRange arguments) { return arguments[2]; });
    return op;
  }
  if (RopeScalingAttrInterface scaling = rope.getScaling())
    return scaling.buildFrequencies(expansion, getRotaryLaw(rope, headDim));
  if (rope.getExponent() != RopeExponent::dims)
    return expansion.freqs(getRotaryLaw(rope, headDim).frequencies);
  return FreqsOp::create(expansion.builder, expansion.loc,
                         GeometricAttr::get(expansion.getContext(),
                                            rope.getBase(), channels.count));
}

Rotation::Rotation(Expansion &expansion, RopeAttr rope)
    : expansion(expansion), rope(rope),
      channels(getRotatedChannels(rope, expansion.kernel)),
      freqs(buildFrequencies(expansion, rope)),
      factor(::getAttentionFactors(rope).rotation) {
  if (RopeScalingAttrInterface scaling = rope.getScaling())
    prefix = scaling.getUnscaledPrefix();
  if (prefix > 0)
    plain = expansion.freqs(
        getRotaryLaw(rope, expansion.kernel.getHeadDim()).frequencies);
}

Value Rotation::apply(Value vector, Value position, const Modulus &modulus) {
  if (prefix == 0)
    return apply(vector, ValueRange(position), freqs, modulus);
  // Each position is one of two, and the other is 0.
  auto keep = [&](bool first) {
    return expansion.remap(position, [&](OpBuilder &builder, ValueRange p) {
      RegionMath m(builder, expansion.loc);
      Value isFirst = m.less(p[0], m.number(prefix)), zero = m.number(0);
      return first ? m.select(isFirst, p[0], zero)
                   : m.select(isFirst, zero, p[0]);
    });
  };
  Value first = keep(true), rest = keep(false);
  return apply(vector, {first, rest}, {plain, freqs}, modulus);
}

Value Rotation::apply(Value vector, ValueRange positions, ValueRange freqs,
                      const Modulus &modulus) {
  auto op = RotateOp::create(expansion.builder, expansion.loc, vector.getType(),
                             vector, positions, freqs, /*mix=*/ValueRange(),
                             rope.getPairing(), channels.first);
  if (!modulus && factor == 1)
    return op;
  expansion.fillRegion(
      op.getModulus(), 2, [&](OpBuilder &builder, ValueRange arguments) {
        RegionMath m(builder, expansion.loc);
        Value length;
        if (modulus)
          length = modulus(builder, arguments[0], arguments[1]);
        if (factor == 1)
          return length;
        Value constant = m.number(factor);
        return length ? m.mul(length, constant) : constant;
      });
  return op;
}

/// Rotates queries and keys of every branch.
static void rotateBoth(Expansion &expansion,
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

//===----------------------------------------------------------------------===//
// Xpos
//===----------------------------------------------------------------------===//

LogicalResult XposAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat scaleBase, APFloat gamma, APFloat centre,
                               XposLaw law, RopeAttr, StringRef) {
  // xpos_c1
  if (failed(
          verifyPositive(getMnemonic(), "scale_base", scaleBase, emitError)) ||
      failed(verifyPositive(getMnemonic(), "gamma", gamma, emitError)))
    return failure();
  if (!centre.isFinite())
    return emitError() << "expected 'centre' of #posenc.xpos to be finite, but "
                          "got "
                       << centre.convertToDouble();
  // xpos_c2
  if (law == XposLaw::paper && scaleBase.convertToDouble() != 512)
    return emitError() << "expected no 'scale_base' of #posenc.xpos with 'law "
                          "= paper', whose exponent is the position itself";
  return success();
}

StringRef XposAttr::getEncodingName() const { return getName(); }
static RopeAttr getRope(XposAttr xpos) {
  return getInnerRope(xpos.getRope(), xpos.getContext(), Pairing::interleaved);
}
SmallVector<std::string> XposAttr::getOperandNames() const {
  return ::getRope(*this).getOperandNames();
}
std::optional<double> XposAttr::getFixedScale(KernelOp &kernel) const {
  return ::getRope(*this).getFixedScale(kernel);
}

/// A rotation that reads positions in one piece.
static LogicalResult verifyNoPrefix(StringRef mnemonic, RopeAttr rope,
                                    EmitError emitError) {
  if (rope.getScaling() && rope.getScaling().getUnscaledPrefix() > 0)
    return emitError() << "expects #posenc." << mnemonic
                       << " to scale every position, but its 'scaling' keeps "
                          "the first ones";
  return success();
}

LogicalResult
XposAttr::verifyInKernel(KernelOp &kernel,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // xpos_c3
  if (kernel.getMaskOrDefault().showsFuture())
    return emitError() << "expects a mask that hides future keys with "
                          "#posenc.xpos, whose factor grows with their "
                          "distance: state mask(#posenc.causal)";
  RopeAttr rope = ::getRope(*this);
  if (failed(verifyNoPrefix(getMnemonic(), rope, emitError)))
    return failure();
  return rope.verifyInKernel(kernel, emitError);
}

void XposAttr::expand(Expansion &expansion) const {
  RopeAttr rope = ::getRope(*this);
  Rotation rotation(expansion, rope);
  double gamma = getGamma().convertToDouble();
  double base =
      getLaw() == XposLaw::paper ? 1 : getScaleBase().convertToDouble();
  int64_t dims = getRotatedChannels(rope, expansion.kernel).count;
  rotateBoth(expansion, [&](Value vector, Side side) {
    double sign = side == Side::query ? 1 : -1;
    return rotation.apply(
        vector, expansion.position(side),
        [&](OpBuilder &builder, Value pair, Value position) {
          RegionMath m(builder, expansion.loc);
          Value slope = m.mul(pair, m.number(2.0 / dims / (1 + gamma)));
          Value zeta = m.add(slope, m.number(gamma / (1 + gamma)));
          Value distance =
              m.sub(position, m.number(getCentre().convertToDouble()));
          return m.pow(zeta, m.mul(distance, m.number(sign / base)));
        });
  });
}

//===----------------------------------------------------------------------===//
// Mrope
//===----------------------------------------------------------------------===//

LogicalResult MropeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                DenseI64ArrayAttr sections, MropeLayout,
                                RopeAttr rope, StringRef) {
  // mrope_c1
  if (sections.size() != 3 ||
      llvm::any_of(sections.asArrayRef(), [](int64_t n) { return n < 0; }))
    return emitError() << "expected 'sections' of #posenc.mrope to be three "
                          "numbers that are not negative, but got "
                       << sections;
  // mrope_c3
  if (rope && rope.getFrequencies() == RopeFrequencies::per_head)
    return emitError() << "expected the 'rope' of #posenc.mrope to have one "
                          "list of frequencies for all heads";
  return success();
}

StringRef MropeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> MropeAttr::getOperandNames() const {
  return getInnerRope(getRope(), getContext()).getOperandNames();
}
std::optional<double> MropeAttr::getFixedScale(KernelOp &kernel) const {
  return getInnerRope(getRope(), getContext()).getFixedScale(kernel);
}

LogicalResult
MropeAttr::verifyInKernel(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  RopeAttr rope = getInnerRope(getRope(), getContext());
  if (failed(rope.verifyInKernel(kernel, emitError)) ||
      failed(verifyNoPrefix(getMnemonic(), rope, emitError)))
    return failure();
  // mrope_c1
  int64_t sum = 0, pairs = getRotatedChannels(rope, kernel).getNumPairs();
  for (int64_t section : getSections().asArrayRef())
    sum += section;
  if (sum != pairs)
    return emitError() << "expects the 'sections' of #posenc.mrope to add up "
                          "to the "
                       << pairs << " rotated pairs, but got " << sum;
  // mrope_c2
  int64_t axes = countPositionAxes(kernel);
  if (axes != 1 && axes != 3)
    return emitError() << "expects positions of three axes (t, h, w) or of one "
                          "(text) with #posenc.mrope, but got "
                       << axes;
  return success();
}

/// The axis that turns a pair; 3 if none does.
static int64_t getAxis(MropeAttr mrope, int64_t pair) {
  ArrayRef<int64_t> sections = mrope.getSections().asArrayRef();
  if (mrope.getLayout() == MropeLayout::contiguous)
    return pair < sections[0] ? 0 : pair < sections[0] + sections[1] ? 1 : 2;
  int64_t axis = pair % 3;
  if (pair < 3 * sections[axis])
    return axis;
  return mrope.getLayout() == MropeLayout::interleaved ? 0 : 3;
}

/// Frequencies of a rotation, those of pairs that `keep` refuses put to 0.
static Value maskFrequencies(Expansion &expansion, Value freqs,
                             function_ref<bool(int64_t pair)> keep) {
  if (auto op = freqs.getDefiningOp<FreqsOp>()) {
    SmallVector<double> values = op.getLaw().getFrequencies();
    for (auto [k, value] : llvm::enumerate(values))
      if (!keep(k))
        value = 0;
    return expansion.freqs(values);
  }
  // Frequencies of the call: the same map, times 0 or 1.
  auto op = freqs.getDefiningOp<FreqsMapOp>();
  SmallVector<double> kept;
  for (int64_t k = 0, n = op.getPairs(); k < n; ++k)
    kept.push_back(keep(k));
  SmallVector<Value> tables(op.getTables());
  tables.push_back(expansion.constants(kept, {TableAxis::row}));
  auto masked = FreqsMapOp::create(expansion.builder, expansion.loc,
                                   op.getType(), tables, op.getPairs());
  expansion.fillRegion(
      masked.getBody(), 2 + tables.size(),
      [&](OpBuilder &builder, ValueRange arguments) {
        IRMapping mapping;
        Block &block = op.getBody().front();
        mapping.map(block.getArguments(), arguments.drop_back());
        for (Operation &nested : block.without_terminator())
          builder.clone(nested, mapping);
        Value value =
            mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
        return RegionMath(builder, expansion.loc).mul(value, arguments.back());
      });
  return masked;
}

void MropeAttr::expand(Expansion &expansion) const {
  RopeAttr rope = getInnerRope(getRope(), getContext());
  Rotation rotation(expansion, rope);
  SmallVector<Value> freqs;
  for (int64_t axis = 0; axis < 3; ++axis)
    freqs.push_back(maskFrequencies(
        expansion, rotation.getFrequencies(),
        [&](int64_t pair) { return ::getAxis(*this, pair) == axis; }));
  rotation.getFrequencies().getDefiningOp()->erase();
  bool isText = countPositionAxes(expansion.kernel) == 1;
  rotateBoth(expansion, [&](Value vector, Side side) {
    SmallVector<Value> positions;
    for (int64_t axis = 0; axis < 3; ++axis)
      positions.push_back(isText ? expansion.position(side)
                                 : getPositionAxis(expansion, side, axis));
    return rotation.apply(vector, positions, freqs);
  });
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

static LogicalResult verifyGrid(StringRef mnemonic, int64_t width,
                                int64_t classTokens, EmitError emitError) {
  if (width < 0 || classTokens < 0 || width > (int64_t{1} << 24) ||
      classTokens > (int64_t{1} << 24))
    return emitError() << "expected 'grid_width' and 'class_tokens' of #posenc."
                       << mnemonic << " to be from 0 to 2^24, but got " << width
                       << " and " << classTokens;
  if (width == 0 && classTokens > 0)
    return emitError() << "expected no 'class_tokens' of #posenc." << mnemonic
                       << " without 'grid_width': the positions of tokens that "
                          "are not of the grid are 0";
  return success();
}

static LogicalResult verifyGridInKernel(StringRef mnemonic, int64_t width,
                                        KernelOp kernel, EmitError emitError) {
  int64_t axes = countPositionAxes(kernel), wanted = width == 0 ? 2 : 1;
  if (axes == wanted)
    return success();
  return emitError() << "expects positions of "
                     << (wanted == 1 ? "one axis with 'grid_width'"
                                     : "two axes (row, column) without "
                                       "'grid_width'")
                     << " of #posenc." << mnemonic << ", but got " << axes;
}

/// x and y of the tokens of one side.
static std::pair<Value, Value> getGridCoordinates(Expansion &expansion,
                                                  Side side, int64_t width,
                                                  int64_t classTokens,
                                                  int64_t offset) {
  if (width == 0) {
    Value y = getPositionAxis(expansion, side, 0);
    return {getPositionAxis(expansion, side, 1), y};
  }
  Value position = expansion.position(side);
  auto coordinate = [&](bool isRow) {
    return expansion.remap(position, [&](OpBuilder &builder, ValueRange p) {
      RegionMath m(builder, expansion.loc);
      Value patch = p[0];
      if (classTokens)
        patch = m.sub(patch, m.number(classTokens));
      Value columns = m.number(width);
      Value result = m.floor(m.div(patch, columns));
      if (!isRow)
        result = m.sub(patch, m.mul(result, columns));
      if (offset)
        result = m.add(result, m.number(offset));
      if (!classTokens)
        return result;
      Value zero = m.number(0);
      return m.select(m.less(patch, zero), zero, result);
    });
  };
  Value x = coordinate(false);
  return {x, coordinate(true)};
}

//===----------------------------------------------------------------------===//
// AxialRope
//===----------------------------------------------------------------------===//

static constexpr Preset axialPresets[] = {
    {"rope-vit", "base = 100.0, pairing = interleaved, order = xy"},
    {"qwen2-vl-vision", "base = 1.0e4, pairing = half, order = yx"},
    {"pixtral", "base = 1.0e4, pairing = half, order = yx, exponent = strided"},
};

/// The parameters that may stand beside a preset.
static std::string getRest(AxialRopeAttr axial) {
  return (", grid_width = " + Twine(axial.getGridWidth()) +
          ", class_tokens = " + Twine(axial.getClassTokens()) +
          writeString("name", axial.getName()))
      .str();
}
static AxialRopeAttr resolve(AxialRopeAttr axial) {
  const Preset *preset = findPreset(axialPresets, axial.getPreset());
  return preset ? getPreset<AxialRopeAttr>(axial.getContext(), *preset,
                                           getRest(axial))
                : axial;
}

LogicalResult
AxialRopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      APFloat base, Pairing, int64_t dims, Placement, AxisOrder,
                      AxisLayout, AxisExponent, int64_t offset, int64_t width,
                      int64_t classTokens, StringRef, StringRef) {
  // axial_rope_c1
  if (failed(verifyPositive(getMnemonic(), "base", base, emitError)))
    return failure();
  // axial_rope_c2
  if (failed(verifyDims(getMnemonic(), dims, 4, emitError)))
    return failure();
  if (offset && width == 0)
    return emitError() << "expected no 'offset' of #posenc.axial_rope without "
                          "'grid_width': the positions say where tokens are";
  // axial_rope_c3
  return verifyGrid(getMnemonic(), width, classTokens, emitError);
}

StringRef AxialRopeAttr::getEncodingName() const { return getName(); }

LogicalResult AxialRopeAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // axial_rope_c2
  if (failed(
          verifyRotatedChannels(getMnemonic(), getDims(), kernel, emitError)))
    return failure();
  if (getDims() == 0 && kernel.getHeadDim() % 4 != 0)
    return emitError() << "expects 'head_dim' to be a multiple of 4 with "
                          "#posenc.axial_rope, whose axes have the same number "
                          "of pairs, but got "
                       << kernel.getHeadDim();
  // axial_rope_c4
  if (failed(
          verifyGridInKernel(getMnemonic(), getGridWidth(), kernel, emitError)))
    return failure();
  // axial_rope_c5
  return getPreset().empty()
             ? success()
             : verifyPreset(*this, axialPresets, getRest(*this), emitError);
}

void AxialRopeAttr::expand(Expansion &expansion) const {
  AxialRopeAttr axial = resolve(*this);
  RotatedChannels channels(axial.getDims(), axial.getPlacement(),
                           expansion.kernel.getHeadDim());
  int64_t pairs = channels.getNumPairs();
  double base = axial.getBase().convertToDouble();
  SmallVector<double> axes[2]; // the first and the second of `order`
  for (int64_t k = 0; k < pairs; ++k) {
    bool isContiguous = axial.getLayout() == AxisLayout::contiguous;
    int64_t axis = isContiguous ? k / (pairs / 2) : k % 2;
    int64_t m = isContiguous ? k % (pairs / 2) : k / 2;
    double exponent = axial.getExponent() == AxisExponent::restart ? 2.0 * m
                      : axial.getExponent() == AxisExponent::continuous
                          ? k
                          : 2.0 * m + axis;
    axes[axis].push_back(std::pow(base, -exponent / pairs));
    axes[1 - axis].push_back(0);
  }
  bool isXFirst = axial.getOrder() == AxisOrder::xy;
  Value fx = expansion.freqs(axes[isXFirst ? 0 : 1]);
  Value fy = expansion.freqs(axes[isXFirst ? 1 : 0]);
  rotateBoth(expansion, [&](Value vector, Side side) -> Value {
    auto [x, y] = getGridCoordinates(expansion, side, axial.getGridWidth(),
                                     axial.getClassTokens(), axial.getOffset());
    return RotateOp::create(expansion.builder, expansion.loc, vector.getType(),
                            vector, ValueRange{x, y}, ValueRange{fx, fy},
                            /*mix=*/ValueRange(), axial.getPairing(),
                            channels.first);
  });
}

//===----------------------------------------------------------------------===//
// MixedRope
//===----------------------------------------------------------------------===//

LogicalResult
MixedRopeAttr::verify(function_ref<InFlightDiagnostic()> emitError, Pairing,
                      int64_t dims, Placement, int64_t width,
                      int64_t classTokens, StringRef) {
  // mixed_rope_c1
  if (failed(verifyDims(getMnemonic(), dims, 2, emitError)))
    return failure();
  // mixed_rope_c2
  return verifyGrid(getMnemonic(), width, classTokens, emitError);
}

StringRef MixedRopeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> MixedRopeAttr::getOperandNames() const {
  return {(getName() + ".fx").str(), (getName() + ".fy").str()};
}

LogicalResult MixedRopeAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // mixed_rope_c1
  if (failed(
          verifyRotatedChannels(getMnemonic(), getDims(), kernel, emitError)))
    return failure();
  // mixed_rope_c2
  return verifyGridInKernel(getMnemonic(), getGridWidth(), kernel, emitError);
}

void MixedRopeAttr::expand(Expansion &expansion) const {
  RotatedChannels channels(getDims(), getPlacement(),
                           expansion.kernel.getHeadDim());
  SmallVector<Value> freqs;
  for (StringRef name : getOperandNames()) {
    Value table = expansion.operand(name, {TableAxis::head, TableAxis::row},
                                    channels.getNumPairs());
    auto op = FreqsMapOp::create(expansion.builder, expansion.loc,
                                 FreqsType::get(getContext()), table,
                                 channels.getNumPairs());
    expansion.fillRegion(
        op.getBody(), 3,
        [](OpBuilder &, ValueRange arguments) { return arguments[2]; });
    freqs.push_back(op);
  }
  rotateBoth(expansion, [&](Value vector, Side side) -> Value {
    auto [x, y] = getGridCoordinates(expansion, side, getGridWidth(),
                                     getClassTokens(), /*offset=*/0);
    return RotateOp::create(expansion.builder, expansion.loc, vector.getType(),
                            vector, ValueRange{x, y}, freqs,
                            /*mix=*/ValueRange(), getPairing(), channels.first);
  });
}

//===----------------------------------------------------------------------===//
// Fope
//===----------------------------------------------------------------------===//

LogicalResult FopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat base, Pairing, int64_t length, int64_t,
                               FopePadding, StringRef) {
  // fope_c1
  if (failed(verifyPositive(getMnemonic(), "base", base, emitError)))
    return failure();
  // fope_c2: the fastest pair turns by one radian
  if (length < 0 || (length > 0 && length < 7))
    return emitError() << "expected 'length' of #posenc.fope to be 0 or at "
                          "least 7, since no frequency makes a whole turn "
                          "within less, but got "
                       << length;
  return success();
}

StringRef FopeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> FopeAttr::getOperandNames() const {
  return {(getName() + ".cosine").str(), (getName() + ".sine").str()};
}

LogicalResult
FopeAttr::verifyInKernel(KernelOp &kernel,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // fope_c3
  int64_t pairs = kernel.getHeadDim() / 2;
  if (getOutputs() < 0 || getOutputs() > pairs ||
      (getOutputs() == 0 && pairs < 2))
    return emitError() << "expects 'outputs' of #posenc.fope to be from 1 to "
                          "'head_dim' / 2 ("
                       << pairs << "), or 0 for half of that, but got "
                       << getOutputs();
  return success();
}

void FopeAttr::expand(Expansion &expansion) const {
  int64_t pairs = expansion.kernel.getHeadDim() / 2;
  int64_t outputs = getOutputs() ? getOutputs() : pairs / 2;
  double base = getBase().convertToDouble();
  double slowest = getLength() ? 2 * M_PI / getLength() : 0;
  SmallVector<double> kept;
  for (int64_t k = 0; k < pairs; ++k)
    if (double w = std::pow(base, -1.0 * k / pairs); w >= slowest)
      kept.push_back(w);
  kept.push_back(0); // for pairs that do not turn
  SmallVector<Value> mix;
  for (StringRef name : getOperandNames())
    mix.push_back(expansion.operand(
        name, {TableAxis::row, TableAxis::head, TableAxis::channel},
        kept.size(), pairs));
  Value freqs = expansion.freqs(kept);
  rotateBoth(expansion, [&](Value vector, Side side) -> Value {
    auto op = RotateOp::create(
        expansion.builder, expansion.loc, vector.getType(), vector,
        expansion.position(side), freqs, mix, getPairing(), /*first_dim=*/0);
    if (getPadding() == FopePadding::code)
      expansion.fillRegion(
          op.getModulus(), 2, [&](OpBuilder &builder, ValueRange arguments) {
            RegionMath m(builder, expansion.loc);
            Value isMixed = m.less(arguments[0], m.number(outputs));
            Value one = m.number(1);
            return m.select(isMixed, one, m.number(std::sqrt(2.0)));
          });
    return op;
  });
}

//===----------------------------------------------------------------------===//
// RopeBias
//===----------------------------------------------------------------------===//

LogicalResult RopeBiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   RopeBiasForm form, RopeAttr rope,
                                   StringRef) {
  // rope_bias_c1
  if (!rope)
    return success();
  if (form == RopeBiasForm::vectors)
    return emitError() << "expected no 'rope' of #posenc.rope_bias with 'form "
                          "= vectors': the rotation is an encoding of its own";
  if (rope.getFrequencies() != RopeFrequencies::law)
    return emitError() << "expected the 'rope' of #posenc.rope_bias to have "
                          "frequencies that are known when compiled";
  return success();
}

StringRef RopeBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> RopeBiasAttr::getOperandNames() const {
  auto prefix = [&](StringRef name) { return (getName() + name).str(); };
  if (getForm() == RopeBiasForm::vectors)
    return {prefix(".query"), prefix(".key")};
  return {prefix(".query_first"), prefix(".query_second"), prefix(".key_first"),
          prefix(".key_second")};
}

LogicalResult RopeBiasAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  if (getForm() == RopeBiasForm::vectors)
    return success();
  RopeAttr rope = getInnerRope(getRope(), getContext());
  if (failed(rope.verifyInKernel(kernel, emitError)))
    return failure();
  if (rope.getScaling() && !rope.getScaling().isKnown())
    return emitError() << "expects the 'rope' of #posenc.rope_bias to have "
                          "frequencies that are known when compiled, but its "
                          "'scaling' is "
                       << rope.getScaling();
  return success();
}

void RopeBiasAttr::expand(Expansion &expansion) const {
  int64_t headDim = expansion.kernel.getHeadDim();
  SmallVector<std::string> names = getOperandNames();
  if (getForm() == RopeBiasForm::vectors) {
    auto add = [&](Value vector, StringRef name) -> Value {
      Value table = expansion.operand(
          name, {TableAxis::head, TableAxis::channel}, 0, headDim);
      return VaddOp::create(expansion.builder, expansion.loc, vector.getType(),
                            vector, table, /*position=*/Value());
    };
    expansion.transformQueries(
        [&](Value query) { return add(query, names[0]); });
    expansion.transformKeys([&](Value key) { return add(key, names[1]); });
    return;
  }
  RopeAttr rope = getInnerRope(getRope(), getContext());
  RotaryLaw law = getRotaryLaw(rope, headDim);
  SmallVector<double> values = rope.getScaling()
                                   ? rope.getScaling().scaleFrequencies(law)
                                   : law.frequencies;
  SmallVector<Value> inputs{expansion.relation(DifferenceAttr::get(
                                getContext(), Orientation::query_minus_key)),
                            expansion.sumIndex(values.size()),
                            expansion.constants(values, {TableAxis::row})};
  for (StringRef name : names)
    inputs.push_back(expansion.operand(
        name, {TableAxis::head, TableAxis::channel}, 0, values.size()));
  double m = ::getAttentionFactors(rope).rotation;
  double factor = m * m;
  if (getForm() == RopeBiasForm::inside)
    factor *= expansion.scale;
  Value bias =
      expansion.bias(inputs, [&](OpBuilder &builder, ValueRange arguments) {
        RegionMath r(builder, expansion.loc);
        Value angle = r.mul(arguments[0], arguments[2]);
        Value a0 = arguments[3], a1 = arguments[4];
        Value b0 = arguments[5], b1 = arguments[6];
        Value even = r.add(r.mul(a0, b0), r.mul(a1, b1));
        Value odd = r.sub(r.mul(a0, b1), r.mul(a1, b0));
        Value sum = r.add(r.mul(even, r.cos(angle)), r.mul(odd, r.sin(angle)));
        return factor == 1 ? sum : r.mul(sum, r.number(factor));
      });
  (getForm() == RopeBiasForm::inside ? expansion.insideTerms
                                     : expansion.outsideTerms)
      .push_back(bias);
}
