// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions and positions that are affine functions, proved from their text.
#include "posenc/Analysis/AffineRegions.h"

#include "posenc/IR/ScalarRegion.h"

#include <cmath>

using namespace mlir;
using namespace posenc;

namespace {
using Affine = std::optional<AffineFunction>;

/// Affine functions of one argument; everything else is nothing.
struct AffineAlgebra {
  Affine constant(double value) { return AffineFunction{0, value}; }
  Affine truth(bool) { return std::nullopt; }
  Affine compare(arith::CmpFPredicate, Affine, Affine) { return std::nullopt; }
  Affine select(Affine, Affine, Affine) { return std::nullopt; }

  Affine apply(ScalarFunction function, ArrayRef<Affine> in) {
    if (llvm::any_of(in, [](const Affine &x) { return !x; }))
      return std::nullopt;
    switch (function) {
    case ScalarFunction::Neg:
      return scale(in[0], -1);
    case ScalarFunction::Add:
      return add(in[0], in[1]);
    case ScalarFunction::Sub:
      return add(in[0], scale(in[1], -1));
    case ScalarFunction::Mul:
      return multiply(in[0], in[1]);
    case ScalarFunction::Div:
      if (!in[1]->isConstant() || in[1]->offset == 0)
        return std::nullopt;
      return AffineFunction{in[0]->slope / in[1]->offset,
                            in[0]->offset / in[1]->offset};
    case ScalarFunction::Fma:
      return add(multiply(in[0], in[1]), in[2]);
    default:
      return std::nullopt;
    }
  }

  static Affine scale(Affine x, double factor) {
    return AffineFunction{x->slope * factor, x->offset * factor};
  }
  static Affine add(Affine a, Affine b) {
    if (!a || !b)
      return std::nullopt;
    return AffineFunction{a->slope + b->slope, a->offset + b->offset};
  }
  static Affine multiply(Affine a, Affine b) {
    if (a->isConstant())
      return scale(b, a->offset);
    return b->isConstant() ? scale(a, b->offset) : std::nullopt;
  }
};
} // namespace

static bool isFinite(const Affine &function) {
  return function && std::isfinite(function->slope) &&
         std::isfinite(function->offset);
}

/// `varying` is the number of the argument, or that of none.
static Affine evaluate(Region &region, unsigned varying) {
  SmallVector<Affine> arguments(region.getNumArguments());
  if (varying < arguments.size())
    arguments[varying] = AffineFunction();
  Affine result =
      evaluateScalarRegion<Affine>(region, arguments, AffineAlgebra());
  return isFinite(result) ? result : std::nullopt;
}

std::optional<AffineFunction> posenc::matchAffine(Region &region,
                                                  unsigned argument) {
  return evaluate(region, argument);
}

std::optional<double> posenc::matchConstant(Region &region) {
  Affine value = evaluate(region, region.getNumArguments());
  return value ? std::optional(value->offset) : std::nullopt;
}

AffinePosition posenc::resolvePosition(Value position) {
  AffinePosition result{position, {}};
  while (auto remap = result.base.getDefiningOp<RemapOp>()) {
    Affine inner = matchAffine(remap.getBody(), 0);
    if (!inner)
      break;
    const AffineFunction &outer = result.function;
    Affine composed = AffineFunction{
        outer.slope * inner->slope, outer.slope * inner->offset + outer.offset};
    if (!isFinite(composed))
      break;
    result.function = *composed;
    result.base = remap.getPosition();
  }
  return result;
}
