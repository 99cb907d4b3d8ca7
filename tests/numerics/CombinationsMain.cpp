// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-numerics-combinations: what meets in one kernel.
#include "TestRun.h"

#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace posenc::numerics;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  TestOptions options =
      parseOptions(argc, argv, "posenc's tests of combinations\n");
  TestRun run(options);
  std::vector<std::string> isas = findInstructionSets(run);
  testBlocks(run, isas, options.full);
  testDecode(run, isas, options.full);
  testBands(run, isas, options.full);
  testCombinations(run, isas);
  return run.finish();
}
