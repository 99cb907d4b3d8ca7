// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings of input embeddings: checks and expansions.
#include "posenc/IR/Encodings.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

/// From [0, 1) to [-bound, bound).
static Real spread(const Real &uniform, double bound) {
  return bound * (2 * uniform - 1);
}

static Real merge(EmbedMerge merge, const Real &x, const Real &e) {
  switch (merge) {
  case EmbedMerge::add:
    return x + e;
  case EmbedMerge::mul:
    return x * (1 + e);
  case EmbedMerge::replace:
    return e;
  }
  llvm_unreachable("all merges are handled");
}

using Emit = function_ref<InFlightDiagnostic()>;

static constexpr int64_t kLargestPosition = int64_t{1} << 30;
static constexpr int64_t kLargestRows = int64_t{1} << 26;

static LogicalResult verifyBetween(Emit emitError, StringRef what,
                                   int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high)
    return emitError() << "expected " << what << " to be from " << low << " to "
                       << high << ", but got " << value;
  return success();
}

static LogicalResult verifyFinite(Emit emitError, StringRef what,
                                  const APFloat &value) {
  if (!value.isFinite())
    return emitError() << "expected " << what << " to be finite, but got "
                       << value.convertToDouble();
  return success();
}

static LogicalResult verifyPositive(Emit emitError, StringRef what,
                                    const APFloat &value) {
  if (!value.isFinite() || value.isNegative() || value.isZero())
    return emitError() << "expected " << what
                       << " to be positive and finite, but got "
                       << value.convertToDouble();
  return success();
}

static std::string join(StringRef name, StringRef operand) {
  return (name + "." + operand).str();
}

/// int32 numbers [B, L] that the caller passes.
static Value readIntegers(EmbedExpansion &expansion, StringRef name) {
  return expansion.position(
      Side::token, PositionTensorAttr::get(expansion.getContext(), name, 1, 0,
                                           Alignment::bottom_right,
                                           /*queries=*/""));
}

static Value shift(EmbedExpansion &expansion, Value position, int64_t offset) {
  if (offset == 0)
    return position;
  return expansion.remap(position,
                         [&](ArrayRef<Real> x) { return x[0] + offset; });
}

/// What replaces the vectors does not read what was done to them before.
static void prepareMerge(EmbedExpansion &expansion, EmbedMerge merge) {
  if (merge == EmbedMerge::replace)
    expansion.tokens = expansion.input;
}

static Pairing getPairing(WaveLayout layout) {
  return layout == WaveLayout::interleaved ? Pairing::interleaved
                                           : Pairing::half;
}

//===----------------------------------------------------------------------===//
// RawIndex
//===----------------------------------------------------------------------===//

LogicalResult RawIndexAttr::verify(Emit emitError, APFloat scale, int64_t,
                                   StringRef) {
  // raw_index_c1
  return verifyFinite(emitError, "'scale' of #posenc.raw_index", scale);
}
StringRef RawIndexAttr::getEncodingName() const { return getName(); }
LogicalResult RawIndexAttr::verifyInEmbed(EmbedOp &embed,
                                          Emit emitError) const {
  // raw_index_c2
  return verifyBetween(emitError, "'channel' of #posenc.raw_index",
                       getChannel(), -1, embed.getDim() - 1);
}
void RawIndexAttr::expandEmbed(EmbedExpansion &expansion) const {
  expansion.channelMap(
      expansion.getCoord(), std::nullopt, [&](ArrayRef<Real> x) {
        Real sum = x[0] + getScale().convertToDouble() * x[3];
        return getChannel() < 0 ? sum : select(x[1] == getChannel(), sum, x[0]);
      });
}

//===----------------------------------------------------------------------===//
// OneHot
//===----------------------------------------------------------------------===//

