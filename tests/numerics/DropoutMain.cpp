// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-numerics-dropout: which weights kernels drop.
#include "TestRun.h"

#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace posenc::numerics;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  TestOptions options =
      parseOptions(argc, argv, "posenc's tests of attention dropout\n");
  TestRun run(options);
  testDropout(run, findInstructionSets(run));
  return run.finish();
}
