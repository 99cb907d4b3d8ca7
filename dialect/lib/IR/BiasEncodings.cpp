// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that add a bias to the score: checks and expansions.
#include "TermMath.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

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
// Alibi
//===----------------------------------------------------------------------===//

SmallVector<double> posenc::geometricSlopes(int64_t heads, double maxExponent) {
  int64_t power = llvm::bit_floor(static_cast<uint64_t>(heads));
  SmallVector<double> slopes;
  for (int64_t h = 0; h < power; ++h)
    slopes.push_back(std::exp2(-maxExponent * (h + 1) / power));
  for (int64_t h = 0; h < heads - power; ++h)
    slopes.push_back(std::exp2(-maxExponent * (2 * h + 1) / (2 * power)));
  return slopes;
}

namespace {
/// What a preset stands for, or what is stated.
struct AlibiParameters {
  AlibiForm form;
  TermSite site;
  AlibiRounding rounding;
};
} // namespace

static AlibiParameters resolve(AlibiAttr attr) {
  if (attr.getPreset() == "hf-falcon")
    return {AlibiForm::key, TermSite::inside, AlibiRounding::bf16};
  return {attr.getForm(), attr.getSite(), attr.getRounding()};
}

LogicalResult AlibiAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                AlibiForm form, APFloat maxExponent, StringRef,
                                TermSite site, APFloat slopeScale,
                                AlibiRounding rounding, StringRef preset,
                                ScalarSource slopes) {
  // alibi_c1
  if (failed(verifyPositive(emitError, getMnemonic(), "max_exponent",
                            maxExponent)) ||
      failed(
          verifyPositive(emitError, getMnemonic(), "slope_scale", slopeScale)))
    return failure();
  // alibi_c4
  if (!preset.empty() && preset != "hf-falcon")
    return emitError() << "expected 'preset' of #posenc.alibi to be "
                          "\"hf-falcon\", but got \""
                       << preset << "\"";
  if (!preset.empty() &&
      (form != AlibiForm::causal || site != TermSite::outside ||
       rounding != AlibiRounding::none))
    return emitError() << "expected #posenc.alibi not to state 'form', 'site' "
                          "or 'rounding' beside a 'preset' that does";
  // alibi_c3
  if (rounding == AlibiRounding::bf16 && form != AlibiForm::key)
    return emitError() << "expected #posenc.alibi with 'rounding = bf16' to "
                          "state 'form = key': positions are rounded, not "
                          "distances";
  // alibi_c6
  if (slopes == ScalarSource::operands &&
      (!maxExponent.isExactlyValue(8.0) || !slopeScale.isExactlyValue(1.0) ||
       rounding != AlibiRounding::none || !preset.empty()))
    return emitError() << "expected #posenc.alibi with 'slopes = operands' not "
                          "to state 'max_exponent', 'slope_scale', 'rounding' "
                          "or 'preset', which make slopes";
  return success();
}

StringRef AlibiAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> AlibiAttr::getOperandNames() const {
  if (getSlopes() == ScalarSource::constants)
    return {};
  return getOperands(getName(), {"slopes"});
}

/// Whether a constant added to all biased scores of a row changes more than the
/// log-sum-exp.
static bool seesRowConstants(Attribute encoding) {
  if (auto cap = dyn_cast<SoftcapAttr>(encoding))
    return cap.getSite() == CapSite::after_bias;
  return isa<AttentionSinkAttr, SoftmaxOffByOneAttr, StickBreakingAttr,
             RetentionAttr, RetentionDecayAttr, LinearAttentionAttr, CopeAttr,
             DapeAttr>(encoding);
}

LogicalResult
AlibiAttr::verifyInKernel(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  // alibi_c2
  AlibiForm form = resolve(*this).form;
  // alibi_c5
  if (form == AlibiForm::key)
    for (Attribute entry : kernel.getEncodeAttr())
      if (seesRowConstants(entry))
        return emitError() << "#posenc.alibi with 'form = key' differs from "
                              "'form = causal' by a constant of the row, which "
                           << entry << " sees: state 'form = causal'";
  if (form != AlibiForm::symmetric && kernel.getMaskOrDefault().showsFuture())
    return emitError()
           << "#posenc.alibi with 'form = " << stringifyAlibiForm(form)
           << "' would reward future keys, which this mask shows: state 'form "
              "= symmetric' or mask(#posenc.causal)";
  return success();
}

