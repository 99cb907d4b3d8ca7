// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 1 to level 2: named encodings become the primitives that they mean.
#include "posenc/IR/Expansion.h"
#include "posenc/Transforms/Passes.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCEXPANDENCODINGS
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

/// What encodings have to say about the context that a kernel is meant for.
static void advise(KernelOp kernel) {
  std::optional<uint64_t> length = kernel.getContextLength();
  ArrayAttr list = kernel.getEncodeAttr();
  if (!length || !list)
    return;
  for (Attribute entry : list)
    cast<EncodingAttrInterface>(entry).advise(
        kernel, *length,
        [&](const Twine &text) { kernel.emitWarning() << text; });
}

static void expand(KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder builder(context);
  Block *block = builder.createBlock(
      &kernel.getBody(), {},
      {QueryType::get(context), KeyType::get(context), ValueType::get(context)},
      {loc, loc, loc});
  Expansion expansion(builder, kernel, block->getArgument(0),
                      block->getArgument(1), block->getArgument(2));
  if (ArrayAttr list = kernel.getEncodeAttr())
    for (Attribute entry : list)
      cast<EncodingAttrInterface>(entry).expand(expansion);
  expansion.finish(kernel.getMaskOrDefault());
  kernel.removeMaskAttr();
  kernel.removeScaleAttr();
  kernel.removePositionsAttr();
  kernel.removeTableDtypeAttr();
  kernel.removeDropoutAttr();
  kernel.removeEncodeAttr();
}

/// x * scale.
static Value buildScale(EmbedExpansion &expansion, double scale) {
  return expansion.create<RowScaleOp>(
      0, [&](ArrayRef<Real>) { return Real(scale); }, expansion.tokens,
      ValueRange());
}

static void expand(EmbedOp embed) {
  Location loc = embed.getLoc();
  OpBuilder builder(embed.getContext());
  Block *block = builder.createBlock(
      &embed.getBody(), {}, {TokensType::get(embed.getContext())}, {loc});
  EmbedExpansion expansion(builder, embed, block->getArgument(0));
  if (std::optional<APFloat> scale = embed.getScale();
      scale && scale->convertToDouble() != 1)
    expansion.tokens = buildScale(expansion, scale->convertToDouble());
  if (ArrayAttr list = embed.getEncodeAttr())
    for (Attribute entry : list)
      cast<EncodingAttrInterface>(entry).expandEmbed(expansion);
  if (std::optional<APFloat> rate = embed.getDropout(); rate && !rate->isZero())
    expansion.tokens =
        DropoutOp::create(builder, loc, expansion.tokens, *rate, 0);
  YieldOp::create(builder, loc, expansion.tokens);
  embed.removeTableDtypeAttr();
  embed.removeScaleAttr();
  embed.removePositionsAttr();
  embed.removeDropoutAttr();
  embed.removeEncodeAttr();
}

namespace {
struct ExpandEncodings
    : posenc::impl::PosencExpandEncodingsBase<ExpandEncodings> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (kernel.isExpanded())
        continue;
      advise(kernel);
      expand(kernel);
    }
    for (EmbedOp embed : getOperation().getOps<EmbedOp>())
      if (!embed.isExpanded())
        expand(embed);
  }
};
} // namespace
