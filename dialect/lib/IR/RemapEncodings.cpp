// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that change positions or the temperature of a query: checks and
// expansions.
#include "posenc/IR/Encodings.h"

#include "Advice.h"
#include "QueryScale.h"
#include "Rotation.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Two rotations, by distance
//===----------------------------------------------------------------------===//

static constexpr int64_t longest = int64_t{1} << 30;

static LogicalResult verifyCount(StringRef mnemonic, StringRef parameter,
                                 int64_t value, int64_t least,
                                 EmitError emitError) {
  if (value >= least && value <= longest)
    return success();
  return emitError() << "expected '" << parameter << "' of #posenc." << mnemonic
                     << " to be from " << least << " to 2^30, but got "
                     << value;
}

static bool splitsDots(Attribute encoding) {
  return isa<ReRopeAttr, LeakyReRopeAttr, SelfExtendAttr>(encoding);
}

/// rerope_c2, rerope_c3
static LogicalResult verifySplit(StringRef mnemonic, RopeAttr rope,
                                 KernelOp kernel, EmitError emitError) {
  if (kernel.getMaskOrDefault().showsFuture())
    return emitError() << "expects a mask that hides future keys with #posenc."
                       << mnemonic
                       << ", which has no distance for them: state "
                          "mask(#posenc.causal)";
  if (llvm::count_if(kernel.getEncodeAttr(), splitsDots) > 1)
    return emitError() << "expects one encoding that splits the dot product "
                          "by distance, but #posenc."
                       << mnemonic << " is not the only one";
  return rope.verifyInKernel(kernel, emitError);
}

using PositionMap = llvm::function_ref<Real(const Real &position)>;

/// Rotates by the positions within the window, and by other positions of
/// queries and keys beyond it. Without a map of the keys they stay as they are.
static void split(Expansion &expansion, RopeAttr rope, int64_t window,
                  PositionMap mapQuery, PositionMap mapKey) {
  Rotation rotation(expansion, rope);
  auto remap = [&](Side side, PositionMap map) {
    return expansion.remap(expansion.position(side),
                           [&](ArrayRef<Real> p) { return map(p[0]); });
  };
  Expansion::Branch &near = expansion.branches.front();
  Expansion::Branch far = near;
  Value i = expansion.position(Side::query), j = expansion.position(Side::key);
  near.query = rotation.apply(near.query, i);
  near.key = rotation.apply(near.key, j);
  far.query = rotation.apply(far.query, remap(Side::query, mapQuery));
  if (mapKey)
    far.key = rotation.apply(far.key, remap(Side::key, mapKey));
  Expansion *kept = &expansion; // lives until the kernel is put together
  far.select = [kept, window, i, j](Value score, Value other) -> Value {
    MLIRContext *context = kept->getContext();
    auto mask =
        WindowMaskAttr::get(context, window - 1, int64_t{-1},
                            MaskBasis::position, Alignment::bottom_right);
    return SelectOp::create(kept->builder, kept->loc, ScoreType::get(context),
                            score, other, ValueRange{i, j}, ValueRange(),
                            cast<MaskAttrInterface>(mask));
  };
  expansion.branches.push_back(far);
}

//===----------------------------------------------------------------------===//
// ReRope
//===----------------------------------------------------------------------===//

LogicalResult ReRopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t window, RopeAttr, StringRef) {
  // rerope_c1
  return verifyCount(getMnemonic(), "window", window, 1, emitError);
}
StringRef ReRopeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ReRopeAttr::getOperandNames() const {
  return getInnerRope(getRope(), getContext()).getOperandNames();
}
std::optional<double> ReRopeAttr::getFixedScale(KernelOp &kernel) const {
  return getInnerRope(getRope(), getContext()).getFixedScale(kernel);
}
LogicalResult
ReRopeAttr::verifyInKernel(KernelOp &kernel,
                           function_ref<InFlightDiagnostic()> emitError) const {
  return verifySplit(getMnemonic(), getInnerRope(getRope(), getContext()),
                     kernel, emitError);
}
void ReRopeAttr::advise(KernelOp &, int64_t context,
                        function_ref<void(const Twine &)> warn) const {
  adviseReach(warn, context, getMnemonic(), getWindow(),
              "kexue.fm/archives/9708");
}

void ReRopeAttr::expand(Expansion &expansion) const {
  RopeAttr rope = getInnerRope(getRope(), getContext());
  auto window = [&](const Real &) { return Real(getWindow()); };
  // Keys need no rotation to position 0 unless it stretches them.
  auto zero = [](const Real &) { return Real(0); };
  bool isStretched = getAttentionFactors(rope).rotation != 1;
  split(expansion, rope, getWindow(), window,
        isStretched ? PositionMap(zero) : PositionMap());
}

//===----------------------------------------------------------------------===//
// LeakyReRope
//===----------------------------------------------------------------------===//