/// To bf16 by way of f32, as torch does.
static double roundToBf16(double value) {
  APFloat rounded(value);
  bool losesInfo;
  for (const llvm::fltSemantics *format :
       {&APFloat::IEEEsingle(), &APFloat::BFloat()})
    rounded.convert(*format, APFloat::rmNearestTiesToEven, &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

/// The same of a number of a region: to a multiple of the unit of its
/// binade. A binary logarithm that is off just below a power of two does no
/// harm: the number rounds to that power with either unit.
static Real roundToBf16(const Real &value) {
  Real magnitude = abs(value);
  Real unit = exp2(floor(log2(max(magnitude, 1e-30))) - 7.0);
  Real units = magnitude / unit;
  Real rounded = floor(units + 0.5);
  Real parity = rounded - floor(rounded / 2.0) * 2.0;
  Real excess = rounded - units;
  Real tie = select(excess == 0.5, parity, 0.0);
  return copysign((rounded - tie) * unit, value);
}

/// The place of a whole number of bf16 among them: 8 significant bits.
static int64_t countWholeNumbers(double value) {
  if (value < 0)
    return -countWholeNumbers(-value);
  if (value < 256)
    return value;
  int exponent = std::ilogb(value);
  return 128 * (exponent - 6) + std::ldexp(value, 7 - exponent) - 128;
}

void AlibiAttr::advise(KernelOp &kernel, int64_t context,
                       function_ref<void(const Twine &)> warn) const {
  auto law = dyn_cast<IotaAttr>(kernel.getPositionsOrDefault());
  if (resolve(*this).rounding == AlibiRounding::none || !law)
    return;
  int64_t begin = law.getOffset(), last = begin + context - 1;
  // Beyond 256 every other number is rounded, at least.
  for (int64_t p = begin; p <= last; ++p) {
    double rounded = roundToBf16(double(p));
    if (rounded == p)
      continue;
    int64_t left = countWholeNumbers(roundToBf16(double(last))) -
                   countWholeNumbers(roundToBf16(double(begin))) + 1;
    return warn("#posenc.alibi rounds positions to bf16, in which " + Twine(p) +
                " is " + Twine(int64_t(rounded)) + ": of the " +
                Twine(context) + " positions of the context " + Twine(left) +
                " differ (Hugging Face transformers, models/falcon/"
                "modeling_falcon.py, build_alibi_tensor)");
  }
}

/// m_h
static Value makeSlopes(AlibiAttr alibi, Expansion &expansion, bool isRounded) {
  if (alibi.getSlopes() == ScalarSource::operands)
    return expansion.operand(alibi.getOperandNames().front(),
                             {TableAxis::head});
  SmallVector<double> slopes = geometricSlopes(
      expansion.kernel.getHeads(), alibi.getMaxExponent().convertToDouble());
  for (double &slope : slopes) {
    slope *= alibi.getSlopeScale().convertToDouble();
    if (isRounded)
      slope = roundToBf16(slope);
  }
  return expansion.constants(slopes, {TableAxis::head});
}

void AlibiAttr::expand(Expansion &expansion) const {
  MLIRContext *context = expansion.getContext();
  AlibiParameters law = resolve(*this);
  AlibiForm form = law.form;
  TermSite site = law.site;
  bool isRounded = law.rounding == AlibiRounding::bf16;
  double factor = getFactor(expansion, site);
  Value table = makeSlopes(*this, expansion, isRounded);
  Value place = form == AlibiForm::key
                    ? expansion.position(Side::key)
                    : expansion.relation(DifferenceAttr::get(
                          context, Orientation::query_minus_key));
  addTerm(expansion, site,
          expansion.bias({place, table}, [&](ArrayRef<Real> x) {
            Real d = x[0];
            if (form == AlibiForm::symmetric)
              d = abs(d);
            if (isRounded)
              d = roundToBf16(d);
            Real product = d * x[1];
            if (isRounded)
              product = roundToBf16(product);
            if (form != AlibiForm::key)
              product = -product;
            return factor == 1 ? product : product * factor;
          }));
}

//===----------------------------------------------------------------------===//
// T5Bias
//===----------------------------------------------------------------------===//

LogicalResult T5BiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t buckets, int64_t maxDistance,
                                 Direction direction, StringRef) {
  // t5_bias_c1, t5_bias_c2
  return verifyT5Buckets(emitError, getMnemonic(), buckets, maxDistance,
                         direction);
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

void T5BiasAttr::advise(KernelOp &, int64_t context,
                        function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(),
              getT5Reach(getBuckets(), getMaxDistance(), getDirection()),
              "arXiv 1910.10683, section 2.1");
}

void T5BiasAttr::expand(Expansion &expansion) const {
  Attribute law = getT5Buckets(expansion.getContext(), getBuckets(),
                               getMaxDistance(), getDirection());
  expansion.outsideTerms.push_back(expansion.lookup(
      expansion.relation(law), getOperandNames().front(), getBuckets()));
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

void ToeplitzBiasAttr::advise(KernelOp &, int64_t context,
                              function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(), getMaxDistance(),
              "the table ends there");
}

void ToeplitzBiasAttr::expand(Expansion &expansion) const {
  auto law = ClippedDistanceAttr::get(expansion.builder.getContext(),
                                      getOrientation(), getMaxDistance());
  expansion.outsideTerms.push_back(expansion.lookup(expansion.relation(law),
                                                    getOperandNames().front(),
                                                    2 * getMaxDistance() + 1));
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
  Value table = expansion.operand(getName(), getPairAxes(getBatch()));
  expansion.outsideTerms.push_back(
      expansion.bias({table}, [](ArrayRef<Real> x) { return x[0]; }));
}

//===----------------------------------------------------------------------===//
// Kerple
//===----------------------------------------------------------------------===//

LogicalResult KerpleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 KerpleKind kind, APFloat floor,
                                 APFloat powerMax, TermSwitch bias,
                                 TermSwitch weight, StringRef) {
  // kerple_c1
  if (failed(verifyPositive(emitError, getMnemonic(), "floor", floor)) ||
      failed(verifyPositive(emitError, getMnemonic(), "power_max", powerMax)))
    return failure();
  if (powerMax < floor)
    return emitError() << "expected 'floor' of #posenc.kerple to be at most "
                          "'power_max' ("
                       << powerMax.convertToDouble() << "), but got "
                       << floor.convertToDouble();
  // kerple_c2
  if (weight == TermSwitch::on && kind != KerpleKind::power)
    return emitError() << "expected 'kind = power' of #posenc.kerple beside "
                          "'weight = on', since no published code multiplies "
                          "by another kernel";
  // kerple_c3
  if (bias == TermSwitch::off && weight == TermSwitch::off)
    return emitError() << "expected 'bias' or 'weight' of #posenc.kerple to be "
                          "on: without both it does nothing";
  return success();
}

