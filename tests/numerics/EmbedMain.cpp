// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-numerics-embed: what input embeddings compute.
#include "TestRun.h"

#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace posenc::numerics;

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  TestOptions options =
      parseOptions(argc, argv, "posenc's tests of embeddings\n");
  TestRun run(options);
  testEmbed(run, findInstructionSets(run));
  return run.finish();
}
