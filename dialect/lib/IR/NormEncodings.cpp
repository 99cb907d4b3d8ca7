// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that normalise queries and keys: checks and expansions.
#include "posenc/IR/Encodings.h"

#include "Presets.h"
#include "QueryScale.h"
#include "Rotation.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

static LogicalResult verifyEpsilon(StringRef mnemonic, const APFloat &epsilon,
                                   EmitError emitError) {
  if (epsilon.isFinite() && (!epsilon.isNegative() || epsilon.isZero()))
    return success();
  return emitError() << "expected 'epsilon' of #posenc." << mnemonic
                     << " to be finite and not negative, but got "
                     << epsilon.convertToDouble();
}

static Value normalize(Expansion &expansion, Value vector, NormKind kind,
                       NormAxis over, APFloat epsilon, EpsilonSite site) {
  return VectorNormOp::create(expansion.builder, expansion.loc,
                              vector.getType(), vector, kind, over, epsilon,
                              site);
}

/// Multiplies queries by a function of a learned number per head.
static void scaleByHead(Expansion &expansion, StringRef name, Formula factor) {
  scaleQueries(expansion, expansion.operand(name, {TableAxis::head}), factor);
}

//===----------------------------------------------------------------------===//
// QkNorm
//===----------------------------------------------------------------------===//

static constexpr Preset qkNormPresets[] = {
    {"qwen3", "kind = rms, gain = channel, epsilon = 1.0e-6"},
    {"gemma3",
     "kind = rms, gain = channel, unit_offset = true, epsilon = 1.0e-6"},
    {"olmo2",
     "kind = rms, over = all_heads, gain = head_channel, epsilon = 1.0e-6"},
    {"llama4", "kind = rms, gain = none, epsilon = 1.0e-5"},
    {"persimmon",
     "kind = layer, gain = channel, bias = true, epsilon = 1.0e-5"},
    {"cohere", "kind = layer, gain = head_channel, epsilon = 1.0e-5"},
};

static std::string getRest(QkNormAttr norm) {
  return writeString("name", norm.getName());
}
static QkNormAttr resolve(QkNormAttr norm) {
  const Preset *preset = findPreset(qkNormPresets, norm.getPreset());
  return preset
             ? getPreset<QkNormAttr>(norm.getContext(), *preset, getRest(norm))
             : norm;
}

LogicalResult QkNormAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 NormKind, NormAxis over, APFloat epsilon,
                                 EpsilonSite, NormGain gain, bool unitOffset,
                                 bool bias, NormScale, StringRef, StringRef) {
  // qk_norm_c1
  if (failed(verifyEpsilon(getMnemonic(), epsilon, emitError)))
    return failure();
  // qk_norm_c2
  if ((unitOffset || bias) && gain == NormGain::none)
    return emitError() << "expected a 'gain' of #posenc.qk_norm beside "
                          "'unit_offset' and 'bias'";
  // qk_norm_c3
  if (over == NormAxis::all_heads && gain == NormGain::channel)
    return emitError() << "expected 'gain = head_channel' of #posenc.qk_norm "
                          "with 'over = all_heads', whose weights are of all "
                          "heads";
  return success();
}

StringRef QkNormAttr::getEncodingName() const { return getName(); }

SmallVector<std::string> QkNormAttr::getOperandNames() const {
  QkNormAttr norm = resolve(*this);
  SmallVector<std::string> names;
  auto add = [&](StringRef suffix) {
    names.push_back((getName() + suffix).str());
  };
  if (norm.getGain() != NormGain::none) {
    add(".query_gain");
    add(".key_gain");
  }
  if (norm.getBias()) {
    add(".query_bias");
    add(".key_bias");
  }
  if (norm.getScoreScale() != NormScale::kernel)
    add(".scale");
  return names;
}

std::optional<double> QkNormAttr::getFixedScale(KernelOp &) const {
  if (getScoreScale() == NormScale::kernel)
    return std::nullopt;
  return 1.0;
}

LogicalResult
QkNormAttr::verifyInKernel(KernelOp &,
                           function_ref<InFlightDiagnostic()> emitError) const {
  // qk_norm_c4
  return getPreset().empty()
             ? success()
             : verifyPreset(*this, qkNormPresets, getRest(*this), emitError);
}