LogicalResult OneHotAttr::verify(Emit emitError, int64_t firstDim,
                                 int64_t width, StringRef) {
  if (firstDim < 0 || width < 0)
    return emitError() << "expected 'first_dim' and 'width' of "
                          "#posenc.one_hot not to be negative, but got "
                       << firstDim << " and " << width;
  return success();
}
StringRef OneHotAttr::getEncodingName() const { return getName(); }
LogicalResult OneHotAttr::verifyInEmbed(EmbedOp &embed, Emit emitError) const {
  // one_hot_c1
  int64_t dim = embed.getDim();
  if (getFirstDim() >= dim || getWidth() > dim - getFirstDim())
    return emitError() << "expected the channels [" << getFirstDim() << ", "
                       << getFirstDim() << " + " << getWidth()
                       << ") of #posenc.one_hot to lie within the "
                          "embedding's 'dim' ("
                       << dim << ")";
  return success();
}
void OneHotAttr::expandEmbed(EmbedExpansion &expansion) const {
  int64_t dim = expansion.embed.getDim();
  int64_t width = getWidth() ? getWidth() : dim - getFirstDim();
  Value p = expansion.bounded(expansion.getCoord(), width, getName());
  Value channel = shift(expansion, p, getFirstDim());
  expansion.channelMap(channel, std::nullopt, [](ArrayRef<Real> x) {
    return select(x[1] == x[3], x[0] + 1, x[0]);
  });
}

//===----------------------------------------------------------------------===//
// Sinusoidal
//===----------------------------------------------------------------------===//

LogicalResult SinusoidalAttr::verify(Emit emitError, WaveLayout, WaveExponent,
                                     WaveOrder, APFloat base, APFloat factor,
                                     int64_t paddingIdx, StringRef) {
  // sinusoidal_c1
  if (failed(verifyPositive(emitError, "'base' of #posenc.sinusoidal", base)) ||
      failed(verifyFinite(emitError, "'factor' of #posenc.sinusoidal", factor)))
    return failure();
  // sinusoidal_c2
  return verifyBetween(emitError, "'padding_idx' of #posenc.sinusoidal",
                       paddingIdx, -1, kLargestPosition);
}
StringRef SinusoidalAttr::getEncodingName() const { return getName(); }
LogicalResult SinusoidalAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}

static SmallVector<double> getWaves(WaveExponent exponent, double base,
                                    double factor, int64_t count, int64_t dim) {
  SmallVector<double> waves;
  for (int64_t k = 0; k < count; ++k) {
    double e = exponent == WaveExponent::over_dim
                   ? 2.0 * k / dim
                   : static_cast<double>(k) / std::max<int64_t>(count - 1, 1);
    waves.push_back(factor * std::pow(base, -e));
  }
  return waves;
}

void SinusoidalAttr::expandEmbed(EmbedExpansion &expansion) const {
  int64_t dim = expansion.embed.getDim(), n = dim / 2;
  if (n == 0)
    return;
  Value waves =
      expansion.constants(getWaves(getExponent(), getBase().convertToDouble(),
                                   getFactor().convertToDouble(), n, dim),
                          {TableAxis::channel});
  Value p = expansion.getCoord();
  expansion.channelMap(
      {p, waves}, getPairing(getLayout()), [&](ArrayRef<Real> x) {
        const Real &element = x[0], &k = x[1], &part = x[2], &p = x[3];
        Real t = p * x[4];
        Real sine = sin(t), cosine = cos(t);
        if (getOrder() == WaveOrder::cosine_first)
          std::swap(sine, cosine);
        Real wave = select(part == 0, sine, cosine);
        if (dim % 2)
          wave = select(k < n, wave, 0);
        if (getPaddingIdx() >= 0)
          wave = select(p == getPaddingIdx(), 0, wave);
        return element + wave;
      });
}

//===----------------------------------------------------------------------===//
// Learned tables
//===----------------------------------------------------------------------===//

