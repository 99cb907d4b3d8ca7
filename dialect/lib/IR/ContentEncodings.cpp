// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings whose score terms depend on queries or keys and on their distance:
// checks and expansions.
#include "TermMath.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

static constexpr int64_t maxDistanceLimit = 1 << 20;

/// A table of vectors that the caller passes in.
static Value buildVectors(Expansion &expansion, StringRef name, int64_t rows,
                          int64_t channels, TableSharing sharing) {
  if (sharing == TableSharing::shared)
    return expansion.operand(name, {TableAxis::row, TableAxis::channel}, rows,
                             channels);
  return expansion.operand(
      name, {TableAxis::row, TableAxis::head, TableAxis::channel}, rows,
      channels);
}

static Value buildDistance(Expansion &expansion, Orientation orientation) {
  return expansion.relation(
      DifferenceAttr::get(expansion.getContext(), orientation));
}

/// Adds rows of a table to the values.
static void addValueTable(Expansion &expansion, Value table, Value relation) {
  OpBuilder &builder = expansion.builder;
  Location loc = expansion.loc;
  expansion.valueTerms.push_back(
      [&builder, loc, table, relation](Value weights) -> Value {
        return ValueTableOp::create(builder, loc, weights, table, relation);
      });
}

//===----------------------------------------------------------------------===//
// Shaw
//===----------------------------------------------------------------------===//

LogicalResult ShawAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t maxDistance, TermSwitch, TableSharing,
                               Orientation, TermSite, StringRef) {
  // shaw_c1
  return verifyRange(emitError, getMnemonic(), "max_distance", maxDistance, 0,
                     maxDistanceLimit);
}

StringRef ShawAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ShawAttr::getOperandNames() const {
  if (getValues() == TermSwitch::on)
    return getOperands(getName(), {"keys", "values"});
  return getOperands(getName(), {"keys"});
}
LogicalResult
ShawAttr::verifyInKernel(KernelOp &, function_ref<InFlightDiagnostic()>) const {
  return success();
}

void ShawAttr::advise(KernelOp &, int64_t context,
                      function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(), getMaxDistance(),
              "arXiv 1803.02155, section 3.2");
}

void ShawAttr::expand(Expansion &expansion) const {
  KernelOp kernel = expansion.kernel;
  SmallVector<std::string> names = getOperandNames();
  int64_t rows = 2 * getMaxDistance() + 1;
  Value relation = expansion.relation(ClippedDistanceAttr::get(
      expansion.getContext(), getOrientation(), getMaxDistance()));
  Value keys =
      buildVectors(expansion, names[0], rows, kernel.getHeadDim(), getTables());
  addTerm(expansion, getSite(),
          buildTableDot(expansion, expansion.query(), keys, relation,
                        getFactor(expansion, getSite())));
  if (getValues() == TermSwitch::on)
    addValueTable(expansion,
                  buildVectors(expansion, names[1], rows, kernel.getValueSize(),
                               getTables()),
                  relation);
}

//===----------------------------------------------------------------------===//
// Nezha
//===----------------------------------------------------------------------===//

LogicalResult NezhaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t maxDistance, APFloat base, TermLayout,
                                TermSwitch, Orientation, TermSite, StringRef) {
  // nezha_c1
  if (failed(verifyRange(emitError, getMnemonic(), "max_distance", maxDistance,
                         0, maxDistanceLimit)))
    return failure();
  return verifyPositive(emitError, getMnemonic(), "base", base);
}

StringRef NezhaAttr::getEncodingName() const { return getName(); }
LogicalResult
NezhaAttr::verifyInKernel(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  // nezha_c2
  int64_t headDim = kernel.getHeadDim();
  if (getValues() == TermSwitch::on && kernel.getValueSize() != headDim)
    return emitError() << "expected the kernel's 'value_dim' ("
                       << kernel.getValueSize() << ") to be its 'head_dim' ("
                       << headDim
                       << "), since #posenc.nezha adds one table to keys and "
                          "values: state 'values = off'";
  return success();
}

void NezhaAttr::advise(KernelOp &, int64_t context,
                       function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(), getMaxDistance(),
              "arXiv 1909.00204, section 2.1");
}