void QkNormAttr::expand(Expansion &expansion) const {
  QkNormAttr norm = resolve(*this);
  SmallVector<TableAxis> axes{TableAxis::channel};
  if (norm.getGain() == NormGain::head_channel)
    axes = {TableAxis::head, TableAxis::channel};
  int64_t headDim = expansion.kernel.getHeadDim();
  auto apply = [&](Value vector, StringRef side) -> Value {
    OpBuilder &builder = expansion.builder;
    Location loc = expansion.loc;
    auto table = [&](StringRef suffix) {
      return expansion.operand((getName() + side + suffix).str(), axes, 0,
                               headDim);
    };
    vector = normalize(expansion, vector, norm.getKind(), norm.getOver(),
                       norm.getEpsilon(), norm.getEpsilonSite());
    if (norm.getGain() != NormGain::none)
      vector = ChannelScaleOp::create(
          builder, loc, vector.getType(), vector, table("_gain"),
          APFloat(norm.getUnitOffset() ? 1.0 : 0.0));
    if (norm.getBias())
      vector = VaddOp::create(builder, loc, vector.getType(), vector,
                              table("_bias"), /*position=*/Value());
    return vector;
  };
  expansion.transformQueries(
      [&](Value query) { return apply(query, ".query"); });
  expansion.transformKeys([&](Value key) { return apply(key, ".key"); });
  if (norm.getScoreScale() == NormScale::kernel)
    return;
  bool isLog = norm.getScoreScale() == NormScale::learned_log;
  scaleByHead(expansion, (getName() + ".scale").str(),
              [&](ArrayRef<Real> g) { return isLog ? exp(g[0]) : g[0]; });
}

//===----------------------------------------------------------------------===//
// KeyNorm
//===----------------------------------------------------------------------===//

LogicalResult KeyNormAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  APFloat epsilon, EpsilonSite, StringRef) {
  // key_norm_c1
  return verifyEpsilon(getMnemonic(), epsilon, emitError);
}
StringRef KeyNormAttr::getEncodingName() const { return getName(); }
std::optional<double> KeyNormAttr::getFixedScale(KernelOp &) const {
  return 1.0;
}
LogicalResult
KeyNormAttr::verifyInKernel(KernelOp &,
                            function_ref<InFlightDiagnostic()>) const {
  return success();
}
void KeyNormAttr::expand(Expansion &expansion) const {
  expansion.transformKeys([&](Value key) {
    return normalize(expansion, key, NormKind::l2, NormAxis::head, getEpsilon(),
                     getEpsilonSite());
  });
}

//===----------------------------------------------------------------------===//
// CosineAttention
//===----------------------------------------------------------------------===//

LogicalResult
CosineAttentionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            APFloat limit, APFloat epsilon, EpsilonSite,
                            StringRef) {
  // cosine_attention_c1
  if (failed(verifyEpsilon(getMnemonic(), epsilon, emitError)))
    return failure();
  // cosine_attention_c2
  return verifyPositive(getMnemonic(), "limit", limit, emitError);
}
StringRef CosineAttentionAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> CosineAttentionAttr::getOperandNames() const {
  return {(getName() + ".logit_scale").str()};
}
std::optional<double> CosineAttentionAttr::getFixedScale(KernelOp &) const {
  return 1.0;
}
LogicalResult
CosineAttentionAttr::verifyInKernel(KernelOp &,
                                    function_ref<InFlightDiagnostic()>) const {
  return success();
}
void CosineAttentionAttr::expand(Expansion &expansion) const {
  auto apply = [&](Value vector) {
    return normalize(expansion, vector, NormKind::l2, NormAxis::head,
                     getEpsilon(), getEpsilonSite());
  };
  expansion.transformQueries(apply);
  expansion.transformKeys(apply);
  double limit = std::log(getLimit().convertToDouble());
  scaleByHead(expansion, getOperandNames().front(),
              [&](ArrayRef<Real> logit) { return exp(min(logit[0], limit)); });
}
