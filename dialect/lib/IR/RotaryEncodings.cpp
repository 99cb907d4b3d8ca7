// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodings that rotate queries and keys: checks and expansions.
#include "posenc/IR/Encodings.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat base, Pairing, int64_t dims, Placement,
                               StringRef) {
  // rope_c1
  if (!base.isFinite() || base.isNegative() || base.isZero())
    return emitError() << "expected 'base' of #posenc.rope to be positive and "
                          "finite, but got "
                       << base.convertToDouble();
  // rope_c2
  if (dims < 0 || dims % 2 != 0)
    return emitError() << "expected 'dims' of #posenc.rope to be even and "
                          "positive, or 0 for the whole head, but got "
                       << dims;
  return success();
}

StringRef RopeAttr::getEncodingName() const { return getName(); }

LogicalResult
RopeAttr::verifyInKernel(KernelOp &kernel,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // rope_c3
  if (getDims() > static_cast<int64_t>(kernel.getHeadDim()))
    return emitError() << "expected 'dims' of #posenc.rope (" << getDims()
                       << ") to be at most the kernel's 'head_dim' ("
                       << kernel.getHeadDim() << ")";
  return success();
}

void RopeAttr::expand(Expansion &expansion) const {
  OpBuilder &builder = expansion.builder;
  int64_t headDim = expansion.kernel.getHeadDim();
  int64_t dims = getDims() == 0 ? headDim : getDims();
  int64_t firstDim = getPlacement() == Placement::first ? 0 : headDim - dims;
  Value freqs = FreqsOp::create(
      builder, expansion.loc,
      GeometricAttr::get(builder.getContext(), getBase(), dims));
  auto rotate = [&](Value input, Side side) -> Value {
    return RotateOp::create(builder, expansion.loc, input.getType(), input,
                            expansion.position(side), freqs,
                            /*mix=*/ValueRange(), getPairing(), firstDim);
  };
  expansion.transformQueries(
      [&](Value query) { return rotate(query, Side::query); });
  expansion.transformKeys([&](Value key) { return rotate(key, Side::key); });
}