void NezhaAttr::expand(Expansion &expansion) const {
  Value relation = expansion.relation(ClippedDistanceAttr::get(
      expansion.getContext(), getOrientation(), getMaxDistance()));
  Sinusoids law{int64_t(expansion.kernel.getHeadDim()),
                getBase().convertToDouble(), TermExponent::half, getLayout()};
  Value table = law.build(expansion);
  addTerm(expansion, getSite(),
          buildTableDot(expansion, expansion.query(), table, relation,
                        getFactor(expansion, getSite())));
  if (getValues() == TermSwitch::on)
    addValueTable(expansion, table, relation);
}

//===----------------------------------------------------------------------===//
// TransformerXl and Xlnet
//===----------------------------------------------------------------------===//

namespace {
/// What the two have in common.
struct ProjectedSinusoids {
  StringRef name;
  int64_t modelDim, clampLen;
  double base;
  Orientation orientation;

  static LogicalResult verify(function_ref<InFlightDiagnostic()> emitError,
                              StringRef mnemonic, int64_t modelDim,
                              int64_t clampLen, const APFloat &base) {
    if (failed(verifyModelDim(emitError, mnemonic, modelDim)) ||
        failed(verifyRange(emitError, mnemonic, "clamp_len", clampLen, 0,
                           maxDistanceLimit)))
      return failure();
    return verifyPositive(emitError, mnemonic, "base", base);
  }

  /// (q + u) . k and (q + v) . (R w).
  void expand(Expansion &expansion) const {
    int64_t headDim = expansion.kernel.getHeadDim();
    int64_t width =
        modelDim == 0 ? expansion.kernel.getHeads() * headDim : modelDim;
    SmallVector<std::string> names = getOperands(name, {"u", "v", "w"});
    // Rows of a clamped table count from -clampLen.
    Value relation = clampLen == 0
                         ? buildDistance(expansion, orientation)
                         : expansion.relation(ClippedDistanceAttr::get(
                               expansion.getContext(), orientation, clampLen));
    Value positions =
        projectSinusoids(expansion,
                         {width, base, TermExponent::half,
                          TermLayout::concatenated, double(clampLen)},
                         names[2]);
    Value query = addVector(expansion, expansion.query(), names[1]);
    expansion.insideTerms.push_back(
        buildTableDot(expansion, query, positions, relation, expansion.scale));
    expansion.transformQueries(
        [&](Value vector) { return addVector(expansion, vector, names[0]); });
  }
};
} // namespace

LogicalResult
TransformerXlAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t modelDim, int64_t clampLen, APFloat base,
                          StringRef) {
  // transformer_xl_c1, transformer_xl_c2
  return ProjectedSinusoids::verify(emitError, getMnemonic(), modelDim,
                                    clampLen, base);
}

StringRef TransformerXlAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> TransformerXlAttr::getOperandNames() const {
  return getOperands(getName(), {"u", "v", "w"});
}
/// heads * head_dim may be more than a table's rows.
static LogicalResult verifyWidth(KernelOp kernel,
                                 function_ref<InFlightDiagnostic()> emitError,
                                 StringRef mnemonic, int64_t modelDim) {
  if (modelDim != 0)
    return success();
  int64_t width = kernel.getHeads() * kernel.getHeadDim();
  return verifyRange(emitError, mnemonic, "model_dim", width, 2, 65536);
}
LogicalResult TransformerXlAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  // transformer_xl_c3
  if (failed(verifyHidesFuture(
          kernel, emitError, getMnemonic(),
          "its distances are not defined for others; #posenc.xlnet's are")))
    return failure();
  return verifyWidth(kernel, emitError, getMnemonic(), getModelDim());
}

void TransformerXlAttr::advise(KernelOp &, int64_t context,
                               function_ref<void(const Twine &)> warn) const {
  if (getClampLen() > 0)
    adviseReach(warn, context, getMnemonic(), getClampLen(),
                "clamp_len of kimiyoung/transformer-xl");
}