static LogicalResult verifyLearned(Emit emitError, StringRef mnemonic,
                                   int64_t rows, int64_t offset) {
  // learned_absolute_c1
  if (failed(verifyBetween(emitError, ("'rows' of #posenc." + mnemonic).str(),
                           rows, 1, kLargestRows)))
    return failure();
  // learned_absolute_c2
  return verifyBetween(emitError, ("'offset' of #posenc." + mnemonic).str(),
                       offset, -kLargestPosition, kLargestPosition);
}

static void expandLearned(EmbedExpansion &expansion, StringRef operand,
                          int64_t rows, int64_t offset, EmbedMerge merge) {
  Value row = expansion.bounded(shift(expansion, expansion.getCoord(), offset),
                                rows, operand);
  Value table = expansion.operand(operand, {TableAxis::row, TableAxis::channel},
                                  rows, expansion.embed.getDim());
  if (merge == EmbedMerge::add) {
    expansion.tokens = VaddOp::create(expansion.builder, expansion.loc,
                                      expansion.tokens.getType(),
                                      expansion.tokens, table, row);
    return;
  }
  prepareMerge(expansion, merge);
  expansion.channelMap({row, table}, std::nullopt, [&](ArrayRef<Real> x) {
    return ::merge(merge, x[0], x[4]);
  });
}

LogicalResult LearnedAbsoluteAttr::verify(Emit emitError, int64_t rows,
                                          int64_t offset, EmbedMerge,
                                          StringRef) {
  return verifyLearned(emitError, "learned_absolute", rows, offset);
}
StringRef LearnedAbsoluteAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> LearnedAbsoluteAttr::getOperandNames() const {
  return {join(getName(), "table")};
}
LogicalResult LearnedAbsoluteAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void LearnedAbsoluteAttr::expandEmbed(EmbedExpansion &expansion) const {
  expandLearned(expansion, getOperandNames().front(), getRows(), getOffset(),
                getMerge());
}

LogicalResult ConvS2SAttr::verify(Emit emitError, SequenceSide, int64_t rows,
                                  int64_t offset, StringRef) {
  return verifyLearned(emitError, "conv_s2s", rows, offset);
}
StringRef ConvS2SAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ConvS2SAttr::getOperandNames() const {
  return {join(getName(), stringifySequenceSide(getSide()))};
}
LogicalResult ConvS2SAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void ConvS2SAttr::expandEmbed(EmbedExpansion &expansion) const {
  expandLearned(expansion, getOperandNames().front(), getRows(), getOffset(),
                EmbedMerge::add);
}

//===----------------------------------------------------------------------===//
// Hierarchical
//===----------------------------------------------------------------------===//

LogicalResult HierarchicalAttr::verify(Emit emitError, int64_t rows,
                                       APFloat alpha, EmbedMerge, StringRef) {
  // hierarchical_c1
  if (failed(verifyBetween(emitError, "'rows' of #posenc.hierarchical", rows, 1,
                           kLargestRows)))
    return failure();
  // hierarchical_c2
  double value = alpha.convertToDouble();
  if (!alpha.isFinite() || value == 0.5 || value == 1)
    return emitError() << "expected 'alpha' of #posenc.hierarchical to be "
                          "finite and neither 0.5, with which blocks and "
                          "places within them are the same, nor 1, but got "
                       << value;
  return success();
}
StringRef HierarchicalAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> HierarchicalAttr::getOperandNames() const {
  return {join(getName(), "table")};
}
LogicalResult HierarchicalAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void HierarchicalAttr::expandEmbed(EmbedExpansion &expansion) const {
  double n = static_cast<double>(getRows());
  std::string operand = getOperandNames().front();
  Value p =
      expansion.bounded(expansion.getCoord(), getRows() * getRows(), operand);
  Value block =
      expansion.remap(p, [&](ArrayRef<Real> x) { return floor(x[0] / n); });
  Value place = expansion.coordMap(
      {p, block}, [&](ArrayRef<Real> x) { return x[0] - x[1] * n; });
  Value zero = expansion.remap(p, [](ArrayRef<Real>) { return Real(0); });
  Value table = expansion.operand(operand, {TableAxis::row, TableAxis::channel},
                                  getRows(), expansion.embed.getDim());
  double alpha = getAlpha().convertToDouble();
  prepareMerge(expansion, getMerge());
  expansion.channelMap({place, table, block, table, zero, table}, std::nullopt,
                       [&](ArrayRef<Real> x) {
                         // Exactly the row itself in block 0.
                         Real step = alpha / (1 - alpha) * (x[6] - x[8]);
                         return merge(getMerge(), x[0], x[4] + step);
                       });
}

