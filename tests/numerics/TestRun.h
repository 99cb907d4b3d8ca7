// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts tests and prints those that fail.
#ifndef POSENC_NUMERICS_TESTRUN_H
#define POSENC_NUMERICS_TESTRUN_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace posenc::numerics {

class TestRun {
public:
  /// Only tests whose name contains `filter` run.
  explicit TestRun(std::string filter, bool verbose)
      : filter(std::move(filter)), verbose(verbose) {}

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

/// Runs a test that may end the program: then its name is printed. The crash is
/// caught once testNative() has run.
void runGuarded(TestRun &run, const std::string &name,
                llvm::function_ref<std::string()> body);

/// The tests, by what they compare.
void testGolden(TestRun &run);     // published numbers with the reference
void testDirect(TestRun &run);     // formulas of each scheme with the reference
void testProperties(TestRun &run); // the reference with itself
void testEmbed(TestRun &run);      // input embeddings, all of the above
/// Random kernels with the seeds first .. first + count - 1.
void testRandom(TestRun &run, unsigned first, unsigned count);
struct NativeTestOptions {
  bool full = false;
};
void testNative(TestRun &run, const NativeTestOptions &options); // kernels

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_TESTRUN_H
