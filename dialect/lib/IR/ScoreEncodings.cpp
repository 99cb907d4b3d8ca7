// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to scores, and how they become weights: checks and expansions.
#include "TermMath.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Softcap
//===----------------------------------------------------------------------===//

LogicalResult SoftcapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  APFloat cap, CapSite, StringRef) {
  // softcap_c1
  return verifyPositive(emitError, getMnemonic(), "cap", cap);
}

StringRef SoftcapAttr::getEncodingName() const { return getName(); }
LogicalResult
SoftcapAttr::verifyInKernel(KernelOp &,
                            function_ref<InFlightDiagnostic()>) const {
  return success();
}

void SoftcapAttr::expand(Expansion &expansion) const {
  double cap = getCap().convertToDouble();
  auto &functions =
      getSite() == CapSite::before_bias ? expansion.caps : expansion.maps;
  functions.push_back([cap, &expansion](Value score) {
    return expansion.map(
        {score}, {}, [=](ArrayRef<Real> x) { return tanh(x[0] / cap) * cap; });
  });
}

//===----------------------------------------------------------------------===//
// Cope
//===----------------------------------------------------------------------===//

LogicalResult CopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t positions, TableSharing, TermSite,
                               StringRef) {
  // cope_c1
  return verifyRange(emitError, getMnemonic(), "positions", positions, 1,
                     65536);
}

StringRef CopeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> CopeAttr::getOperandNames() const {
  return getOperands(getName(), {"embedding"});
}
LogicalResult
CopeAttr::verifyInKernel(KernelOp &kernel,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // cope_c2
  return verifyHidesFuture(kernel, emitError, getMnemonic(),
                           "gates of future keys would count as distance");
}

void CopeAttr::expand(Expansion &expansion) const {
  int64_t headDim = expansion.kernel.getHeadDim();
  SmallVector<TableAxis> axes{TableAxis::row, TableAxis::channel};
  if (getTables() == TableSharing::per_head)
    axes.insert(axes.begin() + 1, TableAxis::head);
  Value table = expansion.operand(getOperandNames().front(), axes,
                                  getPositions(), headDim);
  Value query = expansion.query();
  double factor = getFactor(expansion, getSite());
  // Rows of a table are clamped to it: positions - 1 bounds the count.
  expansion.scans.push_back([=, &expansion](Value score) -> Value {
    Value count = expansion.create<RowscanOp>(
        1, [](ArrayRef<Real> x) { return sigmoid(x[0]); }, score,
        ScanKind::inclusive);
    Value term = buildTableDot(expansion, query, table, count, factor);
    return AddOp::create(expansion.builder, expansion.loc, score, term);
  });
}

//===----------------------------------------------------------------------===//
// Fox
//===----------------------------------------------------------------------===//

StringRef FoxAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> FoxAttr::getOperandNames() const {
  return getOperands(getName(), {"gates"});
}
LogicalResult
FoxAttr::verifyInKernel(KernelOp &kernel,
                        function_ref<InFlightDiagnostic()> emitError) const {
  // fox_c1
  return verifyHidesFuture(kernel, emitError, getMnemonic(),
                           "its bias would reward others");
}

void FoxAttr::expand(Expansion &expansion) const {
  TableType ofQuery =
      TableType::get(expansion.getContext(),
                     {TableAxis::batch, TableAxis::head, TableAxis::query});
  Value gates =
      expansion.operand(getOperandNames().front(),
                        {TableAxis::batch, TableAxis::head, TableAxis::key});
  bool isLogit = getGates() == GateForm::logits;
  Value sum = expansion.create<PrefixSumOp>(
      1, [=](ArrayRef<Real> x) { return isLogit ? -softplus(-x[0]) : x[0]; },
      gates.getType(), gates);
  Value atQuery = AtQueryOp::create(
      expansion.builder, expansion.loc, ofQuery, sum,
      expansion.kernel.getPositionsOrDefault().getAlignment());
  expansion.outsideTerms.push_back(expansion.bias(
      {atQuery, sum}, [](ArrayRef<Real> x) { return x[0] - x[1]; }));
}

//===----------------------------------------------------------------------===//
// RetentionDecay
//===----------------------------------------------------------------------===//

/// ln(1 - 2^(-first - h)).
static SmallVector<double> getLogDecays(int64_t heads, double first) {
  SmallVector<double> decays;
  for (int64_t h = 0; h < heads; ++h)
    decays.push_back(std::log1p(-std::exp2(-first - h)));
  return decays;
}

