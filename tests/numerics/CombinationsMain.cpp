// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-numerics-combinations: what meets in one kernel.
#include "TestRun.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace posenc::numerics;

static cl::opt<bool> full("full", cl::desc("run every combination of kernels "
                                           "and lengths, not every pair"));
static cl::opt<std::string>
    filter("filter", cl::value_desc("TEXT"),
           cl::desc("only tests with TEXT in the name"));
static cl::opt<bool> verbose("verbose", cl::desc("print every test's name"));

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "posenc's tests of combinations\n");
  TestRun run(filter, verbose);
  std::vector<std::string> isas = findInstructionSets(run);
  testBlocks(run, isas, full);
  testBands(run, isas, full);
  testCombinations(run, isas);
  return run.finish();
}