//===----------------------------------------------------------------------===//
// ComplexOrder
//===----------------------------------------------------------------------===//

LogicalResult ComplexOrderAttr::verify(Emit emitError, int64_t words,
                                       WordSharing frequency, WordSharing,
                                       WaveLayout, EmbedMerge merge,
                                       StringRef) {
  // complex_order_c1
  if (failed(verifyBetween(emitError, "'words' of #posenc.complex_order", words,
                           1, kLargestRows)))
    return failure();
  // complex_order_c2
  if (frequency == WordSharing::none)
    return emitError() << "expected 'frequency' of #posenc.complex_order to "
                          "say what frequencies depend on, but got none";
  // complex_order_c4
  if (merge == EmbedMerge::mul)
    return emitError() << "expected 'merge' of #posenc.complex_order to be "
                          "replace or add, but got mul";
  return success();
}
StringRef ComplexOrderAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ComplexOrderAttr::getOperandNames() const {
  SmallVector<std::string> names = {join(getName(), "ids"),
                                    join(getName(), "amplitude"),
                                    join(getName(), "frequency")};
  if (getPhase() != WordSharing::none)
    names.push_back(join(getName(), "phase"));
  return names;
}
LogicalResult ComplexOrderAttr::verifyInEmbed(EmbedOp &embed,
                                              Emit emitError) const {
  // complex_order_c3
  if (embed.getDim() % 2)
    return emitError() << "expected an even 'dim' for the real and imaginary "
                          "parts of #posenc.complex_order, but got "
                       << embed.getDim();
  return success();
}

static Value buildShared(EmbedExpansion &expansion, StringRef name,
                         WordSharing sharing, int64_t words, int64_t channels) {
  switch (sharing) {
  case WordSharing::word_and_dimension:
    return expansion.operand(name, {TableAxis::row, TableAxis::channel}, words,
                             channels);
  case WordSharing::word:
    return expansion.operand(name, {TableAxis::row}, words);
  case WordSharing::dimension:
    return expansion.operand(name, {TableAxis::channel}, 0, channels);
  case WordSharing::global:
    return expansion.operand(name, {TableAxis::row}, 1);
  case WordSharing::none:
    break;
  }
  return Value();
}

void ComplexOrderAttr::expandEmbed(EmbedExpansion &expansion) const {
  int64_t n = expansion.embed.getDim() / 2;
  SmallVector<std::string> names = getOperandNames();
  Value p = expansion.getCoord();
  Value word = expansion.bounded(readIntegers(expansion, names[0]), getWords(),
                                 names[1]);
  auto table = [&](unsigned number, WordSharing sharing) {
    return buildShared(expansion, names[number], sharing, getWords(), n);
  };
  SmallVector<Value> inputs = {p, word,
                               table(1, WordSharing::word_and_dimension),
                               table(2, getFrequency())};
  if (getPhase() != WordSharing::none)
    inputs.push_back(table(3, getPhase()));
  prepareMerge(expansion, getMerge());
  expansion.channelMap(inputs, getPairing(getLayout()), [&](ArrayRef<Real> x) {
    Real t = x[6] * x[3];
    if (x.size() > 7)
      t = t + x[7];
    Real wave = select(x[2] == 0, cos(t), sin(t));
    return merge(getMerge(), x[0], x[5] * wave);
  });
}