StringRef KerpleAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> KerpleAttr::getOperandNames() const {
  SmallVector<StringRef> suffixes;
  if (getBias() == TermSwitch::on)
    suffixes.append({"p", "a"});
  if (getWeight() == TermSwitch::on)
    suffixes.append({"weight_p", "weight_a"});
  return getOperands(getName(), suffixes);
}
LogicalResult
KerpleAttr::verifyInKernel(KernelOp &,
                           function_ref<InFlightDiagnostic()>) const {
  return success();
}

void KerpleAttr::expand(Expansion &expansion) const {
  Value distance = expansion.relation(DifferenceAttr::get(
      expansion.getContext(), Orientation::query_minus_key));
  double least = getFloor().convertToDouble();
  double most = getPowerMax().convertToDouble();
  // p, a of the sum, then those of the product.
  SmallVector<Value> numbers;
  for (const std::string &name : getOperandNames())
    numbers.push_back(expansion.operand(name, {TableAxis::head}));
  auto power = [=](const Real &d, const Real &p, const Real &a) {
    return max(a, least) * pow(abs(d), min(max(p, least), most));
  };
  if (getBias() == TermSwitch::on) {
    bool isLog = getKind() == KerpleKind::log;
    expansion.outsideTerms.push_back(expansion.bias(
        {distance, numbers[0], numbers[1]}, [&](ArrayRef<Real> x) {
          if (!isLog)
            return -power(x[0], x[1], x[2]);
          return -(max(x[1], least) * log1p(max(x[2], least) * abs(x[0])));
        }));
  }
  if (getWeight() == TermSwitch::off)
    return;
  SmallVector<Value> inputs{distance, numbers[numbers.size() - 2],
                            numbers.back()};
  expansion.caps.push_back([=, &expansion](Value score) {
    return expansion.map({score}, inputs, [=](ArrayRef<Real> x) {
      return x[0] * exp(-power(x[1], x[2], x[3]));
    });
  });
}