LogicalResult
RetentionDecayAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           APFloat firstExponent, ScalarSource, StringRef) {
  // retention_decay_c1
  return verifyPositive(emitError, getMnemonic(), "first_exponent",
                        firstExponent);
}

StringRef RetentionDecayAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> RetentionDecayAttr::getOperandNames() const {
  if (getDecay() == ScalarSource::operands)
    return getOperands(getName(), {"gamma"});
  return {};
}
LogicalResult RetentionDecayAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // retention_decay_c2
  return verifyHidesFuture(kernel, emitError, getMnemonic(),
                           "scores of others would grow");
}

void RetentionDecayAttr::expand(Expansion &expansion) const {
  bool isPassed = getDecay() == ScalarSource::operands;
  Value table =
      isPassed ? expansion.operand(getOperandNames().front(), {TableAxis::head})
               : expansion.constants(
                     getLogDecays(expansion.kernel.getHeads(),
                                  getFirstExponent().convertToDouble()),
                     {TableAxis::head});
  Value distance = expansion.relation(DifferenceAttr::get(
      expansion.getContext(), Orientation::query_minus_key));
  expansion.maps.push_back([=, &expansion](Value score) {
    return expansion.map({score}, {distance, table}, [=](ArrayRef<Real> x) {
      Real rate = isPassed ? log(x[2]) : x[2];
      return x[0] * exp(x[1] * rate);
    });
  });
}

//===----------------------------------------------------------------------===//
// ComplexAttention
//===----------------------------------------------------------------------===//

LogicalResult
ComplexAttentionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             ComplexTerm, TermSwitch positions,
                             int64_t modelDim, APFloat base, StringRef) {
  // complex_attention_c1
  if (failed(verifyModelDim(emitError, getMnemonic(), modelDim)) ||
      failed(verifyPositive(emitError, getMnemonic(), "base", base)))
    return failure();
  if (positions == TermSwitch::off && modelDim != 0)
    return emitError() << "expected 'model_dim' of #posenc.complex_attention "
                          "beside 'positions = on' only";
  return success();
}

StringRef ComplexAttentionAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ComplexAttentionAttr::getOperandNames() const {
  if (getPositions() == TermSwitch::off)
    return {};
  return getOperands(getName(), {"u", "v", "w"});
}
std::optional<double>
ComplexAttentionAttr::getFixedScale(KernelOp &kernel) const {
  return 1.0 / std::sqrt(kernel.getHeadDim() / 2.0);
}
LogicalResult ComplexAttentionAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // complex_attention_c2
  if (getPositions() == TermSwitch::off)
    return success();
  return verifyHidesFuture(kernel, emitError, getMnemonic(),
                           "the code's distances are not defined for others");
}

/// The scaled modulus of a complex number made of two scores.
static Value buildModulus(Expansion &expansion, Value real, Value imaginary) {
  double scale = expansion.scale;
  return expansion.map({real, imaginary}, {}, [=](ArrayRef<Real> x) {
    return sqrt(x[0] * x[0] + x[1] * x[1]) * scale;
  });
}

/// The modulus of (q + v) . r(p_i - p_j), whose parts are those of q; u joins
/// the queries.
static void addPositions(Expansion &expansion, ArrayRef<std::string> names,
                         int64_t modelDim, double base) {
  int64_t headDim = expansion.kernel.getHeadDim();
  int64_t width =
      modelDim == 0 ? expansion.kernel.getHeads() * headDim / 2 : modelDim;
  Value table = projectSinusoids(
      expansion, {width, base, TermExponent::half, TermLayout::concatenated, 0},
      names[2]);
  Value distance = expansion.relation(DifferenceAttr::get(
      expansion.getContext(), Orientation::query_minus_key));
  Value query = addVector(expansion, expansion.query(), names[1]);
  auto part = [&](int64_t first) {
    SmallVector<double> kept(headDim, 0.0);
    std::fill_n(kept.begin() + first, headDim / 2, 1.0);
    Value ones = expansion.constants(kept, {TableAxis::channel});
    Value half =
        ChannelScaleOp::create(expansion.builder, expansion.loc,
                               query.getType(), query, ones, APFloat(0.0));
    return buildTableDot(expansion, half, table, distance, 1.0);
  };
  Value real = part(0), imaginary = part(headDim / 2);
  expansion.insideTerms.push_back(buildModulus(expansion, real, imaginary));
  expansion.transformQueries(
      [&](Value vector) { return addVector(expansion, vector, names[0]); });
}

