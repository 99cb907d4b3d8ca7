// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Laws that change rotary frequencies: checks and meaning.
#include "posenc/IR/Encodings.h"

#include "Presets.h"
#include "Rotation.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

#include "posenc/IR/RotaryInterfaces.cpp.inc"

static constexpr double twoPi = 6.283185307179586476925286766559;

static LogicalResult verifyLength(StringRef mnemonic, int64_t length,
                                  int64_t least, EmitError emitError) {
  if (length >= least && length <= (int64_t{1} << 30))
    return success();
  return emitError() << "expected 'original_length' of #posenc." << mnemonic
                     << " to be from " << least << " to 2^30, but got "
                     << length;
}

/// One number for each of a list.
static SmallVector<double> transform(ArrayRef<double> values,
                                     function_ref<double(int64_t, double)> f) {
  SmallVector<double> result;
  for (auto [k, value] : llvm::enumerate(values))
    result.push_back(f(k, value));
  return result;
}

/// Frequencies that are `formula(w_k, k, length)` at run time.
static Value buildByLength(
    ExpansionBase &expansion, const RotaryLaw &law,
    function_ref<Real(const Real &, const Real &, const Real &)> formula) {
  Value table = expansion.constants(law.frequencies, {TableAxis::row});
  return expansion.create<FreqsMapOp>(
      3, [&](ArrayRef<Real> x) { return formula(x[2], x[0], x[1]); },
      FreqsType::get(expansion.getContext()), table, law.frequencies.size());
}

//===----------------------------------------------------------------------===//
// Position interpolation
//===----------------------------------------------------------------------===//

LogicalResult
LinearScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          APFloat factor) {
  // linear_scaling_c1
  return verifyPositive(getMnemonic(), "factor", factor, emitError);
}
SmallVector<double>
LinearScalingAttr::scaleFrequencies(const RotaryLaw &law) const {
  double factor = getFactor().convertToDouble();
  return transform(law.frequencies,
                   [&](int64_t, double w) { return w / factor; });
}

LogicalResult
DynamicLinearAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t originalLength) {
  // dynamic_linear_c1
  return verifyLength(getMnemonic(), originalLength, 1, emitError);
}
bool DynamicLinearAttr::isKnown() const { return false; }
Value DynamicLinearAttr::buildFrequencies(ExpansionBase &expansion,
                                          const RotaryLaw &law) const {
  Real trained = getOriginalLength();
  return buildByLength(expansion, law,
                       [&](const Real &w, const Real &, const Real &length) {
                         return w * trained / max(length, trained);
                       });
}

//===----------------------------------------------------------------------===//
// NTK-aware
//===----------------------------------------------------------------------===//

static LogicalResult verifyNtkDims(StringRef mnemonic, const RotaryLaw &law,
                                   EmitError emitError) {
  if (law.dims > 2)
    return success();
  return emitError() << "expects more than 2 rotated channels with #posenc."
                     << mnemonic
                     << ": its exponent is n / (n - 2), and one pair can only "
                        "keep its frequency";
}

LogicalResult NtkAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              APFloat alpha) {
  // ntk_c1
  return verifyPositive(getMnemonic(), "alpha", alpha, emitError);
}
LogicalResult
NtkAttr::verifyScaling(const RotaryLaw &law,
                       function_ref<InFlightDiagnostic()> emitError) const {
  // ntk_c2
  return verifyNtkDims(getMnemonic(), law, emitError);
}
SmallVector<double> NtkAttr::scaleFrequencies(const RotaryLaw &law) const {
  double alpha = getAlpha().convertToDouble();
  return transform(law.frequencies, [&](int64_t k, double w) {
    return w * std::pow(alpha, -2.0 * k / (law.dims - 2));
  });
}

static LogicalResult verifyLeastOne(StringRef mnemonic, const APFloat &factor,
                                    EmitError emitError) {
  if (factor.isFinite() && factor.convertToDouble() >= 1)
    return success();
  return emitError() << "expected 'factor' of #posenc." << mnemonic
                     << " to be at least 1 and finite, but got "
                     << factor.convertToDouble();
}

