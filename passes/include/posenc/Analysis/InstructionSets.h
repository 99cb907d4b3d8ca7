// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets that kernels are compiled for, and the systems that they
// run on. Everything that the compiler and its tools know of one is a line of
// these tables.
#ifndef POSENC_ANALYSIS_INSTRUCTIONSETS_H
#define POSENC_ANALYSIS_INSTRUCTIONSETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace posenc {

/// Accumulators of one score, for the sake of accuracy.
constexpr int kDotAccumulators = 2;

/// What a core does, as far as the cost model asks.
struct Core {
  /// Vector registers.
  int64_t registers;
  /// Vectors a cycle: multiplied and added, read, and of other operations.
  double multiplyAdds, loads, operations;
  /// Numbers a cycle that are read to all lanes.
  double numbers;
  /// Cycles until a sum can be added to.
  double latency;
  /// Whether multiplying and adding is one instruction, and whether its vector
  /// is read before, to a register of its own.
  bool isFused, holdsVectors;
  /// Bytes of the first cache; bytes a cycle from the second.
  int64_t firstCache;
  double secondCacheBytes;
};

struct InstructionSet {
  /// As users and manifests spell it.
  llvm::StringRef name;
  /// POSENC_CPU_... bits of posenc.h that a CPU must have.
  uint64_t features;
  /// Halide's name on Linux. Every feature is spelled out: the machine that
  /// compiles does not matter.
  llvm::StringRef halideTarget;
  /// f32 lanes of a vector register.
  int64_t lanes;
  /// Keys, and value columns, whose accumulators are in registers together; a
  /// score has kDotAccumulators of them.
  int64_t keys, values;
  /// Edge of the square blocks that are transposed in registers.
  int64_t transpose;
  /// Keys and value columns of the tiles of packed plans whose rows are lanes.
  int64_t packedKeys, packedValues;
  /// Value vectors that are in registers together where channels are lanes.
  int64_t channelVectors;
  Core core;
  /// Keys in registers together where pairs of bf16 are multiplied and added at
  /// once; 0: there is no such instruction.
  int64_t pairKeys = 0;
  /// LLVM's names of what code may use, where Halide's target stands for a CPU
  /// that has more than `features`.
  llvm::StringRef cpu = {}, cpuFeatures = {};
};

/// A processor architecture and an operating system.
struct Platform {
  /// As users spell it: all instruction sets of it, in one library.
  llvm::StringRef name;
  /// What the names of its instruction sets begin with.
  llvm::StringRef family;
  /// LLVM's name, and that of a CPU that has what all have.
  llvm::StringRef triple, cpu;
  /// Halide's name of the operating system.
  llvm::StringRef halideSystem;
  /// Best first: a CPU that has one has those after it.
  llvm::ArrayRef<InstructionSet> isas;
  /// How kernels of it are tested.
  llvm::StringRef tested;
};

/// All of them, those of a family together.
llvm::ArrayRef<InstructionSet> getInstructionSets();

/// The first is that of the machine that compiles.
llvm::ArrayRef<Platform> getPlatforms();
const Platform &getHostPlatform();

/// Null for a name that is not in the table.
const InstructionSet *findInstructionSet(llvm::StringRef name);

/// The first platform that has it.
const Platform &getPlatform(const InstructionSet &isa);

/// The best of a platform that a CPU with these features has.
const InstructionSet &getBestInstructionSet(const Platform &platform,
                                            uint64_t features);

/// "x86-64-avx512, x86-64-avx2, ...": for diagnostics. Of all platforms, or of
/// one.
std::string listInstructionSets();
std::string listInstructionSets(const Platform &platform);

/// What a library is compiled for.
struct Target {
  const Platform *platform;
  /// Names of instruction sets.
  std::vector<std::string> isas;
};

/// A target is a platform ("aarch64-linux"), an instruction set on the first
/// platform that has it ("x86-64-avx2"), or the rest of its name behind
/// another platform's. All must be of one platform; none are the host's.
llvm::Expected<Target> parseTargets(llvm::ArrayRef<std::string> names);

/// Every target, what a CPU must have for it, and how it is tested.
std::string describeTargets();

} // namespace posenc

#endif // POSENC_ANALYSIS_INSTRUCTIONSETS_H