/// The scaled modulus of the product of complex queries and keys.
static Value buildProduct(Expansion &expansion, const Expansion::Branch &branch,
                          bool isFaithful) {
  int64_t half = expansion.kernel.getHeadDim() / 2;
  auto dot = [&](int64_t query, int64_t key) -> Value {
    return DotOp::create(
        expansion.builder, expansion.loc, branch.query, branch.key,
        APFloat(1.0),
        DenseI64ArrayAttr::get(expansion.getContext(), {query, key, half}));
  };
  SmallVector<Value> products{dot(0, 0)};
  products.push_back(dot(half, half));
  products.push_back(dot(0, half));
  if (!isFaithful)
    products.push_back(dot(half, 0));
  double scale = expansion.scale;
  return expansion.map(products, {}, [=](ArrayRef<Real> x) {
    Real real = x[0] - x[1];
    Real imaginary = x[2] + (isFaithful ? x[2] : x[3]);
    Real square = real * real;
    return sqrt(square + imaginary * imaginary) * scale;
  });
}

void ComplexAttentionAttr::expand(Expansion &expansion) const {
  if (getPositions() == TermSwitch::on)
    addPositions(expansion, getOperandNames(), getModelDim(),
                 getBase().convertToDouble());
  bool isFaithful = getTerm() == ComplexTerm::faithful;
  expansion.buildDots = [isFaithful](Expansion &e) {
    Value score;
    for (const Expansion::Branch &branch : e.branches) {
      Value modulus = buildProduct(e, branch, isFaithful);
      score = branch.select ? branch.select(score, modulus) : modulus;
    }
    return score;
  };
}

//===----------------------------------------------------------------------===//
// What makes the weights
//===----------------------------------------------------------------------===//

/// A kernel has one normaliser.
static LogicalResult verifyAlone(KernelOp &kernel, Attribute encoding,
                                 function_ref<InFlightDiagnostic()> emitError) {
  for (Attribute entry : kernel.getEncodeAttr()) {
    if (entry == encoding)
      return success(); // the later of two complains
    if (isa<AttentionSinkAttr, SoftmaxOffByOneAttr, StickBreakingAttr,
            RetentionAttr, LinearAttentionAttr>(entry))
      return emitError() << "expected one encoding that makes the weights, but "
                            "got "
                         << entry << " and " << encoding;
  }
  return success();
}

static void addSink(Expansion &expansion, Value table) {
  expansion.normalize = [table, &expansion](Value score) -> Value {
    return NormalizeOp::create(expansion.builder, expansion.loc,
                               WeightsType::get(expansion.getContext()),
                               NormalizeKind::softmax, score,
                               /*denominator=*/Value(), table,
                               /*bounds=*/DenseF64ArrayAttr());
  };
}

StringRef AttentionSinkAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> AttentionSinkAttr::getOperandNames() const {
  if (getValues())
    return {};
  return getOperands(getName(), {"logits"});
}
LogicalResult AttentionSinkAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // attention_sink_c1
  if (DenseF64ArrayAttr values = getValues()) {
    if (values.size() != static_cast<int64_t>(kernel.getHeads()))
      return emitError() << "expected 'values' of #posenc.attention_sink to "
                            "have one number for each of the "
                         << kernel.getHeads() << " heads, but got "
                         << values.size();
    for (double value : values.asArrayRef())
      if (!std::isfinite(value))
        return emitError() << "expected 'values' of #posenc.attention_sink to "
                              "be finite, but got "
                           << value;
  }
  // attention_sink_c2
  return verifyAlone(kernel, *this, emitError);
}
void AttentionSinkAttr::expand(Expansion &expansion) const {
  addSink(expansion, getValues() ? expansion.constants(getValues().asArrayRef(),
                                                       {TableAxis::head})
                                 : expansion.operand(getOperandNames().front(),
                                                     {TableAxis::head}));
}

StringRef SoftmaxOffByOneAttr::getEncodingName() const { return getMnemonic(); }
LogicalResult SoftmaxOffByOneAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // softmax_off_by_one_c1
  return verifyAlone(kernel, *this, emitError);
}
void SoftmaxOffByOneAttr::expand(Expansion &expansion) const {
  SmallVector<double> zeros(expansion.kernel.getHeads(), 0.0);
  addSink(expansion, expansion.constants(zeros, {TableAxis::head}));
}

//===----------------------------------------------------------------------===//
// StickBreaking
//===----------------------------------------------------------------------===//