LogicalResult
DynamicNtkAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       APFloat factor, int64_t originalLength) {
  // dynamic_ntk_c1
  if (failed(verifyLeastOne(getMnemonic(), factor, emitError)))
    return failure();
  return verifyLength(getMnemonic(), originalLength, 1, emitError);
}
LogicalResult DynamicNtkAttr::verifyScaling(
    const RotaryLaw &law, function_ref<InFlightDiagnostic()> emitError) const {
  // dynamic_ntk_c2
  return verifyNtkDims(getMnemonic(), law, emitError);
}
bool DynamicNtkAttr::isKnown() const { return false; }
Value DynamicNtkAttr::buildFrequencies(ExpansionBase &expansion,
                                       const RotaryLaw &law) const {
  double factor = getFactor().convertToDouble();
  Real trained = getOriginalLength();
  return buildByLength(
      expansion, law, [&](const Real &w, const Real &pair, const Real &length) {
        Real alpha = factor * max(length, trained) / trained - (factor - 1);
        return w * pow(alpha, pair * (-2.0 / (law.dims - 2)));
      });
}

//===----------------------------------------------------------------------===//
// YaRN
//===----------------------------------------------------------------------===//

static constexpr Preset yarnPresets[] = {
    {"gpt-oss", "factor = 32.0, original_length = 4096, truncate = false"},
    {"deepseek-v3", "factor = 40.0, original_length = 4096, mscale = 1.0, "
                    "mscale_all_dim = 1.0"},
};

/// The law itself, if a preset is stated.
static YarnAttr resolve(YarnAttr yarn) {
  const Preset *preset = findPreset(yarnPresets, yarn.getPreset());
  return preset ? getPreset<YarnAttr>(yarn.getContext(), *preset, "") : yarn;
}

/// yarn_c1
static LogicalResult verifyRamp(StringRef mnemonic, int64_t originalLength,
                                const APFloat &betaFast,
                                const APFloat &betaSlow, EmitError emitError) {
  if (failed(verifyPositive(mnemonic, "beta_fast", betaFast, emitError)) ||
      failed(verifyPositive(mnemonic, "beta_slow", betaSlow, emitError)) ||
      failed(verifyLength(mnemonic, originalLength, 1, emitError)))
    return failure();
  if (betaFast.convertToDouble() > betaSlow.convertToDouble())
    return success();
  return emitError() << "expected 'beta_fast' of #posenc." << mnemonic
                     << " to be greater than 'beta_slow', since the ramp lies "
                        "between them, but got "
                     << betaFast.convertToDouble() << " and "
                     << betaSlow.convertToDouble();
}

/// yarn_c2
static LogicalResult verifyBase(StringRef mnemonic, const RotaryLaw &law,
                                EmitError emitError) {
  if (law.base > 1)
    return success();
  return emitError() << "expects a base above 1 with #posenc." << mnemonic
                     << ", whose ramp divides by its logarithm, but got "
                     << law.base;
}

/// How much of each pair is interpolated.
template <typename Yarn>
static SmallVector<double> buildRamp(Yarn yarn, const RotaryLaw &law) {
  double fast = yarn.getBetaFast().convertToDouble();
  double slow = yarn.getBetaSlow().convertToDouble();
  double length = yarn.getOriginalLength();
  // The pair that turns that often within the trained length.
  auto findPair = [&](double rotations) {
    return law.dims * std::log(length / (twoPi * rotations)) /
           (2 * std::log(law.base));
  };
  double low = findPair(fast), high = findPair(slow);
  if (yarn.getTruncate()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(law.dims - 1));
  if (low == high)
    high += 0.001;
  return transform(law.frequencies, [&](int64_t k, double w) {
    double ramp = yarn.getRamp() == YarnRamp::code
                      ? (k - low) / (high - low)
                      : 1 - (length * w / twoPi - slow) / (fast - slow);
    return std::clamp(ramp, 0.0, 1.0);
  });
}

LogicalResult YarnAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat factor, int64_t originalLength,
                               APFloat betaFast, APFloat betaSlow, bool,
                               YarnRamp, APFloat mscale, APFloat mscaleAllDim,
                               StringRef) {
  // yarn_c1
  if (failed(verifyPositive(getMnemonic(), "factor", factor, emitError)) ||
      failed(verifyRamp(getMnemonic(), originalLength, betaFast, betaSlow,
                        emitError)))
    return failure();
  // yarn_c3
  if (mscale.isZero() != mscaleAllDim.isZero())
    return emitError() << "expected both 'mscale' and 'mscale_all_dim' of "
                          "#posenc.yarn, or neither: only their ratio counts";
  return success();
}

