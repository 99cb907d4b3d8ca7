// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares numbers: published values and formulas with the reference, and
// compiled kernels with the reference.
#include "TestRun.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace posenc::numerics;

static cl::opt<unsigned>
    randomCount("random", cl::init(12), cl::value_desc("COUNT"),
                cl::desc("how many random kernels are compiled (default: 12); "
                         "a failure prints the kernel"));
static cl::opt<unsigned> randomSeed("seed", cl::init(1), cl::value_desc("SEED"),
                                    cl::desc("the first of their seeds"));

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  TestOptions options = parseOptions(argc, argv, "posenc's numeric tests\n");
  TestRun run(options);
  std::vector<std::string> isas = findInstructionSets(run);
  testGolden(run, isas);
  testDirect(run);
  testProperties(run);
  testEncodingProperties(run);
  testNative(run, isas, options.full);
  testEncodings(run, isas, options.full);
  testPairs(run);
  testRandom(run, randomSeed, randomCount);
  return run.finish();
}