//===----------------------------------------------------------------------===//
// Cape, Cape2D
//===----------------------------------------------------------------------===//

namespace {
/// What training does to positions.
struct Augmentation {
  double globalShift, localShift, globalScaling;

  LogicalResult verify(Emit emitError, StringRef mnemonic,
                       EmbedMode mode) const;
};
} // namespace

static Augmentation makeAugmentation(const APFloat &globalShift,
                                     const APFloat &localShift,
                                     const APFloat &scaling) {
  return {globalShift.convertToDouble(), localShift.convertToDouble(),
          scaling.convertToDouble()};
}

LogicalResult Augmentation::verify(Emit emitError, StringRef mnemonic,
                                   EmbedMode mode) const {
  auto isBound = [](double value, double low) {
    return std::isfinite(value) && value >= low;
  };
  // cape_c1
  if (!isBound(globalShift, 0) || !isBound(localShift, 0) ||
      !isBound(globalScaling, 1))
    return emitError() << "expected the shifts of #posenc." << mnemonic
                       << " to be at least 0 and its 'max_global_scaling' to "
                          "be at least 1, but got "
                       << globalShift << ", " << localShift << " and "
                       << globalScaling;
  // cape_c2
  if (mode == EmbedMode::inference &&
      (globalShift != 0 || localShift != 0 || globalScaling != 1))
    return emitError() << "expected no shifts and no 'max_global_scaling' in "
                          "#posenc."
                       << mnemonic
                       << " with 'mode = inference', which does not change "
                          "positions";
  return success();
}

/// (q + D + e) exp(u), with the factor given when axes share it.
static Value augment(EmbedExpansion &expansion, const Augmentation &how,
                     Value position, Value scalingNumber) {
  SmallVector<Value> inputs = {position};
  auto draw = [&](double bound, RandomScope scope) {
    if (bound != 0)
      inputs.push_back(expansion.random(scope));
  };
  draw(how.globalShift, RandomScope::sequence);
  draw(how.localShift, RandomScope::token);
  if (scalingNumber)
    inputs.push_back(scalingNumber);
  if (inputs.size() == 1)
    return position;
  return expansion.coordMap(inputs, [&](ArrayRef<Real> x) {
    Real q = x[0];
    unsigned next = 1;
    for (double bound : {how.globalShift, how.localShift})
      if (bound != 0)
        q = q + spread(x[next++], bound);
    if (scalingNumber)
      q = q * exp(spread(x[next], std::log(how.globalScaling)));
    return q;
  });
}

/// The number that the scaling of a sequence is drawn with, if there is one.
static Value drawScaling(EmbedExpansion &expansion, const Augmentation &how) {
  return how.globalScaling != 1 ? expansion.random(RandomScope::sequence)
                                : Value();
}

/// A real number for each token that the caller passes.
static Value readNumbers(EmbedExpansion &expansion, StringRef name) {
  Value table = expansion.numbers(name, {TableAxis::batch, TableAxis::key});
  return expansion.coordMap(table, [](ArrayRef<Real> x) { return x[0]; });
}