LogicalResult
YarnAttr::verifyScaling(const RotaryLaw &law,
                        function_ref<InFlightDiagnostic()> emitError) const {
  // yarn_c2
  if (failed(verifyBase(getMnemonic(), law, emitError)))
    return failure();
  // yarn_c4
  return getPreset().empty() ? success()
                             : verifyPreset(*this, yarnPresets, "", emitError);
}

SmallVector<double> YarnAttr::scaleFrequencies(const RotaryLaw &law) const {
  YarnAttr yarn = resolve(*this);
  double factor = yarn.getFactor().convertToDouble();
  SmallVector<double> ramp = buildRamp(yarn, law);
  return transform(law.frequencies, [&](int64_t k, double w) {
    return w / factor * ramp[k] + w * (1 - ramp[k]);
  });
}

bool YarnAttr::isFactorOfAll() const {
  return !resolve(*this).getMscaleAllDim().isZero();
}

AttentionFactors YarnAttr::getAttentionFactors(FactorSite site) const {
  YarnAttr yarn = resolve(*this);
  double factor = yarn.getFactor().convertToDouble();
  auto g = [&](double x) {
    return factor <= 1 ? 1.0 : 0.1 * x * std::log(factor) + 1;
  };
  if (yarn.getMscale().isZero()) {
    double m = g(1);
    return site == FactorSite::rotation ? AttentionFactors{m, 1}
                                        : AttentionFactors{1, m * m};
  }
  double all = g(yarn.getMscaleAllDim().convertToDouble());
  return {g(yarn.getMscale().convertToDouble()) / all,
          site == FactorSite::rotation ? 1 : all * all};
}

LogicalResult
DynamicYarnAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        APFloat factor, int64_t originalLength,
                        APFloat betaFast, APFloat betaSlow, bool, YarnRamp) {
  // dynamic_yarn_c1
  if (failed(verifyLeastOne(getMnemonic(), factor, emitError)))
    return failure();
  return verifyRamp(getMnemonic(), originalLength, betaFast, betaSlow,
                    emitError);
}
bool DynamicYarnAttr::isKnown() const { return false; }
bool DynamicYarnAttr::isFactorKnown() const { return false; }
LogicalResult DynamicYarnAttr::verifyScaling(
    const RotaryLaw &law, function_ref<InFlightDiagnostic()> emitError) const {
  // dynamic_yarn_c2
  return verifyBase(getMnemonic(), law, emitError);
}
Value DynamicYarnAttr::buildFrequencies(ExpansionBase &expansion,
                                        const RotaryLaw &law) const {
  Value plain = expansion.constants(law.frequencies, {TableAxis::row});
  Value ramp = expansion.constants(buildRamp(*this, law), {TableAxis::row});
  double least = getFactor().convertToDouble();
  Real trained = getOriginalLength();
  return expansion.create<FreqsMapOp>(
      4,
      [&](ArrayRef<Real> x) {
        Real factor = max(x[1] / trained, least);
        return x[2] / factor * x[3] + x[2] * (1 - x[3]);
      },
      FreqsType::get(getContext()), ValueRange{plain, ramp},
      law.frequencies.size());
}

//===----------------------------------------------------------------------===//
// LongRoPE
//===----------------------------------------------------------------------===//

LogicalResult LongRopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   DenseF64ArrayAttr, DenseF64ArrayAttr,
                                   APFloat factor, int64_t originalLength,
                                   LongRopeSelect select, LongRopeFactor,
                                   int64_t keepFirst, bool interpolate) {
  // longrope_c1
  if (failed(verifyPositive(getMnemonic(), "factor", factor, emitError)) ||
      failed(verifyLength(getMnemonic(), originalLength, 2, emitError)))
    return failure();
  // longrope_c3
  if (keepFirst < 0 || keepFirst > (int64_t{1} << 30))
    return emitError() << "expected 'keep_first' of #posenc.longrope to be "
                          "from 0 to 2^30, but got "
                       << keepFirst;
  // longrope_c4
  if (interpolate &&
      (select != LongRopeSelect::long_list || factor.convertToDouble() <= 1))
    return emitError() << "expected 'select = long' and a 'factor' above 1 of "
                          "#posenc.longrope beside 'interpolate = true', which "
                          "grows from 1 to the long divisors";
  return success();
}

