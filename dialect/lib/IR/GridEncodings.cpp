// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Biases of tokens on a grid: checks and expansions.
#include "TermMath.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

static constexpr int64_t maxSide = 2048;

static LogicalResult verifySides(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef mnemonic, int64_t height,
                                 int64_t width) {
  return success(
      succeeded(
          verifyRange(emitError, mnemonic, "height", height, 1, maxSide)) &&
      succeeded(verifyRange(emitError, mnemonic, "width", width, 1, maxSide)));
}

namespace {
/// The row and column of a token.
struct GridPlace {
  GridPlace(const Real &token, double width)
      : y(floor(token / width)), x(token - y * width) {}
  Real y, x;
};
/// A window of tokens.
struct Window {
  double height, width;

  int64_t countOffsets() const { return (2 * height - 1) * (2 * width - 1); }
  /// The number of the offset between two tokens, query minus key.
  Real getOffset(const Real &query, const Real &key) const {
    GridPlace i(query, width), j(key, width);
    Real row = i.y - j.y + (height - 1);
    Real column = i.x - j.x + (width - 1);
    return row * (2 * width - 1) + column;
  }
  /// The relation of that number.
  Value buildRelation(Expansion &expansion) const {
    Value query = expansion.position(Side::query);
    Value key = expansion.position(Side::key);
    return expansion.relationMap(
        {query, key}, countOffsets(),
        [=](ArrayRef<Real> x) { return getOffset(x[0], x[1]); });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// SwinBias
//===----------------------------------------------------------------------===//

LogicalResult SwinBiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t height, int64_t width, StringRef) {
  // swin_bias_c1
  return verifySides(emitError, getMnemonic(), height, width);
}

StringRef SwinBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> SwinBiasAttr::getOperandNames() const {
  return getOperands(getName(), {"table"});
}
LogicalResult
SwinBiasAttr::verifyInKernel(KernelOp &,
                             function_ref<InFlightDiagnostic()>) const {
  return success();
}

void SwinBiasAttr::advise(KernelOp &, int64_t context,
                          function_ref<void(const Twine &)> warn) const {
  advisePositions(warn, context, getMnemonic(), getHeight() * getWidth(),
                  "arXiv 2103.14030, section 3.2");
}

void SwinBiasAttr::expand(Expansion &expansion) const {
  Window window{double(getHeight()), double(getWidth())};
  expansion.outsideTerms.push_back(
      expansion.lookup(window.buildRelation(expansion),
                       getOperandNames().front(), window.countOffsets()));
}

//===----------------------------------------------------------------------===//
// SwinV2Bias
//===----------------------------------------------------------------------===//

LogicalResult
SwinV2BiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t height, int64_t width, int64_t pretrainedHeight,
                       int64_t pretrainedWidth, int64_t hidden,
                       SwinBiasForm form, StringRef) {
  // swin_v2_bias_c1
  if (failed(verifySides(emitError, getMnemonic(), height, width)))
    return failure();
  // swin_v2_bias_c2
  for (auto [name, pretrained, own] :
       {std::tuple("pretrained_height", pretrainedHeight, height),
        {"pretrained_width", pretrainedWidth, width}}) {
    if (failed(verifyRange(emitError, getMnemonic(), name, pretrained, 0,
                           maxSide)))
      return failure();
    if (form == SwinBiasForm::mlp && (pretrained == 0 ? own : pretrained) == 1)
      return emitError()
             << "expected the sides of the window that the network of "
                "#posenc.swin_v2_bias was trained for to exceed 1, since "
                "offsets are divided by side - 1: state '"
             << name << "', or 'form = folded'";
  }
  // swin_v2_bias_c3
  return verifyRange(emitError, getMnemonic(), "hidden", hidden, 1, 65536);
}

StringRef SwinV2BiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> SwinV2BiasAttr::getOperandNames() const {
  if (getForm() == SwinBiasForm::mlp)
    return getOperands(getName(), {"wy", "wx", "b1", "w2"});
  return getOperands(getName(), {"table"});
}
LogicalResult
SwinV2BiasAttr::verifyInKernel(KernelOp &,
                               function_ref<InFlightDiagnostic()>) const {
  return success();
}

/// The network's output for the offset of each pair.
static Value buildOffsetNetwork(SwinV2BiasAttr attr, Expansion &expansion) {
  SmallVector<std::string> names = attr.getOperandNames();
  auto side = [](int64_t pretrained, int64_t own) {
    return double(pretrained == 0 ? own : pretrained);
  };
  double height = side(attr.getPretrainedHeight(), attr.getHeight());
  double width = side(attr.getPretrainedWidth(), attr.getWidth());
  Value query = expansion.position(Side::query);
  Value key = expansion.position(Side::key);
  Value unit = expansion.sumIndex(attr.getHidden());
  SmallVector<Value> inputs{query, key, unit};
  for (const std::string &name : ArrayRef(names).drop_back())
    inputs.push_back(
        expansion.operand(name, {TableAxis::row}, attr.getHidden()));
  inputs.push_back(expansion.operand(
      names.back(), {TableAxis::row, TableAxis::head}, attr.getHidden()));
  return expansion.bias(inputs, [=](ArrayRef<Real> x) {
    auto g = [](const Real &offset, double n) {
      Real size = abs(offset * (8 / (n - 1)));
      return copysign(log2(size + 1.0) / 3.0, offset);
    };
    GridPlace i(x[0], attr.getWidth());
    GridPlace j(x[1], attr.getWidth());
    Real y = x[3] * g(i.y - j.y, height);
    Real z = x[4] * g(i.x - j.x, width);
    return x[6] * max(y + z + x[5], 0.0);
  });
}

void SwinV2BiasAttr::advise(KernelOp &, int64_t context,
                            function_ref<void(const Twine &)> warn) const {
  advisePositions(warn, context, getMnemonic(), getHeight() * getWidth(),
                  "arXiv 2111.09883, section 3.3");
}

void SwinV2BiasAttr::expand(Expansion &expansion) const {
  Value term;
  if (getForm() == SwinBiasForm::mlp) {
    term = buildOffsetNetwork(*this, expansion);
  } else {
    Window window{double(getHeight()), double(getWidth())};
    term = expansion.lookup(window.buildRelation(expansion),
                            getOperandNames().front(), window.countOffsets());
  }
  if (getForm() != SwinBiasForm::folded)
    term = expansion.map({term}, {},
                         [](ArrayRef<Real> x) { return sigmoid(x[0]) * 16.0; });
  expansion.outsideTerms.push_back(term);
}

//===----------------------------------------------------------------------===//
// BeitBias
//===----------------------------------------------------------------------===//

LogicalResult BeitBiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t height, int64_t width, StringRef) {
  // beit_bias_c1
  return verifySides(emitError, getMnemonic(), height, width);
}

