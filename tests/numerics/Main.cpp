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
static cl::opt<unsigned>
    randomCount("random", cl::init(12), cl::value_desc("COUNT"),
                cl::desc("how many random kernels are compiled (default: 12); "
                         "a failure prints the kernel"));
static cl::opt<unsigned> randomSeed("seed", cl::init(1), cl::value_desc("SEED"),
                                    cl::desc("the first of their seeds"));
static cl::opt<bool> verbose("verbose", cl::desc("print every test's name"));

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "posenc's numeric tests\n");
  TestRun run(filter, verbose);
  std::vector<std::string> isas = findInstructionSets(run);
  testGolden(run, isas);
  testDirect(run);
  testProperties(run);
  testEncodingProperties(run);
  testNative(run, isas, full);
  testEncodings(run, isas, full);
  testRandom(run, randomSeed, randomCount);
  return run.finish();
}