LogicalResult LongRopeAttr::verifyScaling(
    const RotaryLaw &law, function_ref<InFlightDiagnostic()> emitError) const {
  // longrope_c2
  auto check = [&](StringRef name, DenseF64ArrayAttr list) -> LogicalResult {
    size_t count = list ? list.size() : 0;
    if (count != law.frequencies.size())
      return emitError() << "expects '" << name
                         << "' of #posenc.longrope to have a divisor for each "
                            "of the "
                         << law.frequencies.size() << " rotated pairs, but got "
                         << count;
    for (double value : list.asArrayRef())
      if (!std::isfinite(value) || value <= 0)
        return emitError() << "expects the divisors in '" << name
                           << "' of #posenc.longrope to be positive, but got "
                           << value;
    return success();
  };
  if (getSelect() != LongRopeSelect::long_list &&
      failed(check("short_factor", getShortFactor())))
    return failure();
  if (getSelect() != LongRopeSelect::short_list)
    return check("long_factor", getLongFactor());
  return success();
}

bool LongRopeAttr::isKnown() const {
  return getSelect() != LongRopeSelect::by_length && !getInterpolate();
}
SmallVector<double> LongRopeAttr::scaleFrequencies(const RotaryLaw &law) const {
  DenseF64ArrayAttr divisors = getSelect() == LongRopeSelect::long_list
                                   ? getLongFactor()
                                   : getShortFactor();
  return transform(law.frequencies,
                   [&](int64_t k, double w) { return w / divisors[k]; });
}

Value LongRopeAttr::buildFrequencies(ExpansionBase &expansion,
                                     const RotaryLaw &law) const {
  if (isKnown())
    return expansion.freqs(scaleFrequencies(law));
  Real trained = getOriginalLength();
  if (getInterpolate()) {
    SmallVector<double> growth =
        transform(getLongFactor().asArrayRef(), [&](int64_t, double divisor) {
          return (divisor - 1) / (getFactor().convertToDouble() - 1);
        });
    Value plain = expansion.constants(law.frequencies, {TableAxis::row});
    Value slopes = expansion.constants(growth, {TableAxis::row});
    return expansion.create<FreqsMapOp>(
        4,
        [&](ArrayRef<Real> x) {
          return x[2] / (1 + x[3] * (max(x[1], trained) / trained - 1));
        },
        FreqsType::get(getContext()), ValueRange{plain, slopes},
        law.frequencies.size());
  }
  SmallVector<Value> tables;
  for (DenseF64ArrayAttr divisors : {getShortFactor(), getLongFactor()})
    tables.push_back(expansion.constants(
        transform(law.frequencies,
                  [&](int64_t k, double w) { return w / divisors[k]; }),
        {TableAxis::row}));
  return expansion.create<FreqsMapOp>(
      4, [&](ArrayRef<Real> x) { return select(x[1] <= trained, x[2], x[3]); },
      FreqsType::get(getContext()), tables, law.frequencies.size());
}

AttentionFactors LongRopeAttr::getAttentionFactors(FactorSite site) const {
  double s = getFactor().convertToDouble(), m = 1;
  if (s > 1 && getAttention() == LongRopeFactor::su)
    m = std::sqrt(1 + std::log(s) / std::log(getOriginalLength()));
  if (s > 1 && getAttention() == LongRopeFactor::yarn)
    m = 0.1 * std::log(s) + 1;
  return site == FactorSite::rotation ? AttentionFactors{m, 1}
                                      : AttentionFactors{1, m * m};
}

int64_t LongRopeAttr::getUnscaledPrefix() const { return getKeepFirst(); }

//===----------------------------------------------------------------------===//
// Other laws
//===----------------------------------------------------------------------===//

