// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotary encodings of tokens on a grid: checks and expansions.
#include "posenc/IR/Encodings.h"

#include "Presets.h"
#include "Rotation.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

namespace {
/// Where tokens stand.
struct Grid {
  int64_t width, height, classTokens;

  LogicalResult verify(StringRef mnemonic, EmitError emitError) const;
};
} // namespace

LogicalResult Grid::verify(StringRef mnemonic, EmitError emitError) const {
  constexpr int64_t most = int64_t{1} << 24;
  for (auto [name, value] : {std::pair("grid_width", width),
                             {"grid_height", height},
                             {"class_tokens", classTokens}})
    if (value < 0 || value > most)
      return emitError() << "expected '" << name << "' of #posenc." << mnemonic
                         << " to be from 0 to 2^24, but got " << value;
  if (width == 0 && (classTokens > 0 || height > 0))
    return emitError() << "expected no 'class_tokens' or 'grid_height' of "
                          "#posenc."
                       << mnemonic
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
                                                  Side side, const Grid &grid,
                                                  int64_t offset) {
  if (grid.width == 0) {
    Value y = getPositionAxis(expansion, side, 0);
    return {getPositionAxis(expansion, side, 1), y};
  }
  Value position = expansion.position(side);
  auto coordinate = [&](bool isRow) {
    return expansion.remap(position, [&](ArrayRef<Real> p) {
      Real patch = grid.classTokens ? p[0] - grid.classTokens : p[0];
      Real row = floor(patch / grid.width);
      Real result = isRow ? row : patch - row * grid.width;
      if (offset)
        result = result + offset;
      if (grid.classTokens)
        result = select(patch < 0, 0, result);
      return grid.height ? select(patch < grid.width * grid.height, result, 0)
                         : result;
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
    {"llama4-vision",
     "base = 1.0e4, pairing = interleaved, order = xy, offset = 1"},
};

/// The parameters that may stand beside a preset.
static std::string getRest(AxialRopeAttr axial) {
  return (", grid_width = " + Twine(axial.getGridWidth()) +
          ", grid_height = " + Twine(axial.getGridHeight()) +
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
                      int64_t height, int64_t classTokens, StringRef,
                      StringRef) {
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
  return Grid{width, height, classTokens}.verify(getMnemonic(), emitError);
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
  if (getPreset() == "llama4-vision" && getGridHeight() == 0)
    return emitError() << "expects 'grid_height' of #posenc.axial_rope beside "
                          "'preset = \"llama4-vision\"', whose class token "
                          "stands behind the grid";
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
    auto [x, y] = getGridCoordinates(
        expansion, side,
        {axial.getGridWidth(), axial.getGridHeight(), axial.getClassTokens()},
        axial.getOffset());
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
                      int64_t dims, Placement, int64_t width, int64_t height,
                      int64_t classTokens, StringRef) {
  // mixed_rope_c1
  if (failed(verifyDims(getMnemonic(), dims, 2, emitError)))
    return failure();
  // mixed_rope_c2
  return Grid{width, height, classTokens}.verify(getMnemonic(), emitError);
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
  for (StringRef name : getOperandNames())
    freqs.push_back(readFrequencies(expansion, name,
                                    {TableAxis::head, TableAxis::row},
                                    channels.getNumPairs()));
  rotateBoth(expansion, [&](Value vector, Side side) -> Value {
    auto [x, y] = getGridCoordinates(
        expansion, side, {getGridWidth(), getGridHeight(), getClassTokens()},
        /*offset=*/0);
    return RotateOp::create(expansion.builder, expansion.loc, vector.getType(),
                            vector, ValueRange{x, y}, freqs,
                            /*mix=*/ValueRange(), getPairing(), channels.first);
  });
}