//===----------------------------------------------------------------------===//
// Fire
//===----------------------------------------------------------------------===//

LogicalResult FireAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t hidden, APFloat c, APFloat length,
                               APFloat epsilon, ScalarSource scalars,
                               StringRef) {
  // fire_c1
  if (failed(verifyRange(emitError, getMnemonic(), "hidden", hidden, 1, 65536)))
    return failure();
  // fire_c2
  if (!c.isFinite())
    return emitError() << "expected 'c' of #posenc.fire to be finite, but got "
                       << c.convertToDouble();
  if (failed(verifyPositive(emitError, getMnemonic(), "length", length)))
    return failure();
  if (!epsilon.isFinite() || epsilon.isNegative())
    return emitError() << "expected 'epsilon' of #posenc.fire to be finite and "
                          "not negative, but got "
                       << epsilon.convertToDouble();
  // fire_c3
  if (scalars == ScalarSource::operands &&
      (c.convertToDouble() != 0.1 || length.convertToDouble() != 512.0))
    return emitError() << "expected #posenc.fire not to state 'c' and 'length' "
                          "beside 'scalars = operands'";
  return success();
}

StringRef FireAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> FireAttr::getOperandNames() const {
  if (getScalars() == ScalarSource::operands)
    return getOperands(getName(), {"w1", "b1", "w2", "b2", "c", "length"});
  return getOperands(getName(), {"w1", "b1", "w2", "b2"});
}
LogicalResult
FireAttr::verifyInKernel(KernelOp &, function_ref<InFlightDiagnostic()>) const {
  return success();
}

void FireAttr::expand(Expansion &expansion) const {
  SmallVector<std::string> names = getOperandNames();
  Value query = expansion.position(Side::query);
  Value distance = expansion.relation(DifferenceAttr::get(
      expansion.getContext(), Orientation::query_minus_key));
  SmallVector<Value> inputs{query, distance};
  bool isPassed = getScalars() == ScalarSource::operands;
  if (isPassed)
    for (const std::string &name : ArrayRef(names).drop_front(4))
      inputs.push_back(expansion.operand(name, {TableAxis::head}));
  Value unit = expansion.sumIndex(getHidden());
  inputs.push_back(unit);
  for (unsigned i : {0, 1})
    inputs.push_back(
        expansion.operand(names[i], {TableAxis::row}, getHidden()));
  inputs.push_back(expansion.operand(
      names[2], {TableAxis::row, TableAxis::head}, getHidden()));
  expansion.outsideTerms.push_back(
      expansion.bias(inputs, [&](ArrayRef<Real> x) {
        Real c = isPassed ? x[2] : getC().convertToDouble();
        Real length = isPassed ? abs(x[3]) : getLength().convertToDouble();
        ArrayRef<Real> layers = x.take_back(3);
        auto psi = [&](const Real &y) { return log1p(abs(c * y)); };
        Real numerator = psi(x[1]);
        Real denominator = psi(max(x[0], length));
        Real input = numerator / (denominator + getEpsilon().convertToDouble());
        return layers[2] * max(layers[0] * input + layers[1], 0.0);
      }));
  // The bias of the last layer must not be summed over the hidden units.
  Value last = expansion.operand(names[3], {TableAxis::head});
  expansion.outsideTerms.push_back(
      expansion.bias({last}, [](ArrayRef<Real> x) { return x[0]; }));
}

//===----------------------------------------------------------------------===//
// Sandwich
//===----------------------------------------------------------------------===//

LogicalResult SandwichAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   APFloat base, int64_t dims, int64_t first,
                                   Direction, StringRef) {
  // sandwich_c1
  if (failed(verifyPositive(emitError, getMnemonic(), "base", base)))
    return failure();
  // sandwich_c2
  if (dims < 0 || dims % 2 != 0 || dims > 65536)
    return emitError() << "expected 'dims' of #posenc.sandwich to be even and "
                          "from 2 to 65536, or 0 for the head size, but got "
                       << dims;
  // sandwich_c3
  return verifyRange(emitError, getMnemonic(), "first", first, 0, 1);
}

StringRef SandwichAttr::getEncodingName() const { return getName(); }
LogicalResult
SandwichAttr::verifyInKernel(KernelOp &,
                             function_ref<InFlightDiagnostic()>) const {
  return success();
}

