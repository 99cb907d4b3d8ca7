// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares numbers: published values and formulas with the reference, and
// compiled kernels with the reference.
#include "TestRun.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace posenc::numerics;

static cl::opt<bool> full("full", cl::desc("run every combination of kernels "
                                           "and lengths, not every pair"));
static cl::opt<std::string>
    filter("filter", cl::value_desc("TEXT"),
           cl::desc("only tests with TEXT in the name"));
static cl::opt<bool> verbose("verbose", cl::desc("print every test's name"));

bool TestRun::isSelected(const Twine &name) const {
  return StringRef(name.str()).contains(filter);
}

void TestRun::test(const Twine &name, function_ref<std::string()> body) {
  std::string text = name.str();
  if (!isSelected(text))
    return;
  if (verbose) {
    outs() << text << "\n";
    outs().flush();
  }
  std::string problem = body();
  if (problem.empty()) {
    ++passed;
    return;
  }
  ++failed;
  outs() << "FAILED: " << text << ": " << problem << "\n";
  outs().flush();
}

void TestRun::skip(const Twine &name, StringRef reason) {
  outs() << "SKIPPED: " << name << ": " << reason << "\n";
}

int TestRun::finish() const {
  outs() << passed << " passed, " << failed << " failed\n";
  return failed ? 1 : 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "posenc's numeric tests\n");
  TestRun run(filter, verbose);
  testGolden(run);
  testDirect(run);
  testProperties(run);
  testEmbed(run);
  NativeTestOptions options;
  options.full = full;
  testNative(run, options);
  return run.finish();
}
