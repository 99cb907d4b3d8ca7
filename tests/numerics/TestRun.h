// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts tests and prints those that fail.
#ifndef POSENC_NUMERICS_TESTRUN_H
#define POSENC_NUMERICS_TESTRUN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

typedef struct posenc_pool posenc_pool;

namespace posenc {
class Emulator;
class NativeKernel;
struct InstructionSet;
struct CompiledKernel;
struct Platform;
} // namespace posenc

namespace posenc::numerics {

/// What every test program can be asked for.
struct TestOptions {
  /// Every combination of what is tested, not every pair.
  bool full;
  std::string filter;
  bool verbose;
};

/// Ends the program where the arguments are no options.
TestOptions parseOptions(int argc, char **argv, llvm::StringRef overview);

class TestRun {
public:
  /// Only tests whose name contains the filter run.
  explicit TestRun(const TestOptions &options)
      : filter(options.filter), verbose(options.verbose) {}

  /// Whether the test of that name runs.
  bool isSelected(const llvm::Twine &name) const;
  /// Runs one test. `body` says what is wrong, or nothing.
  void test(const llvm::Twine &name, llvm::function_ref<std::string()> body);
  /// Says that something was left out.
  void skip(const llvm::Twine &name, llvm::StringRef reason);

  /// Prints the totals; returns the exit code.
  int finish() const;

private:
  std::string filter;
  bool verbose;
  unsigned passed = 0, failed = 0;
};

/// Runs a test that may end the program: then its name is printed.
void runGuarded(TestRun &run, const std::string &name,
                llvm::function_ref<std::string()> body);

/// What runs kernels that are not of this machine; null if this machine does.
const Emulator *getEmulator();
llvm::Expected<std::unique_ptr<NativeKernel>>
loadKernel(const CompiledKernel &kernel);

/// Where kernels of the tests run.
const Platform &getTestedPlatform();

/// Whether the CPU, which may be emulated, has an instruction set.
bool canRun(const InstructionSet &isa);

/// The instruction sets that this machine has, or the emulated one, best first;
/// what it has not is skipped.
std::vector<std::string> findInstructionSets(TestRun &run);
/// That which multiplies pairs of bf16, for kernels of bf16; counted as skipped
/// if this CPU has none.
std::optional<std::string> findPairSet(TestRun &run);

/// The tests, by what they compare. Kernels are compiled for `isas` in turn.
/// Published numbers with the reference and with kernels.
void testGolden(TestRun &run, llvm::ArrayRef<std::string> isas);
/// Formulas of each scheme with the reference.
void testDirect(TestRun &run);
/// The reference with itself.
void testProperties(TestRun &run);
void testEncodingProperties(TestRun &run);
/// Kernels with the reference.
void testNative(TestRun &run, llvm::ArrayRef<std::string> isas, bool full);
/// The same where the caller lists blocks of keys.
void testBlocks(TestRun &run, llvm::ArrayRef<std::string> isas, bool full);
/// Generation with a ring of keys, with as many threads as the pool has.
void testRings(TestRun &run, const std::string &isa, posenc_pool *pool);
/// The same of few queries against many keys.
void testDecode(TestRun &run, llvm::ArrayRef<std::string> isas, bool full);
/// Sequences in several calls with a state between them, likewise.
void testRecurrences(TestRun &run, const std::string &isa, posenc_pool *pool);
/// The same of kernels whose steps have distances of their own.
void testBands(TestRun &run, llvm::ArrayRef<std::string> isas, bool full);
/// The same of every named encoding and mask.
void testEncodings(TestRun &run, llvm::ArrayRef<std::string> isas, bool full);
/// The same of kernels that multiply pairs of bf16.
void testPairs(TestRun &run);
/// The same of every two of a mask, a storage, types and an encoding.
void testCombinations(TestRun &run, llvm::ArrayRef<std::string> isas);
/// The same of random ones with the seeds first .. first + count - 1.
void testRandom(TestRun &run, unsigned first, unsigned count);
/// Kernels whose keys are kept in some way, with formulas.
void testStreaming(TestRun &run, const std::string &isa);
/// Kernels that drop weights, all of the above.
void testDropout(TestRun &run, llvm::ArrayRef<std::string> isas);
/// Input embeddings, all of the above.
void testEmbed(TestRun &run, llvm::ArrayRef<std::string> isas);

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_TESTRUN_H