LogicalResult CapeAttr::verify(Emit emitError, EmbedMode mode,
                               APFloat maxGlobalShift, APFloat maxLocalShift,
                               APFloat maxGlobalScaling, PositionMean,
                               PositionSource, APFloat positionScale,
                               APFloat frequencyScale, APFloat base,
                               StringRef) {
  if (failed(makeAugmentation(maxGlobalShift, maxLocalShift, maxGlobalScaling)
                 .verify(emitError, "cape", mode)) ||
      failed(verifyFinite(emitError, "'position_scale' of #posenc.cape",
                          positionScale)) ||
      failed(verifyFinite(emitError, "'frequency_scale' of #posenc.cape",
                          frequencyScale)))
    return failure();
  return verifyPositive(emitError, "'base' of #posenc.cape", base);
}
StringRef CapeAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> CapeAttr::getOperandNames() const {
  if (getPositions() == PositionSource::kernel)
    return {};
  return {join(getName(), "positions")};
}
LogicalResult CapeAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void CapeAttr::expandEmbed(EmbedExpansion &expansion) const {
  Value q = getPositions() == PositionSource::kernel
                ? expansion.getCoord()
                : readNumbers(expansion, getOperandNames().front());
  double scale = getPositionScale().convertToDouble();
  if (scale != 1)
    q = expansion.remap(q, [&](ArrayRef<Real> x) { return scale * x[0]; });
  if (getMean() == PositionMean::removed) {
    Value mean = CoordMeanOp::create(expansion.builder, expansion.loc, q);
    q = expansion.coordMap({q, mean},
                           [](ArrayRef<Real> x) { return x[0] - x[1]; });
  }
  Augmentation how = makeAugmentation(getMaxGlobalShift(), getMaxLocalShift(),
                                      getMaxGlobalScaling());
  q = augment(expansion, how, q, drawScaling(expansion, how));
  int64_t dim = expansion.embed.getDim();
  // The last channel of an odd dim is a sine too.
  Value waves = expansion.constants(
      getWaves(WaveExponent::over_dim, getBase().convertToDouble(),
               getFrequencyScale().convertToDouble(), (dim + 1) / 2, dim),
      {TableAxis::channel});
  expansion.channelMap({q, waves}, Pairing::interleaved, [](ArrayRef<Real> x) {
    Real t = x[3] * x[4];
    Real wave = select(x[2] == 0, sin(t), cos(t));
    return x[0] + select(isNaN(x[3]), 0, wave);
  });
}

LogicalResult Cape2DAttr::verify(Emit emitError, EmbedMode mode, GridRadii,
                                 int64_t rows, int64_t columns,
                                 APFloat maxGlobalShift, APFloat maxLocalShift,
                                 APFloat maxGlobalScaling,
                                 PositionSource positions, StringRef) {
  // cape_2d_c1
  if (failed(makeAugmentation(maxGlobalShift, maxLocalShift, maxGlobalScaling)
                 .verify(emitError, "cape_2d", mode)))
    return failure();
  // cape_2d_c3
  bool isGrid = positions == PositionSource::kernel;
  int64_t low = isGrid ? 1 : 0, high = isGrid ? int64_t{1} << 15 : 0;
  if (failed(verifyBetween(emitError, "'rows' of #posenc.cape_2d", rows, low,
                           high)))
    return failure();
  return verifyBetween(emitError, "'columns' of #posenc.cape_2d", columns, low,
                       high);
}
StringRef Cape2DAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> Cape2DAttr::getOperandNames() const {
  if (getPositions() == PositionSource::kernel)
    return {};
  return {join(getName(), "x"), join(getName(), "y")};
}
LogicalResult Cape2DAttr::verifyInEmbed(EmbedOp &embed, Emit emitError) const {
  // cape_2d_c2
  int64_t dim = embed.getDim(),
          least = getRadii() == GridRadii::linspace ? 4 : 2;
  if (dim % 2 || dim < least)
    return emitError() << "expected 'dim' to be even and at least " << least
                       << " for the cosines and sines of #posenc.cape_2d, but "
                          "got "
                       << dim;
  return success();
}

/// -1 .. 1 over `count` places.
static Value spreadPlaces(EmbedExpansion &expansion, Value index,
                          int64_t count) {
  return expansion.remap(index, [&](ArrayRef<Real> x) {
    return count == 1 ? Real(-1) : -1 + 2 * x[0] / (count - 1);
  });
}