StringRef BeitBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> BeitBiasAttr::getOperandNames() const {
  return getOperands(getName(), {"table"});
}
LogicalResult
BeitBiasAttr::verifyInKernel(KernelOp &,
                             function_ref<InFlightDiagnostic()>) const {
  return success();
}

void BeitBiasAttr::advise(KernelOp &, int64_t context,
                          function_ref<void(const Twine &)> warn) const {
  advisePositions(warn, context, getMnemonic(), getHeight() * getWidth() + 1,
                  "microsoft/unilm, beit/modeling_finetune.py");
}

void BeitBiasAttr::expand(Expansion &expansion) const {
  Window window{double(getHeight()), double(getWidth())};
  double offsets = window.countOffsets();
  Value query = expansion.position(Side::query);
  Value key = expansion.position(Side::key);
  Value row = expansion.relationMap(
      {query, key}, window.countOffsets() + 3, [=](ArrayRef<Real> x) {
        Real i = x[0] - 1.0, j = x[1] - 1.0;
        Real tokens = window.getOffset(i, j);
        Truth keyIsClass = x[1] == 0;
        Real ofToken = select(keyIsClass, offsets + 1, tokens);
        Real ofClass = select(keyIsClass, offsets + 2, offsets);
        return select(x[0] == 0, ofClass, ofToken);
      });
  expansion.outsideTerms.push_back(expansion.lookup(
      row, getOperandNames().front(), window.countOffsets() + 3));
}

//===----------------------------------------------------------------------===//
// GridBias
//===----------------------------------------------------------------------===//

LogicalResult GridBiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t width, int64_t maxRow,
                                   int64_t maxColumn, GridDistance, GridLayout,
                                   Orientation, GridCoordinates coordinates,
                                   StringRef) {
  // grid_bias_c1
  if (failed(
          verifyRange(emitError, getMnemonic(), "max_row", maxRow, 0, 4095)) ||
      failed(verifyRange(emitError, getMnemonic(), "max_column", maxColumn, 0,
                         4095)))
    return failure();
  // grid_bias_c2
  if (coordinates == GridCoordinates::row_major)
    return verifyRange(emitError, getMnemonic(), "width", width, 1, 1 << 20);
  if (width != 0)
    return emitError() << "expected #posenc.grid_bias not to state 'width' "
                          "beside 'coordinates = tensor'";
  return success();
}

