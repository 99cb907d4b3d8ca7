// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets that kernels are compiled for, and where they run.
#include "posenc/Analysis/InstructionSets.h"

#include "posenc/posenc.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

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
    /*numbers=*/2,
    /*latency=*/4,
    /*isFused=*/true,
    /*holdsVectors=*/false,
    /*firstCache=*/32 << 10,
    /*secondCacheBytes=*/32};
static constexpr Core avx2Core = {
    /*registers=*/16,
    /*multiplyAdds=*/2,
    /*loads=*/2,
    /*operations=*/2,
    /*numbers=*/2,
    /*latency=*/4,
    /*isFused=*/true,
    /*holdsVectors=*/true,
    /*firstCache=*/32 << 10,
    /*secondCacheBytes=*/32};
static constexpr Core baselineCore = {
    /*registers=*/16,
    /*multiplyAdds=*/1,
    /*loads=*/2,
    /*operations=*/2,
    /*numbers=*/2,
    /*latency=*/4,
    /*isFused=*/false,
    /*holdsVectors=*/true,
    /*firstCache=*/32 << 10,
    /*secondCacheBytes=*/32};
// NEON: 16 x 4 accumulators leave nothing on the stack; by llvm-mca 97 and 88 %
// of Neoverse V1's products. 24 x 4 and 12 x 8 (24 registers of them) are
// spilled: LLVM keeps the numbers of several keys in registers of their own.
static constexpr Core neonCore = {
    /*registers=*/24,
    /*multiplyAdds=*/2,
    /*loads=*/2,
    /*operations=*/2,
    /*numbers=*/2,
    /*latency=*/4,
    /*isFused=*/true,
    /*holdsVectors=*/true,
    /*firstCache=*/64 << 10,
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
    {"aarch64", 0, "arm-64-linux",
     /*lanes=*/4, /*keys=*/2, /*values=*/4, /*transpose=*/4,
     /*packedKeys=*/4, /*packedValues=*/8,
     /*channelVectors=*/16, neonCore},
};

/// The lines whose names begin with it.
static llvm::ArrayRef<InstructionSet> getFamily(StringRef family) {
  auto isOf = [&](const InstructionSet &isa) {
    return isa.name.starts_with(family);
  };
  return llvm::ArrayRef(table).drop_until(isOf).take_while(isOf);
}

llvm::ArrayRef<Platform> posenc::getPlatforms() {
  static const Platform platforms[] = {
      {"x86-64-linux", "x86-64", "x86_64-unknown-linux-gnu", "x86-64", "linux",
       getFamily("x86-64"), "run by every test"},
      {"aarch64-linux", "aarch64", "aarch64-unknown-linux-gnu", "generic",
       "linux", getFamily("aarch64"), "run by tests under qemu-aarch64"},
      {"aarch64-android", "aarch64", "aarch64-unknown-linux-android", "generic",
       "android", getFamily("aarch64"), "not run: tests look at object files"},
      // The runtime looks for no features there.
      {"arm64-apple-macos", "aarch64", "arm64-apple-macosx11.0.0", "apple-m1",
       "osx", getFamily("aarch64").take_back(1),
       "not run: tests look at object files"},
  };
  return platforms;
}

const Platform &posenc::getHostPlatform() { return getPlatforms().front(); }

llvm::ArrayRef<InstructionSet> posenc::getInstructionSets() { return table; }

const InstructionSet *posenc::findInstructionSet(StringRef name) {
  const InstructionSet *found = llvm::find_if(
      table, [&](const InstructionSet &isa) { return isa.name == name; });
  return found == std::end(table) ? nullptr : found;
}

static bool has(const Platform &platform, const InstructionSet *isa) {
  return isa >= platform.isas.begin() && isa < platform.isas.end();
}

const Platform &posenc::getPlatform(const InstructionSet &isa) {
  return *llvm::find_if(getPlatforms(), [&](const Platform &platform) {
    return has(platform, &isa);
  });
}

const InstructionSet &posenc::getBestInstructionSet(const Platform &platform,
                                                    uint64_t features) {
  for (const InstructionSet &isa : platform.isas)
    if ((isa.features & ~features) == 0)
      return isa;
  llvm_unreachable("the last line needs nothing");
}

static std::string join(llvm::ArrayRef<InstructionSet> sets) {
  return llvm::join(
      llvm::map_range(sets, [](const InstructionSet &isa) { return isa.name; }),
      ", ");
}

std::string posenc::listInstructionSets(const Platform &platform) {
  return join(platform.isas);
}

std::string posenc::listInstructionSets() { return join(table); }

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// What follows the family in the name of a set: "-sve2", or nothing.
static StringRef getSuffix(const Platform &platform,
                           const InstructionSet &isa) {
  return isa.name.drop_front(platform.family.size());
}

static std::optional<Target> parseTarget(StringRef name) {
  for (const Platform &platform : getPlatforms())
    if (name == platform.name) {
      auto names =
          llvm::map_range(platform.isas, [](const InstructionSet &isa) {
            return isa.name.str();
          });
      return Target{&platform, {names.begin(), names.end()}};
    }
  if (const InstructionSet *isa = findInstructionSet(name))
    return Target{&getPlatform(*isa), {isa->name.str()}};
  for (const Platform &platform : getPlatforms())
    for (const InstructionSet &isa : platform.isas)
      if (name == platform.name.str() + getSuffix(platform, isa).str())
        return Target{&platform, {isa.name.str()}};
  return std::nullopt;
}

static std::string listTargets() {
  auto names = llvm::map_range(
      getPlatforms(), [](const Platform &platform) { return platform.name; });
  return llvm::join(names, ", ") + ", " + listInstructionSets();
}

llvm::Expected<Target> posenc::parseTargets(llvm::ArrayRef<std::string> names) {
  Target all{&getHostPlatform(), {}};
  for (const std::string &name : names) {
    std::optional<Target> target = parseTarget(name);
    if (!target)
      return llvm::createStringError("unknown target '" + name +
                                     "'; expected one of " + listTargets());
    if (&name != names.begin() && target->platform != all.platform)
      return llvm::createStringError("expected targets of one platform, as a "
                                     "library is for one, but got '" +
                                     names.front() + "' of " +
                                     all.platform->name + " and '" + name +
                                     "' of " + target->platform->name);
    all.platform = target->platform;
    llvm::append_range(all.isas, target->isas);
  }
  return all;
}

/// What a CPU must have, in words.
static std::string describeFeatures(const InstructionSet &isa) {
  static constexpr std::pair<uint64_t, const char *> words[] = {
      {POSENC_CPU_AVX512_BF16, "AVX512_BF16"},
      {POSENC_CPU_AVX512, "AVX-512 F, DQ, BW, VL and CD"},
      {POSENC_CPU_AVX2_FMA, "AVX2, FMA and F16C"},
  };
  std::vector<std::string> found;
  for (auto [bit, text] : words)
    if (isa.features & bit)
      found.push_back(text);
  return found.empty() ? "what every such CPU has" : llvm::join(found, "; ");
}

std::string posenc::describeTargets() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Platform &platform : getPlatforms()) {
    stream << platform.name
           << ": all of these in one library, chosen when it is loaded ("
           << platform.triple << "; " << platform.tested << ")\n";
    for (const InstructionSet &isa : platform.isas)
      stream << llvm::formatv(
          "  {0,-28} {1}\n",
          &platform == &getPlatform(isa)
              ? isa.name.str()
              : (platform.name + getSuffix(platform, isa)).str(),
          describeFeatures(isa));
  }
  return text;
}