void SandwichAttr::expand(Expansion &expansion) const {
  int64_t heads = expansion.kernel.getHeads();
  int64_t dims = getDims() == 0 ? expansion.kernel.getHeadDim() : getDims();
  SmallVector<double> frequencies, scales;
  for (int64_t t = 0; t < dims / 2; ++t)
    frequencies.push_back(
        std::pow(getBase().convertToDouble(), -2.0 * (t + getFirst()) / dims));
  for (int64_t h = 0; h < heads; ++h)
    scales.push_back(8.0 * (h + 1) / heads);
  Value distance = expansion.relation(DifferenceAttr::get(
      expansion.getContext(), Orientation::query_minus_key));
  Value index = expansion.sumIndex(dims / 2);
  Value frequency = expansion.constants(frequencies, {TableAxis::row});
  Value scale = expansion.constants(scales, {TableAxis::head});
  bool isCausal = getDirection() == Direction::causal;
  expansion.outsideTerms.push_back(expansion.bias(
      {distance, index, frequency, scale}, [&](ArrayRef<Real> x) {
        Real d = isCausal ? max(x[0], 0.0) : abs(x[0]);
        return (cos(d * x[2]) - 1.0) / x[3];
      }));
}

//===----------------------------------------------------------------------===//
// Tupe
//===----------------------------------------------------------------------===//

LogicalResult TupeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               TupeVariant, int64_t length, TupeTheta,
                               int64_t buckets, int64_t maxDistance,
                               StringRef) {
  // tupe_c1
  if (failed(
          verifyRange(emitError, getMnemonic(), "length", length, 1, 1 << 20)))
    return failure();
  // tupe_c2
  return verifyT5Buckets(emitError, getMnemonic(), buckets, maxDistance,
                         Direction::bidirectional);
}

StringRef TupeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> TupeAttr::getOperandNames() const {
  SmallVector<StringRef> suffixes{"queries", "keys"};
  if (getTheta() == TupeTheta::operands)
    suffixes.append({"theta1", "theta2"});
  if (getVariant() == TupeVariant::relative)
    suffixes.push_back("table");
  return getOperands(getName(), suffixes);
}
std::optional<double> TupeAttr::getFixedScale(KernelOp &kernel) const {
  return 1.0 / std::sqrt(2.0 * kernel.getHeadDim());
}
LogicalResult
TupeAttr::verifyInKernel(KernelOp &, function_ref<InFlightDiagnostic()>) const {
  return success();
}

/// `row` unless the class token is the query or the key.
static Real overrideClass(const Real &queryPosition, const Real &keyPosition,
                          const Real &asQuery, const Real &asKey,
                          const Real &row) {
  return select(queryPosition == 0, asQuery,
                select(keyPosition == 0, asKey, row));
}

void TupeAttr::advise(KernelOp &, int64_t context,
                      function_ref<void(const Twine &)> warn) const {
  advisePositions(warn, context, getMnemonic(), getLength(),
                  "arXiv 2006.15595, section 3.1");
}