StringRef GridBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> GridBiasAttr::getOperandNames() const {
  SmallVector<StringRef> suffixes;
  if (getLayout() == GridLayout::joint)
    suffixes = {"table"};
  else
    suffixes = {"rows", "columns"};
  if (getCoordinates() == GridCoordinates::tensor)
    suffixes.push_back("coordinates");
  return getOperands(getName(), suffixes);
}
LogicalResult
GridBiasAttr::verifyInKernel(KernelOp &,
                             function_ref<InFlightDiagnostic()>) const {
  return success();
}

/// The row (axis 0) or column (axis 1) of the tokens of one side.
static Value buildCoordinate(GridBiasAttr attr, Expansion &expansion, Side side,
                             int64_t axis) {
  if (attr.getCoordinates() == GridCoordinates::tensor)
    return readPositions(expansion, side, attr.getOperandNames().back(),
                         /*axes=*/2, axis);
  double width = attr.getWidth();
  return expansion.remap(expansion.position(side), [=](ArrayRef<Real> x) {
    GridPlace place(x[0], width);
    return axis == 0 ? place.y : place.x;
  });
}

/// Says that offsets along an axis are not told apart, if two are not.
static void adviseAxis(Warn warn, StringRef axis, int64_t most, int64_t count) {
  if (count - 1 > most)
    warn("#posenc.grid_bias does not tell " + axis + " at a distance of " +
         Twine(most) + " or more apart, but the context has " + Twine(count) +
         " of them (arXiv 2107.14222)");
}

void GridBiasAttr::advise(KernelOp &, int64_t context,
                          function_ref<void(const Twine &)> warn) const {
  if (getCoordinates() == GridCoordinates::tensor)
    return;
  adviseAxis(warn, "rows", getMaxRow(), llvm::divideCeil(context, getWidth()));
  adviseAxis(warn, "columns", getMaxColumn(), std::min(context, getWidth()));
}

void GridBiasAttr::expand(Expansion &expansion) const {
  bool isDirected = getDistance() == GridDistance::directed;
  bool isReversed = getOrientation() == Orientation::key_minus_query;
  double limits[] = {double(getMaxRow()), double(getMaxColumn())};
  auto count = [&](unsigned axis) {
    return static_cast<int64_t>(isDirected ? 2 * limits[axis] + 1
                                           : limits[axis] + 1);
  };
  auto clip = [=](const Real &query, const Real &key, double limit) {
    Real d = isReversed ? key - query : query - key;
    return isDirected ? clamp(d, -limit, limit) + limit : min(abs(d), limit);
  };
  SmallVector<Value> coordinates;
  for (int64_t axis : {0, 1})
    for (Side side : {Side::query, Side::key})
      coordinates.push_back(buildCoordinate(*this, expansion, side, axis));
  SmallVector<std::string> names = getOperandNames();
  if (getLayout() == GridLayout::joint) {
    double columns = count(1);
    Value row = expansion.relationMap(coordinates, count(0) * count(1),
                                      [=](ArrayRef<Real> x) {
                                        Real y = clip(x[0], x[1], limits[0]);
                                        Real z = clip(x[2], x[3], limits[1]);
                                        return y * columns + z;
                                      });
    expansion.outsideTerms.push_back(
        expansion.lookup(row, names.front(), count(0) * count(1)));
    return;
  }
  for (unsigned axis : {0u, 1u}) {
    Value row = expansion.relationMap(
        ArrayRef(coordinates).slice(2 * axis, 2), count(axis),
        [=](ArrayRef<Real> x) { return clip(x[0], x[1], limits[axis]); });
    expansion.outsideTerms.push_back(
        expansion.lookup(row, names[axis], count(axis)));
  }
}

//===----------------------------------------------------------------------===//
// RegionBias
//===----------------------------------------------------------------------===//

LogicalResult
RegionBiasAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       APFloat value, StringRef) {
  // region_bias_c1
  if (!value.isFinite())
    return emitError() << "expected 'value' of #posenc.region_bias to be "
                          "finite, but got "
                       << value.convertToDouble();
  return success();
}

StringRef RegionBiasAttr::getEncodingName() const { return getName(); }
SmallVector<std::string> RegionBiasAttr::getOperandNames() const {
  return {getName().str()};
}
LogicalResult
RegionBiasAttr::verifyInKernel(KernelOp &,
                               function_ref<InFlightDiagnostic()>) const {
  return success();
}

void RegionBiasAttr::expand(Expansion &expansion) const {
  Value query = readPositions(expansion, Side::query, getName());
  Value key = readPositions(expansion, Side::key, getName());
  double penalty = getValue().convertToDouble();
  expansion.outsideTerms.push_back(
      expansion.bias({query, key}, [=](ArrayRef<Real> x) {
        return select(x[0] == x[1], 0, penalty);
      }));
}