LogicalResult
LeakyReRopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t window, APFloat leak, RopeAttr, StringRef) {
  // leaky_rerope_c2
  if (failed(verifyPositive(getMnemonic(), "leak", leak, emitError)))
    return failure();
  // leaky_rerope_c1
  return verifyCount(getMnemonic(), "window", window, 1, emitError);
}
StringRef LeakyReRopeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> LeakyReRopeAttr::getOperandNames() const {
  return getInnerRope(getRope(), getContext()).getOperandNames();
}
std::optional<double> LeakyReRopeAttr::getFixedScale(KernelOp &kernel) const {
  return getInnerRope(getRope(), getContext()).getFixedScale(kernel);
}
LogicalResult LeakyReRopeAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  return verifySplit(getMnemonic(), getInnerRope(getRope(), getContext()),
                     kernel, emitError);
}
void LeakyReRopeAttr::expand(Expansion &expansion) const {
  double leak = getLeak().convertToDouble(), window = getWindow();
  split(
      expansion, getInnerRope(getRope(), getContext()), getWindow(),
      [&](const Real &p) { return (p + window * (leak - 1)) / leak; },
      [&](const Real &p) { return p / leak; });
}

//===----------------------------------------------------------------------===//
// SelfExtend
//===----------------------------------------------------------------------===//

LogicalResult
SelfExtendAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t group, int64_t window, SelfExtendLaw, RopeAttr,
                       StringRef) {
  // self_extend_c2
  if (failed(verifyCount(getMnemonic(), "group", group, 1, emitError)))
    return failure();
  // self_extend_c1
  return verifyCount(getMnemonic(), "window", window, 1, emitError);
}
StringRef SelfExtendAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> SelfExtendAttr::getOperandNames() const {
  return getInnerRope(getRope(), getContext()).getOperandNames();
}
std::optional<double> SelfExtendAttr::getFixedScale(KernelOp &kernel) const {
  return getInnerRope(getRope(), getContext()).getFixedScale(kernel);
}
LogicalResult SelfExtendAttr::verifyInKernel(
    KernelOp &kernel, function_ref<InFlightDiagnostic()> emitError) const {
  return verifySplit(getMnemonic(), getInnerRope(getRope(), getContext()),
                     kernel, emitError);
}
void SelfExtendAttr::advise(KernelOp &, int64_t context,
                            function_ref<void(const Twine &)> warn) const {
  adviseGroups(warn, context, getMnemonic(), getWindow(), getGroup(),
               "arXiv 2401.01325");
}

void SelfExtendAttr::expand(Expansion &expansion) const {
  double shift = static_cast<double>(getWindow()) / getGroup();
  if (getLaw() == SelfExtendLaw::paper)
    shift = std::floor(shift);
  auto group = [&](const Real &p) { return floor(p / getGroup()); };
  split(
      expansion, getInnerRope(getRope(), getContext()), getWindow(),
      [&](const Real &p) { return group(p) + (getWindow() - shift); }, group);
}

//===----------------------------------------------------------------------===//
// Temperatures of queries
//===----------------------------------------------------------------------===//

LogicalResult LogNAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t length, LogNLaw, StringRef) {
  // log_n_c1
  return verifyCount(getMnemonic(), "length", length, 2, emitError);
}
StringRef LogNAttr::getEncodingName() const { return getName(); }
LogicalResult
LogNAttr::verifyInKernel(KernelOp &, function_ref<InFlightDiagnostic()>) const {
  return success();
}
void LogNAttr::expand(Expansion &expansion) const {
  Value n = getLaw() == LogNLaw::rerope
                ? expansion.position(Side::query)
                : expansion.index(
                      Side::query,
                      expansion.kernel.getPositionsOrDefault().getAlignment());
  double trained = std::log(static_cast<double>(getLength()));
  scaleQueries(expansion, n, [&](ArrayRef<Real> p) {
    return max(1, log(max(p[0], 0) + 1) / trained);
  });
}

LogicalResult
QueryTemperatureAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             APFloat attnScale, APFloat floorScale, StringRef) {
  // query_temperature_c1
  if (!attnScale.isFinite() || (attnScale.isNegative() && !attnScale.isZero()))
    return emitError() << "expected 'attn_scale' of #posenc.query_temperature "
                          "to be finite and not negative, but got "
                       << attnScale.convertToDouble();
  return verifyPositive(getMnemonic(), "floor_scale", floorScale, emitError);
}
StringRef QueryTemperatureAttr::getEncodingName() const { return getName(); }
LogicalResult
QueryTemperatureAttr::verifyInKernel(KernelOp &,
                                     function_ref<InFlightDiagnostic()>) const {
  return success();
}
void QueryTemperatureAttr::expand(Expansion &expansion) const {
  Value p = expansion.position(Side::query);
  scaleQueries(expansion, p, [&](ArrayRef<Real> p) {
    Real steps = floor(max(p[0] + 1, 0) / getFloorScale().convertToDouble());
    return log(steps + 1) * getAttnScale().convertToDouble() + 1;
  });
}