void TupeAttr::expand(Expansion &expansion) const {
  Value query = expansion.position(Side::query);
  Value key = expansion.position(Side::key);
  SmallVector<std::string> names = getOperandNames();
  constexpr TableAxis axes[] = {TableAxis::row, TableAxis::head,
                                TableAxis::channel};
  int64_t headDim = expansion.kernel.getHeadDim();
  int64_t rows = getLength() + (getTheta() == TupeTheta::rows);
  double scale = expansion.scale;
  Value channel = expansion.sumIndex(headDim);
  Value queries = expansion.operand(names[0], axes, rows, headDim);
  Value keys = expansion.operand(names[1], axes, rows, headDim);
  // sum_c queries[row of i, h, c] keys[row of j, h, c] scale
  auto buildProduct = [&](Value queryRow, Value keyRow) {
    return expansion.bias(
        {channel, queryRow, queries, keyRow, keys},
        [=](ArrayRef<Real> x) { return x[2] * x[4] * scale; });
  };
  Value term;
  if (getTheta() == TupeTheta::rows) {
    // Row 0 is against row 0, row 1 against row 1.
    auto buildTheta = [&](int64_t row) {
      Value fixed = expansion.relationMap(
          {}, rows, [=](ArrayRef<Real>) { return Real(double(row)); });
      return buildProduct(fixed, fixed);
    };
    auto next = [](ArrayRef<Real> x) { return x[0] + 1; };
    Value queryRow = expansion.remap(query, next);
    Value keyRow = expansion.remap(key, next);
    Value product = buildProduct(queryRow, keyRow);
    Value asQuery = buildTheta(0), asKey = buildTheta(1);
    term = expansion.map({product, asQuery, asKey}, {query, key},
                         [](ArrayRef<Real> x) {
                           return overrideClass(x[3], x[4], x[1], x[2], x[0]);
                         });
  } else {
    Value product = buildProduct(query, key);
    Value asQuery = expansion.operand(names[2], {TableAxis::head});
    Value asKey = expansion.operand(names[3], {TableAxis::head});
    term = expansion.map({product}, {query, key, asQuery, asKey},
                         [](ArrayRef<Real> x) {
                           return overrideClass(x[1], x[2], x[3], x[4], x[0]);
                         });
  }
  expansion.insideTerms.push_back(term);
  if (getVariant() == TupeVariant::absolute)
    return;
  double buckets = getBuckets();
  Value bucket = expansion.relation(getT5Buckets(expansion.getContext(),
                                                 getBuckets(), getMaxDistance(),
                                                 Direction::bidirectional));
  Value row = expansion.relationMap(
      {bucket, query, key}, getBuckets() + 1, [=](ArrayRef<Real> x) {
        return overrideClass(x[1], x[2], buckets / 2, buckets, x[0]);
      });
  expansion.outsideTerms.push_back(
      expansion.lookup(row, names.back(), getBuckets() + 1));
}

//===----------------------------------------------------------------------===//
// Dape
//===----------------------------------------------------------------------===//

LogicalResult DapeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               DapeVersion, int64_t hidden,
                               APFloat negativeSlope, StringRef) {
  // dape_c1
  if (failed(verifyRange(emitError, getMnemonic(), "hidden", hidden, 1, 4096)))
    return failure();
  // dape_c2
  double slope = negativeSlope.convertToDouble();
  if (!(slope >= 0 && slope <= 1))
    return emitError() << "expected 'negative_slope' of #posenc.dape to be "
                          "from 0 to 1, but got "
                       << slope;
  return success();
}

StringRef DapeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> DapeAttr::getOperandNames() const {
  return getOperands(getName(), {"w1", "b1", "w2", "b2"});
}
LogicalResult
DapeAttr::verifyInKernel(KernelOp &, function_ref<InFlightDiagnostic()>) const {
  return success();
}

void DapeAttr::expand(Expansion &expansion) const {
  OpBuilder &builder = expansion.builder;
  Location loc = expansion.loc;
  SmallVector<std::string> names = getOperandNames();
  bool isConvolved = getVersion() == DapeVersion::v2;
  int64_t taps = isConvolved ? 3 : 1, hidden = getHidden();
  Value tables[] = {
      expansion.operand(names[0], {TableAxis::row, TableAxis::channel},
                        2 * expansion.kernel.getHeads() * taps, hidden),
      expansion.operand(names[1], {TableAxis::channel}, 0, hidden),
      expansion.operand(names[2], {TableAxis::row, TableAxis::head},
                        hidden * taps),
      expansion.operand(names[3], {TableAxis::head})};
  Value bias;
  for (Value term : expansion.outsideTerms)
    bias = bias ? AddOp::create(builder, loc, bias, term).getResult() : term;
  if (!bias)
    bias = expansion.bias({}, [](ArrayRef<Real>) { return Real(0); });
  expansion.outsideTerms.clear();
  double slope = getNegativeSlope().convertToDouble();
  // Before the biases that follow, and after the dots and inside terms.
  expansion.caps.push_back([=, &expansion](Value score) -> Value {
    OpBuilder &b = expansion.builder;
    Value biased = bias;
    if (isConvolved) {
      // A convolution over hidden keys must see 0, as code that multiplies by
      // a triangle does.
      MaskClauseAttrInterface mask = expansion.kernel.getMaskOrDefault();
      score = mask.expandMask(expansion, score);
      biased = mask.expandMask(expansion, bias);
    }
    Value network = expansion.create<HeadMlpOp>(
        1, [=](ArrayRef<Real> x) { return max(x[0], x[0] * slope); }, tables[0],
        tables[1], tables[2], tables[3], ValueRange{score, biased}, taps);
    Value sum = AddOp::create(b, loc, score, biased);
    return AddOp::create(b, loc, sum, network);
  });
}