void TransformerXlAttr::expand(Expansion &expansion) const {
  ProjectedSinusoids{getName(), getModelDim(), getClampLen(),
                     getBase().convertToDouble(), Orientation::query_minus_key}
      .expand(expansion);
}

LogicalResult XlnetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t modelDim, int64_t clampLen,
                                APFloat base, TermSwitch, Orientation,
                                StringRef) {
  // xlnet_c1
  return ProjectedSinusoids::verify(emitError, getMnemonic(), modelDim,
                                    clampLen, base);
}

StringRef XlnetAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> XlnetAttr::getOperandNames() const {
  if (getSegments() == TermSwitch::on)
    return getOperands(getName(), {"u", "v", "w", "s", "e", "segment_ids"});
  return getOperands(getName(), {"u", "v", "w"});
}
LogicalResult
XlnetAttr::verifyInKernel(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  return verifyWidth(kernel, emitError, getMnemonic(), getModelDim());
}

void XlnetAttr::advise(KernelOp &, int64_t context,
                       function_ref<void(const Twine &)> warn) const {
  if (getClampLen() > 0)
    adviseReach(warn, context, getMnemonic(), getClampLen(),
                "clamp_len of Hugging Face transformers, "
                "models/xlnet/modeling_xlnet.py");
}

void XlnetAttr::expand(Expansion &expansion) const {
  Value query = expansion.query();
  ProjectedSinusoids{getName(), getModelDim(), getClampLen(),
                     getBase().convertToDouble(), getOrientation()}
      .expand(expansion);
  if (getSegments() == TermSwitch::off)
    return;
  SmallVector<std::string> names = getOperandNames();
  Value ofQuery = readPositions(expansion, Side::query, names[5]);
  Value ofKey = readPositions(expansion, Side::key, names[5]);
  Value differs =
      expansion.relationMap({ofQuery, ofKey}, 2, [](ArrayRef<Real> x) {
        return select(x[0] == x[1], 0, 1);
      });
  Value segments =
      buildVectors(expansion, names[4], 2, expansion.kernel.getHeadDim(),
                   TableSharing::per_head);
  expansion.insideTerms.push_back(
      buildTableDot(expansion, addVector(expansion, query, names[3]), segments,
                    differs, expansion.scale));
}

//===----------------------------------------------------------------------===//
// Tener
//===----------------------------------------------------------------------===//

LogicalResult TenerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                LawSource, TermExponent, APFloat base,
                                TermSwitch, StringRef) {
  // tener_c1
  return verifyPositive(emitError, getMnemonic(), "base", base);
}

StringRef TenerAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> TenerAttr::getOperandNames() const {
  return getOperands(getName(), {"u", "v"});
}
std::optional<double> TenerAttr::getFixedScale(KernelOp &kernel) const {
  return getScaled() == TermSwitch::on ? 1 / std::sqrt(kernel.getHeadDim())
                                       : 1.0;
}
LogicalResult
TenerAttr::verifyInKernel(KernelOp &kernel,
                          function_ref<InFlightDiagnostic()> emitError) const {
  // tener_c2
  if (getExponent() == TermExponent::half_minus_one && kernel.getHeadDim() < 4)
    return emitError() << "expected the kernel's 'head_dim' to be at least 4 "
                          "for #posenc.tener with 'exponent = "
                          "half_minus_one', which divides by head_dim / 2 - 1, "
                          "but got "
                       << kernel.getHeadDim();
  return success();
}

void TenerAttr::expand(Expansion &expansion) const {
  SmallVector<std::string> names = getOperandNames();
  Value table = Sinusoids{int64_t(expansion.kernel.getHeadDim()),
                          getBase().convertToDouble(), getExponent(),
                          TermLayout::concatenated}
                    .build(expansion);
  bool isCode = getLaw() == LawSource::code;
  Value forward = buildDistance(expansion, Orientation::query_minus_key);
  Value ofQuery =
      isCode ? buildDistance(expansion, Orientation::key_minus_query) : forward;
  Value query = addVector(expansion, expansion.query(), names[1]);
  expansion.insideTerms.push_back(
      buildTableDot(expansion, query, table, ofQuery, expansion.scale));
  if (isCode)
    expansion.insideTerms.push_back(buildTableDot(
        expansion, expansion.key(), table, forward, expansion.scale));
  expansion.transformQueries(
      [&](Value vector) { return addVector(expansion, vector, names[0]); });
}