void Cape2DAttr::expandEmbed(EmbedExpansion &expansion) const {
  Value x, y;
  if (getPositions() == PositionSource::operand) {
    SmallVector<std::string> names = getOperandNames();
    x = readNumbers(expansion, names[0]);
    y = readNumbers(expansion, names[1]);
  } else {
    double columns = static_cast<double>(getColumns());
    Value p = expansion.bounded(expansion.getCoord(), getRows() * getColumns(),
                                getName());
    Value row = expansion.remap(
        p, [&](ArrayRef<Real> x) { return floor(x[0] / columns); });
    Value column = expansion.coordMap(
        {p, row}, [&](ArrayRef<Real> x) { return x[0] - columns * x[1]; });
    x = spreadPlaces(expansion, row, getRows());
    y = spreadPlaces(expansion, column, getColumns());
  }
  Augmentation how = makeAugmentation(getMaxGlobalShift(), getMaxLocalShift(),
                                      getMaxGlobalScaling());
  Value scaling = drawScaling(expansion, how);
  x = augment(expansion, how, x, scaling);
  y = augment(expansion, how, y, scaling);

  int64_t n = expansion.embed.getDim() / 2;
  SmallVector<double> alongX, alongY;
  for (int64_t k = 0; k < n; ++k) {
    double e = getRadii() == GridRadii::linspace
                   ? static_cast<double>(k) / (n - 1)
                   : static_cast<double>(k + 1) / n;
    double radius = llvm::numbers::pi * std::pow(10.0, e);
    alongX.push_back(radius * std::cos(k));
    alongY.push_back(radius * std::sin(k));
  }
  Value wx = expansion.constants(alongX, {TableAxis::channel});
  Value wy = expansion.constants(alongY, {TableAxis::channel});
  expansion.channelMap({x, wx, y, wy}, Pairing::half, [](ArrayRef<Real> x) {
    Real t = x[3] * x[4] + x[5] * x[6];
    Real wave = select(x[2] == 0, cos(t), sin(t));
    return x[0] + select(isNaN(t), 0, wave);
  });
}

//===----------------------------------------------------------------------===//
// PaddedPositions
//===----------------------------------------------------------------------===//

LogicalResult PaddedPositionsAttr::verify(Emit emitError, PaddingSource,
                                          int64_t first, int64_t padding,
                                          int64_t, StringRef) {
  // padded_positions_c1
  if (failed(verifyBetween(emitError, "'first' of #posenc.padded_positions",
                           first, -kLargestPosition, kLargestPosition)))
    return failure();
  return verifyBetween(emitError, "'padding' of #posenc.padded_positions",
                       padding, -kLargestPosition, kLargestPosition);
}
StringRef PaddedPositionsAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> PaddedPositionsAttr::getOperandNames() const {
  return {join(getName(), stringifyPaddingSource(getSource()))};
}
LogicalResult PaddedPositionsAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void PaddedPositionsAttr::expandEmbed(EmbedExpansion &expansion) const {
  double none = getSource() == PaddingSource::ids ? getPaddingId() : 0;
  Value mask = expansion.remap(
      readIntegers(expansion, getOperandNames().front()),
      [&](ArrayRef<Real> x) { return select(x[0] == none, 0, 1); });
  Value count = CoordSumOp::create(expansion.builder, expansion.loc, mask);
  expansion.setCoord(expansion.coordMap({mask, count}, [&](ArrayRef<Real> x) {
    return select(x[0] == 0, getPadding(), x[1] + (getFirst() - 1));
  }));
}

//===----------------------------------------------------------------------===//
// ShiftedPositions
//===----------------------------------------------------------------------===//