StringRef StickBreakingAttr::getEncodingName() const { return getName(); }
LogicalResult StickBreakingAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // stick_breaking_c1
  if (failed(verifyHidesFuture(
          kernel, emitError, getMnemonic(),
          "the nearest key before the query takes its piece first")))
    return failure();
  // stick_breaking_c2
  if (getRemainder() == StickRemainder::value &&
      kernel.getPositionsOrDefault().getAlignment() == Alignment::top_left)
    return emitError() << "#posenc.stick_breaking with 'remainder = value' "
                          "needs bottom_right alignment, which says which "
                          "value is the query's own";
  // stick_breaking_c3
  return verifyAlone(kernel, *this, emitError);
}

void StickBreakingAttr::expand(Expansion &expansion) const {
  Alignment alignment = expansion.kernel.getPositionsOrDefault().getAlignment();
  if (getKind() == StickKind::strict) {
    Value query = expansion.index(Side::query, alignment);
    Value key = expansion.index(Side::key, alignment);
    expansion.scans.push_back([=, &expansion](Value score) {
      return expansion.selectWhere(
          score, /*other=*/Value(), {query, key},
          [](ArrayRef<Real> x) { return x[1] < x[0]; });
    });
  }
  // ln A = ln sigmoid(s) - sum of softplus(s) over the nearer keys.
  expansion.scans.push_back([&expansion](Value score) {
    Value taken = expansion.create<RowscanOp>(
        1, [](ArrayRef<Real> x) { return softplus(x[0]); }, score,
        ScanKind::exclusive);
    return expansion.map({score, taken}, {}, [](ArrayRef<Real> x) {
      return -softplus(-x[0]) - x[1];
    });
  });
  expansion.normalize = [&expansion](Value score) -> Value {
    return NormalizeOp::create(expansion.builder, expansion.loc,
                               NormalizeKind::exp, score);
  };
  if (getRemainder() == StickRemainder::value)
    expansion.restTerms.push_back([&expansion](Value weights) -> Value {
      return RemainderOp::create(expansion.builder, expansion.loc, weights,
                                 expansion.value);
    });
}

//===----------------------------------------------------------------------===//
// Retention
//===----------------------------------------------------------------------===//

LogicalResult
RetentionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      APFloat firstExponent, APFloat base, TermSwitch,
                      TermSwitch, TermSwitch, StringRef) {
  // retention_c1
  if (failed(verifyPositive(emitError, getMnemonic(), "first_exponent",
                            firstExponent)))
    return failure();
  return verifyPositive(emitError, getMnemonic(), "base", base);
}

StringRef RetentionAttr::getEncodingName() const { return getName(); }
bool RetentionAttr::keepsLse() const { return false; }
LogicalResult RetentionAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // retention_c2
  if (!isa<CausalMaskAttr>(kernel.getMaskOrDefault()) ||
      !isa<IotaAttr>(kernel.getPositionsOrDefault()))
    return emitError() << "#posenc.retention needs mask(#posenc.causal) and "
                          "positions(#posenc.iota): its decay is divided by "
                          "sums over all keys before the query";
  // retention_c3
  return verifyAlone(kernel, *this, emitError);
}

/// Turns neighbouring channels of queries and keys.
static void rotate(Expansion &expansion, double base) {
  int64_t pairs = expansion.kernel.getHeadDim() / 2;
  SmallVector<double> frequencies;
  for (int64_t k = 0; k < pairs; ++k)
    frequencies.push_back(
        std::pow(base, -double(k) / std::max<int64_t>(pairs - 1, 1)));
  Value freqs = expansion.freqs(frequencies);
  auto turn = [&](Value vector, Side side) -> Value {
    return RotateOp::create(expansion.builder, expansion.loc, vector.getType(),
                            vector, expansion.position(side), freqs,
                            /*mix=*/ValueRange(), Pairing::interleaved,
                            /*first_dim=*/0);
  };
  expansion.transformQueries(
      [&](Value vector) { return turn(vector, Side::query); });
  expansion.transformKeys(
      [&](Value vector) { return turn(vector, Side::key); });
}

