// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc-numerics-embed: what input embeddings compute.
#include "TestRun.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace posenc::numerics;

static cl::opt<std::string>
    filter("filter", cl::value_desc("TEXT"),
           cl::desc("only tests with TEXT in the name"));
static cl::opt<bool> verbose("verbose", cl::desc("print every test's name"));

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "posenc's tests of embeddings\n");
  TestRun run(filter, verbose);
  testEmbed(run, findInstructionSets(run));
  return run.finish();
}