//===----------------------------------------------------------------------===//
// Deberta
//===----------------------------------------------------------------------===//

namespace {
/// What a preset stands for, or what is stated.
struct DebertaLaw {
  int64_t maxDistance, buckets;
  BucketClamp clamp;

  /// Half of the rows of a table.
  int64_t getSpan() const { return buckets == 0 ? maxDistance : buckets; }
};
} // namespace

static DebertaLaw resolve(DebertaAttr attr) {
  if (attr.getPreset() == "microsoft-v2")
    return {512, 256, BucketClamp::official};
  if (attr.getPreset() == "hf-v2")
    return {512, 256, BucketClamp::hf};
  return {attr.getMaxDistance(), attr.getBuckets(), attr.getClamp()};
}

LogicalResult DebertaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t maxDistance, int64_t buckets,
                                  BucketClamp clamp, TermSwitch, TermSwitch,
                                  LawSource, StringRef preset, StringRef) {
  // deberta_c1
  if (failed(verifyRange(emitError, getMnemonic(), "max_distance", maxDistance,
                         1, maxDistanceLimit)))
    return failure();
  // deberta_c2
  if (buckets != 0) {
    if (buckets < 4 || buckets % 2 != 0 || buckets > 4096)
      return emitError() << "expected 'buckets' of #posenc.deberta to be even "
                            "and from 4 to 4096, or 0, but got "
                         << buckets;
    if (maxDistance <= buckets / 2 + 1)
      return emitError() << "expected 'max_distance' of #posenc.deberta to "
                            "exceed buckets / 2 + 1 ("
                         << buckets / 2 + 1 << "), but got " << maxDistance;
  }
  // deberta_c4
  if (!preset.empty() && preset != "microsoft-v2" && preset != "hf-v2")
    return emitError() << "expected 'preset' of #posenc.deberta to be "
                          "\"microsoft-v2\" or \"hf-v2\", but got \""
                       << preset << "\"";
  if (!preset.empty() &&
      (maxDistance != 512 || buckets != 0 || clamp != BucketClamp::official))
    return emitError() << "expected #posenc.deberta not to state "
                          "'max_distance', 'buckets' or 'clamp' beside a "
                          "'preset' that does";
  // deberta_c3
  if (buckets == 0 && clamp != BucketClamp::official)
    return emitError() << "expected #posenc.deberta to state 'clamp' beside "
                          "'buckets' only";
  return success();
}

StringRef DebertaAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> DebertaAttr::getOperandNames() const {
  SmallVector<StringRef> suffixes;
  if (getC2p() == TermSwitch::on)
    suffixes.push_back("keys");
  if (getP2c() == TermSwitch::on)
    suffixes.push_back("queries");
  return getOperands(getName(), suffixes);
}
std::optional<double> DebertaAttr::getFixedScale(KernelOp &kernel) const {
  double terms =
      1.0 + (getC2p() == TermSwitch::on) + (getP2c() == TermSwitch::on);
  return 1.0 / std::sqrt(kernel.getHeadDim() * terms);
}
LogicalResult
DebertaAttr::verifyInKernel(KernelOp &,
                            function_ref<InFlightDiagnostic()>) const {
  return success();
}

/// The least distances whose bucket is 1, 2, ...: up to 2m - 1 where distances
/// are clamped to M - 1, and to 2m otherwise.
static SmallVector<int64_t> findDistances(const DebertaLaw &law) {
  int64_t middle = law.buckets / 2, most = law.maxDistance - 1;
  SmallVector<int64_t> thresholds;
  for (int64_t bucket = 1; bucket <= middle; ++bucket)
    thresholds.push_back(bucket);
  int64_t steps = middle - (law.clamp == BucketClamp::official);
  for (int64_t step = 1; step <= steps; ++step) {
    // ceil(f(a)) >= step where f(a) > step - 1.
    int64_t low = thresholds.back(), high = law.maxDistance;
    while (low < high) {
      int64_t distance = low + (high - low) / 2;
      if (distance > middle &&
          hasReachedStep(distance, step - 1, middle, middle - 1, most,
                         /*strict=*/true))
        high = distance;
      else
        low = distance + 1;
    }
    thresholds.push_back(low);
  }
  return thresholds;
}