LogicalResult Llama3Attr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 APFloat factor, APFloat low, APFloat high,
                                 int64_t originalLength, bool step) {
  // llama3_c1
  if (failed(verifyPositive(getMnemonic(), "factor", factor, emitError)) ||
      failed(
          verifyPositive(getMnemonic(), "low_freq_factor", low, emitError)) ||
      failed(verifyLength(getMnemonic(), originalLength, 1, emitError)))
    return failure();
  // llama3_c2
  if (step && high != low)
    return emitError() << "expected 'high_freq_factor' of #posenc.llama3 to be "
                          "'low_freq_factor' with 'step = true', which has no "
                          "blend between them, but got "
                       << high.convertToDouble() << " and "
                       << low.convertToDouble();
  if (step)
    return success();
  if (!high.isFinite() || high.convertToDouble() <= low.convertToDouble())
    return emitError() << "expected 'high_freq_factor' of #posenc.llama3 to be "
                          "greater than 'low_freq_factor', since the blend "
                          "divides by their difference: equal ones need 'step "
                          "= true', but got "
                       << high.convertToDouble() << " and "
                       << low.convertToDouble();
  return success();
}
SmallVector<double> Llama3Attr::scaleFrequencies(const RotaryLaw &law) const {
  double factor = getFactor().convertToDouble();
  double low = getLowFreqFactor().convertToDouble();
  double high = getHighFreqFactor().convertToDouble();
  return transform(law.frequencies, [&](int64_t, double w) {
    double rotations = getOriginalLength() * w / twoPi;
    if (getStep())
      return rotations >= low ? w : w / factor;
    double t = std::clamp((rotations - low) / (high - low), 0.0, 1.0);
    return (1 - t) * w / factor + t * w;
  });
}

LogicalResult
ProportionalAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         APFloat fraction, APFloat factor) {
  // proportional_c1
  double part = fraction.convertToDouble();
  if (!(part >= 0 && part <= 1))
    return emitError() << "expected 'fraction' of #posenc.proportional to be "
                          "from 0 to 1, but got "
                       << part;
  return verifyPositive(getMnemonic(), "factor", factor, emitError);
}
LogicalResult ProportionalAttr::verifyScaling(
    const RotaryLaw &law, function_ref<InFlightDiagnostic()> emitError) const {
  // proportional_c2
  if (law.dims != law.headDim)
    return emitError() << "expects a rotation of the whole head with "
                          "#posenc.proportional, whose pairs are those of the "
                          "head, but got "
                       << law.dims << " of " << law.headDim << " channels";
  return success();
}
SmallVector<double>
ProportionalAttr::scaleFrequencies(const RotaryLaw &law) const {
  double turning =
      std::floor(getFraction().convertToDouble() * law.headDim / 2);
  double factor = getFactor().convertToDouble();
  return transform(law.frequencies, [&](int64_t k, double w) {
    return k < turning ? w / factor : 0.0;
  });
}

LogicalResult NtkMixedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   APFloat factor, APFloat exponent) {
  // ntk_mixed_c1
  if (failed(verifyPositive(getMnemonic(), "factor", factor, emitError)))
    return failure();
  return verifyPositive(getMnemonic(), "exponent", exponent, emitError);
}
SmallVector<double> NtkMixedAttr::scaleFrequencies(const RotaryLaw &law) const {
  double exponent = getExponent().convertToDouble();
  double a = std::log(getFactor().convertToDouble()) /
             std::pow(law.dims / 2.0, exponent);
  return transform(law.frequencies, [&](int64_t k, double w) {
    return w * std::exp(-a * std::pow(k + 1.0, exponent));
  });
}

LogicalResult
PowerScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         APFloat kappa) {
  // power_scaling_c1
  if (!kappa.isFinite() || (kappa.isNegative() && !kappa.isZero()))
    return emitError() << "expected 'kappa' of #posenc.power_scaling to be "
                          "finite and not negative, but got "
                       << kappa.convertToDouble();
  return success();
}
SmallVector<double>
PowerScalingAttr::scaleFrequencies(const RotaryLaw &law) const {
  double kappa = getKappa().convertToDouble();
  return transform(law.frequencies, [&](int64_t k, double w) {
    return w * std::pow(1 - 2.0 * k / law.dims, kappa);
  });
}

LogicalResult
TruncatedScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             APFloat low, APFloat high, APFloat rho) {
  // truncated_scaling_c1
  double a = low.convertToDouble(), b = high.convertToDouble();
  if (!(a >= 0 && a <= b && std::isfinite(b)) || !rho.isFinite())
    return emitError() << "expected 'low', 'high' and 'rho' of "
                          "#posenc.truncated_scaling to be finite with 0 <= "
                          "low <= high, but got "
                       << a << ", " << b << " and " << rho.convertToDouble();
  return success();
}
SmallVector<double>
TruncatedScalingAttr::scaleFrequencies(const RotaryLaw &law) const {
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  double rho = getRho().convertToDouble();
  return transform(law.frequencies, [&](int64_t, double w) {
    return w >= high ? w : w > low ? rho : 0.0;
  });
}