void RetentionAttr::expand(Expansion &expansion) const {
  if (getRotation() == TermSwitch::on)
    rotate(expansion, getBase().convertToDouble());
  int64_t heads = expansion.kernel.getHeads();
  double first = getFirstExponent().convertToDouble();
  SmallVector<double> complements; // 1 - gamma
  for (int64_t h = 0; h < heads; ++h)
    complements.push_back(std::exp2(-first - h));
  Value rates =
      expansion.constants(getLogDecays(heads, first), {TableAxis::head});
  Value distance = expansion.relation(DifferenceAttr::get(
      expansion.getContext(), Orientation::query_minus_key));
  SmallVector<Value> inputs{distance, rates};
  bool isDivided = getDecayNorm() == TermSwitch::on;
  if (isDivided) {
    inputs.push_back(expansion.index(
        Side::query,
        *expansion.kernel.getMaskOrDefault().getClauseAlignment()));
    inputs.push_back(expansion.constants(complements, {TableAxis::head}));
  }
  expansion.maps.push_back([=, &expansion](Value score) {
    return expansion.map({score}, inputs, [=](ArrayRef<Real> x) {
      Real decayed = x[0] * exp(x[1] * x[2]);
      if (!isDivided)
        return decayed;
      // gamma^0 + .. + gamma^i, from 1 - gamma^(i+1).
      Real missing = -expm1((x[3] + 1.0) * x[2]);
      return decayed / sqrt(missing / x[4]);
    });
  });
  bool isBounded = getScoreNorm() == TermSwitch::on;
  expansion.normalize = [=, &expansion](Value score) -> Value {
    OpBuilder &builder = expansion.builder;
    if (!isBounded)
      return NormalizeOp::create(builder, expansion.loc,
                                 NormalizeKind::identity, score);
    return NormalizeOp::create(builder, expansion.loc,
                               WeightsType::get(expansion.getContext()),
                               NormalizeKind::abs_sum, score,
                               /*denominator=*/Value(), /*sink=*/Value(),
                               builder.getDenseF64ArrayAttr({1.0, 5.0e4}));
  };
}

//===----------------------------------------------------------------------===//
// LinearAttention
//===----------------------------------------------------------------------===//

LogicalResult
LinearAttentionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            FeatureMap, APFloat epsilon, StringRef) {
  // linear_attention_c2
  if (epsilon.isFinite() && (!epsilon.isNegative() || epsilon.isZero()))
    return success();
  return emitError() << "expected 'epsilon' of #posenc.linear_attention to be "
                        "finite and not negative, but got "
                     << epsilon.convertToDouble();
}

StringRef LinearAttentionAttr::getEncodingName() const { return getName(); }
bool LinearAttentionAttr::keepsLse() const { return false; }
/// Numerator and denominator have no scale.
std::optional<double> LinearAttentionAttr::getFixedScale(KernelOp &) const {
  return 1.0;
}
LogicalResult LinearAttentionAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // linear_attention_c3
  if (!getEpsilon().isZero() &&
      !isa<FullMaskAttr, CausalMaskAttr>(kernel.getMaskOrDefault()))
    return emitError() << "expects mask(#posenc.full) or mask(#posenc.causal) "
                          "with 'epsilon' of #posenc.linear_attention, which "
                          "is added once for each row, at the first key";
  // linear_attention_c1
  return verifyAlone(kernel, *this, emitError);
}

static Real applyFeatureMap(FeatureMap map, const Real &x) {
  switch (map) {
  case FeatureMap::elu1:
    return select(0 < x, x + 1, exp(x));
  case FeatureMap::relu:
    return max(x, 0.0);
  case FeatureMap::exp:
    return exp(x);
  }
  llvm_unreachable("unknown feature map");
}

void LinearAttentionAttr::expand(Expansion &expansion) const {
  FeatureMap map = getMap();
  auto apply = [&](Value vector) -> Value {
    return expansion.create<VectorMapOp>(
        1, [=](ArrayRef<Real> x) { return applyFeatureMap(map, x[0]); },
        vector.getType(), vector);
  };
  expansion.transformQueries(apply);
  expansion.transformKeys(apply);
  double epsilon = getEpsilon().convertToDouble();
  Alignment alignment = expansion.kernel.getPositionsOrDefault().getAlignment();
  // What encodings behind this one do to the vectors is not in the sum.
  Value query = expansion.query(), key = expansion.key();
  expansion.normalize = [=, &expansion](Value score) -> Value {
    OpBuilder &builder = expansion.builder;
    Value sums =
        DotOp::create(builder, expansion.loc, query, key, APFloat(1.0));
    if (epsilon != 0) {
      Value index = expansion.index(Side::key, alignment);
      Value once = expansion.bias(index, [=](ArrayRef<Real> j) {
        return select(j[0] == 0, epsilon, 0);
      });
      sums = AddOp::create(builder, expansion.loc, sums, once);
    }
    sums = expansion.kernel.getMaskOrDefault().expandMask(expansion, sums);
    return NormalizeOp::create(builder, expansion.loc,
                               WeightsType::get(expansion.getContext()),
                               NormalizeKind::linear, score, sums,
                               /*sink=*/Value(),
                               /*bounds=*/DenseF64ArrayAttr());
  };
}