LogicalResult ShiftedPositionsAttr::verify(Emit emitError, ShiftSource source,
                                           ShiftLaw law, int64_t maxShift,
                                           int64_t tableRows, StringRef) {
  // shifted_positions_c1
  if (failed(verifyBetween(emitError,
                           "'max_shift' of #posenc.shifted_positions", maxShift,
                           0, kLargestPosition)))
    return failure();
  // shifted_positions_c2
  bool hasTable = source == ShiftSource::training && law == ShiftLaw::code;
  if (hasTable ? tableRows <= 0 || tableRows > kLargestPosition
               : tableRows != 0)
    return emitError()
           << "expected #posenc.shifted_positions to state a positive "
              "'table_rows' exactly with 'shift = training, law = "
              "code', but got "
           << tableRows;
  return success();
}
StringRef ShiftedPositionsAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> ShiftedPositionsAttr::getOperandNames() const {
  if (getShift() != ShiftSource::operand)
    return {};
  return {join(getName(), "shift")};
}
LogicalResult ShiftedPositionsAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void ShiftedPositionsAttr::expandEmbed(EmbedExpansion &expansion) const {
  Value p = expansion.getCoord();
  double most = static_cast<double>(getMaxShift());
  switch (getShift()) {
  case ShiftSource::inference:
    if (getLaw() == ShiftLaw::code)
      expansion.setCoord(shift(expansion, p, getMaxShift()));
    return;
  case ShiftSource::operand: {
    Value table =
        expansion.numbers(getOperandNames().front(), {TableAxis::batch});
    expansion.setCoord(expansion.coordMap(
        {p, table}, [](ArrayRef<Real> x) { return x[0] + x[1]; }));
    return;
  }
  case ShiftSource::training:
    break;
  }
  Value uniform = expansion.random(RandomScope::sequence);
  if (getLaw() == ShiftLaw::paper) {
    expansion.setCoord(expansion.coordMap({p, uniform}, [&](ArrayRef<Real> x) {
      return x[0] + floor(x[1] * (most + 1));
    }));
    return;
  }
  Value length = LengthOp::create(expansion.builder, expansion.loc);
  expansion.setCoord(
      expansion.coordMap({p, uniform, length}, [&](ArrayRef<Real> x) {
        Real count = max(min(getTableRows() - x[2], most), 0);
        return x[0] + floor(x[1] * count);
      }));
}

//===----------------------------------------------------------------------===//
// RandomisedPositions, Pose
//===----------------------------------------------------------------------===//

LogicalResult RandomisedPositionsAttr::verify(Emit emitError, int64_t range,
                                              StringRef) {
  // randomised_positions_c1
  return verifyBetween(emitError, "'range' of #posenc.randomised_positions",
                       range, 1, kLargestPosition);
}
StringRef RandomisedPositionsAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> RandomisedPositionsAttr::getOperandNames() const {
  return {join(getName(), "positions")};
}
LogicalResult RandomisedPositionsAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void RandomisedPositionsAttr::expandEmbed(EmbedExpansion &expansion) const {
  std::string operand = getOperandNames().front();
  expansion.setCoord(
      expansion.bounded(readIntegers(expansion, operand), getRange(), operand));
}

LogicalResult PoseAttr::verify(Emit emitError, EmbedMode, int64_t target,
                               StringRef) {
  // pose_c1
  return verifyBetween(emitError, "'target' of #posenc.pose", target, 1,
                       kLargestPosition);
}
StringRef PoseAttr::getEncodingName() const { return getName(); }
LogicalResult PoseAttr::verifyInEmbed(EmbedOp &, Emit) const {
  return success();
}
void PoseAttr::expandEmbed(EmbedExpansion &expansion) const {
  if (getMode() == EmbedMode::inference)
    return;
  Value p = expansion.getCoord();
  Value index = expansion.position(
      Side::token, IotaAttr::get(expansion.getContext(), int64_t{0},
                                 Alignment::bottom_right));
  Value length = LengthOp::create(expansion.builder, expansion.loc);
  Value first = expansion.random(RandomScope::sequence);
  Value second = expansion.random(RandomScope::sequence);
  expansion.setCoord(expansion.coordMap(
      {p, index, length, first, second}, [&](ArrayRef<Real> x) {
        const Real &length = x[2];
        Real kept = 1 + floor(x[3] * floor((length + 1) / 2));
        Real gap = max(getTarget() - length, 0);
        Real skipped = floor(x[4] * (gap + 1));
        return select(x[1] < kept, x[0], x[0] + skipped);
      }));
}
