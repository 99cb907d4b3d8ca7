// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels, compiled and compared with the reference.
#include "NativeCall.h"
#include "RandomSpecs.h"
#include "TestRun.h"

#include "posenc/Analysis/InstructionSets.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

/// Loads the generator's next kernel that the compiler knows how to plan: what
/// it refuses, it says. Returns what else went wrong.
static std::string loadNext(SpecGenerator &generator, const std::string &isa,
                            LoadedKernel &kernel, std::string &text) {
  std::string problem;
  do {
    text = generator.makeText();
    problem = kernel.load(text, isa);
  } while (StringRef(problem).contains("cannot be placed in a plan; expected"));
  return problem;
}

static std::string checkRandom(unsigned seed, const std::string &isa,
                               posenc_pool *pool) {
  SpecGenerator generator(seed);
  LoadedKernel kernel;
  std::string text;
  std::string problem = loadNext(generator, isa, kernel, text);
  if (!problem.empty())
    return problem + "\nof\n" + text;
  KernelOp op = kernel.spec->getKernel();
  for (int size = 0; size < 3; ++size) {
    Extents extents = generator.makeExtents(op);
    NativeCall call;
    call.arrangement = static_cast<Arrangement>(generator.number(4));
    call.pool = generator.number(2) ? pool : nullptr;
    call.wantLse = op.exportsLse() && generator.number(3);
    call.prepared = generator.number(2);
    call.ownScratch = generator.number(2);
    problem =
        checkNative(kernel, makeInputs(op, extents, seed + size, 0.5), call);
    if (!problem.empty())
      return formatv("{0}\nwith batch {1}, {2} queries and {3} keys, "
                     "arrangement {4}, {5} threads, prepared {6}, of\n{7}",
                     problem, extents.batch, extents.queryLen, extents.keyLen,
                     static_cast<int>(call.arrangement), call.pool ? 3 : 1,
                     call.prepared, text)
          .str();
  }
  return "";
}

void posenc::numerics::testRandom(TestRun &run, unsigned first,
                                  unsigned count) {
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  for (unsigned seed = first; seed < first + count; ++seed) {
    // Every instruction set in turn.
    ArrayRef<InstructionSet> isas = getTestedPlatform().isas;
    std::string isa = isas[seed % isas.size()].name.str();
    std::string name = "random/" + std::to_string(seed) + "/" + isa;
    if (!canRun(isas[seed % isas.size()])) {
      if (run.isSelected(name))
        run.skip(name, "this CPU cannot run it");
      continue;
    }
    runGuarded(run, name, [&] { return checkRandom(seed, isa, pool); });
  }
}
