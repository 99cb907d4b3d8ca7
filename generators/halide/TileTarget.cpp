// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileTarget.h"

#include "llvm/ADT/StringExtras.h"

using namespace posenc;
using llvm::StringRef;

// What is measured behind each line (head size 128 / 64, percent of the FMA
// peak), by accumulators: 48 x 8 on AVX-512 92 / 89, 24 x 4 on AVX2 88 / 84
// (16 x 6: 83, 16 x 4: 81, 8 x 12: 66). A score has two of them, hence half as
// many keys. A new instruction set (x86-64-avx512-bf16, aarch64) is a new line.
static const TileTarget targets[] = {
    {"x86-64", "x86-64-linux", 4, 2, 4, 4},
    {"x86-64-avx2", "x86-64-linux-sse41-avx-f16c-fma-avx2", 8, 2, 4, 8},
    {"x86-64-avx512",
     "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake", 16, 4, 8, 8},
};

const TileTarget *posenc::findTileTarget(StringRef isa) {
  for (const TileTarget &target : targets)
    if (target.isa == isa)
      return &target;
  return nullptr;
}

std::string posenc::listTileTargets() {
  return llvm::join(
      llvm::map_range(
          targets, [](const TileTarget &target) { return target.isa.str(); }),
      ", ");
}

mlir::FailureOr<llvm::SmallVector<TileShape>>
posenc::getTileShapes(PlanOp plan) {
  const TileTarget *target = findTileTarget(plan.getIsa());
  if (!target)
    return plan.emitOpError("has no CPU generator for the instruction set '")
           << plan.getIsa() << "'; expected one of: " << listTileTargets();

  int64_t block = plan.getKeys();
  if (block < target->keys || block > 4096 || block % target->keys != 0)
    return plan.emitOpError("has keys(")
           << block << "); expected a multiple of " << target->keys
           << " up to 4096 on " << target->isa;

  llvm::SmallVector<TileShape> shapes;
  for (int64_t rows : plan.getRows()) {
    int64_t step = std::max(target->lanes, target->transpose);
    if (rows < step || rows > 256 || rows % step != 0)
      return plan.emitOpError("has rows of ")
             << rows << "; expected a multiple of " << step << " up to 256 on "
             << target->isa;
    TileShape shape;
    shape.rows = rows;
    shape.lanes = target->lanes;
    shape.keys = target->keys;
    shape.values = target->values;
    shape.transpose = target->transpose;
    shape.block = block;
    shape.headDim = plan.getHeadDim();
    shape.valueDim = plan.getValueDim();
    shapes.push_back(shape);
  }
  return shapes;
}
