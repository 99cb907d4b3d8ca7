// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variants of the rotary encoding: checks and expansions.
#include "posenc/IR/Encodings.h"

#include "Rotation.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Xpos
//===----------------------------------------------------------------------===//

LogicalResult XposAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat scaleBase, APFloat gamma, APFloat centre,
                               RopeAttr, StringRef) {
  // xpos_c1
  if (failed(
          verifyPositive(getMnemonic(), "scale_base", scaleBase, emitError)) ||
      failed(verifyPositive(getMnemonic(), "gamma", gamma, emitError)))
    return failure();
  if (!centre.isFinite())
    return emitError() << "expected 'centre' of #posenc.xpos to be finite, but "
                          "got "
                       << centre.convertToDouble();
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
  // xpos_c2
  if (kernel.getMaskOrDefault().showsFuture())
    return emitError() << "expects a mask that hides future keys with "
                          "#posenc.xpos, whose factor grows with their "
                          "distance: state mask(#posenc.causal)";
  RopeAttr rope = ::getRope(*this);
  if (failed(verifyNoPrefix(getMnemonic(), rope, emitError)))
    return failure();
  return rope.verifyInKernel(kernel, emitError);
}

void XposAttr::advise(KernelOp &, int64_t context,
                      function_ref<void(const Twine &)> warn) const {
  // Keys of the first pair are stretched most: by zeta^(-(p - c) / B).
  double gamma = getGamma().convertToDouble();
  double base = getScaleBase().convertToDouble();
  double limit = getCentre().convertToDouble() +
                 base * std::log(std::numeric_limits<float>::max()) /
                     std::log((1 + gamma) / gamma);
  if (context - 1 > limit)
    warn("the factor of keys of #posenc.xpos exceeds the numbers of f32 from "
         "the position " +
         Twine(static_cast<int64_t>(std::floor(limit)) + 1) +
         " on, but the context has " + Twine(context) +
         " tokens: a greater 'scale_base' or 'centre' reaches farther (arXiv "
         "2212.10554)");
}

void XposAttr::expand(Expansion &expansion) const {
  RopeAttr rope = ::getRope(*this);
  Rotation rotation(expansion, rope);
  double gamma = getGamma().convertToDouble();
  double base = getScaleBase().convertToDouble();
  int64_t dims = getRotatedChannels(rope, expansion.kernel).count;
  rotateBoth(expansion, [&](Value vector, Side side) {
    double sign = side == Side::query ? 1 : -1;
    return rotation.apply(
        vector, expansion.position(side),
        [&](const Real &pair, const Real &position) {
          Real zeta = pair * (2.0 / dims / (1 + gamma)) + gamma / (1 + gamma);
          return pow(zeta, (position - getCentre().convertToDouble()) *
                               (sign / base));
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
      llvm::any_of(sections.asArrayRef(),
                   [](int64_t n) { return n < 0 || n > 65536; }))
    return emitError() << "expected 'sections' of #posenc.mrope to be three "
                          "numbers from 0 to 65536, but got "
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

void MropeAttr::advise(KernelOp &kernel, int64_t context,
                       function_ref<void(const Twine &)> warn) const {
  getInnerRope(getRope(), getContext()).advise(kernel, context, warn);
}

/// The axis that turns a pair, if one does.
static std::optional<int64_t> getAxis(MropeAttr mrope, int64_t pair) {
  ArrayRef<int64_t> sections = mrope.getSections().asArrayRef();
  if (mrope.getLayout() == MropeLayout::contiguous)
    return pair < sections[0] ? 0 : pair < sections[0] + sections[1] ? 1 : 2;
  int64_t axis = pair % 3;
  if (pair < 3 * sections[axis])
    return axis;
  if (mrope.getLayout() == MropeLayout::interleaved)
    return 0;
  return std::nullopt;
}

void MropeAttr::expand(Expansion &expansion) const {
  Rotation rotation(expansion, getInnerRope(getRope(), getContext()),
                    /*axes=*/3,
                    [&](int64_t pair) { return ::getAxis(*this, pair); });
  bool isText = countPositionAxes(expansion.kernel) == 1;
  rotateBoth(expansion, [&](Value vector, Side side) {
    SmallVector<Value> positions;
    for (int64_t axis = 0; axis < 3; ++axis)
      positions.push_back(isText ? expansion.position(side)
                                 : getPositionAxis(expansion, side, axis));
    return rotation.apply(vector, positions);
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
      expansion.fillRegion(op.getModulus(), 2, [&](ArrayRef<Real> x) {
        return select(x[0] < outputs, 1, std::sqrt(2.0));
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
  Value bias = expansion.bias(inputs, [&](ArrayRef<Real> x) {
    Real angle = x[0] * x[2];
    Real even = x[3] * x[5] + x[4] * x[6], odd = x[3] * x[6] - x[4] * x[5];
    Real sum = even * cos(angle) + odd * sin(angle);
    return factor == 1 ? sum : sum * factor;
  });
  (getForm() == RopeBiasForm::inside ? expansion.insideTerms
                                     : expansion.outsideTerms)
      .push_back(bias);
}