/// r(p_i - p_j), or r(p_j - p_i) if `isReversed`.
static Value buildRows(const DebertaLaw &law, Expansion &expansion,
                       bool isReversed) {
  MLIRContext *context = expansion.getContext();
  double span = law.getSpan();
  if (law.buckets == 0)
    return expansion.relationMap(
        {buildDistance(expansion, isReversed ? Orientation::key_minus_query
                                             : Orientation::query_minus_key)},
        2 * law.getSpan(),
        [=](ArrayRef<Real> x) { return clamp(x[0] + span, 0, 2 * span - 1); });
  SmallVector<int64_t> thresholds = findDistances(law);
  double future = thresholds.size() + 1;
  Value bucket = expansion.relation(ThresholdBucketAttr::get(
      context, DenseI64ArrayAttr::get(context, thresholds), future));
  return expansion.relationMap(
      {bucket}, 2 * law.getSpan(), [=](ArrayRef<Real> x) {
        Real signedBucket = select(future <= x[0], future - x[0], x[0]);
        Real row = isReversed ? span - signedBucket : signedBucket + span;
        return clamp(row, 0, 2 * span - 1);
      });
}

/// Past keys from it on have the last row.
static int64_t getReach(const DebertaLaw &law) {
  return law.buckets == 0 ? law.maxDistance - 1
                          : findDistances(law)[law.buckets - 2];
}

void DebertaAttr::advise(KernelOp &, int64_t context,
                         function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(), getReach(resolve(*this)),
              "arXiv 2006.03654, equation 3");
}

void DebertaAttr::expand(Expansion &expansion) const {
  DebertaLaw law = resolve(*this);
  SmallVector<std::string> names = getOperandNames();
  auto add = [&](Value vector, StringRef name, bool isReversed) {
    Value table =
        buildVectors(expansion, name, 2 * law.getSpan(),
                     expansion.kernel.getHeadDim(), TableSharing::per_head);
    Value rows = buildRows(law, expansion, isReversed);
    expansion.insideTerms.push_back(
        buildTableDot(expansion, vector, table, rows, expansion.scale));
  };
  if (getC2p() == TermSwitch::on)
    add(expansion.query(), names.front(), false);
  if (getP2c() == TermSwitch::on)
    add(expansion.key(), names.back(), getP2cIndex() == LawSource::paper);
}

//===----------------------------------------------------------------------===//
// MtfContextual
//===----------------------------------------------------------------------===//

LogicalResult
MtfContextualAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t buckets, int64_t maxDistance,
                          Direction direction, TermSite, StringRef) {
  // mtf_contextual_c1
  return verifyT5Buckets(emitError, getMnemonic(), buckets, maxDistance,
                         direction);
}

StringRef MtfContextualAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> MtfContextualAttr::getOperandNames() const {
  return getOperands(getName(), {"table"});
}
LogicalResult
MtfContextualAttr::verifyInKernel(KernelOp &,
                                  function_ref<InFlightDiagnostic()>) const {
  return success();
}

void MtfContextualAttr::advise(KernelOp &, int64_t context,
                               function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(),
              getT5Reach(getBuckets(), getMaxDistance(), getDirection()),
              "mesh_tensorflow/transformer/transformer_layers.py");
}

void MtfContextualAttr::expand(Expansion &expansion) const {
  Value relation = expansion.relation(getT5Buckets(
      expansion.getContext(), getBuckets(), getMaxDistance(), getDirection()));
  Value table =
      buildVectors(expansion, getOperandNames().front(), getBuckets(),
                   expansion.kernel.getHeadDim(), TableSharing::per_head);
  addTerm(expansion, getSite(),
          buildTableDot(expansion, expansion.query(), table, relation,
                        getFactor(expansion, getSite())));
}
