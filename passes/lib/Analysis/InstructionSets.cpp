// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets that kernels are compiled for.
#include "posenc/Analysis/InstructionSets.h"

#include "posenc/posenc.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace posenc;
using llvm::StringRef;

// What is measured behind each line (head size 128 / 64, percent of the FMA
// peak), by accumulators: 48 x 8 on AVX-512 92 / 89, 24 x 4 on AVX2 88 / 84
// (16 x 6: 83, 16 x 4: 81, 8 x 12: 66). A score has two of them, hence half as
// many keys. Pairs of bf16: 48 x 8, a pair's two products are a score's two
// accumulators. A new instruction set is a new line.
// The heights of tiles follow from that (CostModel.h), and from what a core
// does: here Zen 4, which splits vectors of 512 bits, and an old one with 128.
static constexpr Core avx512Core = {
    /*registers=*/32,
    /*multiplyAdds=*/1,
    /*loads=*/1,
    /*operations=*/1,
    /*latency=*/4,
    /*isFused=*/true,
    /*firstCache=*/32 << 10,
    /*secondCacheBytes=*/32};
static constexpr Core avx2Core = {
    /*registers=*/16,
    /*multiplyAdds=*/2,
    /*loads=*/2,
    /*operations=*/2,
    /*latency=*/4,
    /*isFused=*/true,
    /*firstCache=*/32 << 10,
    /*secondCacheBytes=*/32};
static constexpr Core baselineCore = {
    /*registers=*/16,
    /*multiplyAdds=*/1,
    /*loads=*/2,
    /*operations=*/2,
    /*latency=*/4,
    /*isFused=*/false,
    /*firstCache=*/32 << 10,
    /*secondCacheBytes=*/32};
static const InstructionSet table[] = {
    {"x86-64-avx512-bf16", POSENC_CPU_AVX512 | POSENC_CPU_AVX512_BF16,
     "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-"
     "avx512_cannonlake-avx512_zen4",
     /*lanes=*/16, /*keys=*/4, /*values=*/8, /*transpose=*/8,
     /*packedKeys=*/8, /*packedValues=*/16,
     /*channelVectors=*/16, avx512Core, /*pairKeys=*/8, "x86-64-v4",
     "+avx512bf16"},
    {"x86-64-avx512", POSENC_CPU_AVX512,
     "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake",
     /*lanes=*/16, /*keys=*/4, /*values=*/8, /*transpose=*/8,
     /*packedKeys=*/8, /*packedValues=*/16,
     /*channelVectors=*/16, avx512Core},
    {"x86-64-avx2", POSENC_CPU_AVX2_FMA, "x86-64-linux-sse41-avx-f16c-fma-avx2",
     /*lanes=*/8, /*keys=*/2, /*values=*/4, /*transpose=*/8,
     /*packedKeys=*/4, /*packedValues=*/8,
     /*channelVectors=*/8, avx2Core},
    {"x86-64", 0, "x86-64-linux",
     /*lanes=*/4, /*keys=*/2, /*values=*/4, /*transpose=*/4,
     /*packedKeys=*/4, /*packedValues=*/8,
     /*channelVectors=*/8, baselineCore},
};

llvm::ArrayRef<InstructionSet> posenc::getInstructionSets() { return table; }

const InstructionSet *posenc::findInstructionSet(StringRef name) {
  const InstructionSet *found = llvm::find_if(
      table, [&](const InstructionSet &isa) { return isa.name == name; });
  return found == std::end(table) ? nullptr : found;
}

const InstructionSet &posenc::getBestInstructionSet(uint64_t features) {
  for (const InstructionSet &isa : table)
    if ((isa.features & ~features) == 0)
      return isa;
  llvm_unreachable("the last line needs nothing");
}

std::string posenc::listInstructionSets() {
  return llvm::join(
      llvm::map_range(table,
                      [](const InstructionSet &isa) { return isa.name; }),
      ", ");
}
