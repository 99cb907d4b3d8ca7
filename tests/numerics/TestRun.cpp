// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts tests and prints those that fail.
#include "TestRun.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Tools/Emulator.h"

#include "posenc/posenc.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

static cl::opt<bool> full("full", cl::desc("run every combination of what is "
                                           "tested, not every pair"));
static cl::opt<std::string>
    filter("filter", cl::value_desc("TEXT"),
           cl::desc("only tests with TEXT in the name"));
static cl::opt<bool> verbose("verbose", cl::desc("print every test's name"));
static cl::list<std::string>
    isaNames("isa", cl::CommaSeparated, cl::value_desc("NAME,..."),
             cl::desc("only kernels for these instruction sets"));
static cl::opt<std::string>
    emulatorCommand("emulator", cl::value_desc("COMMAND"),
                    cl::desc("run kernels for AArch64 Linux, by this emulator "
                             "(\"qemu-aarch64 -cpu max\")"));
static std::optional<Emulator> emulator;

TestOptions posenc::numerics::parseOptions(int argc, char **argv,
                                           StringRef overview) {
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (!emulatorCommand.empty())
    emulator = ExitOnError("error: ")(Emulator::start(emulatorCommand));
  return {full, filter, verbose};
}

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

//===----------------------------------------------------------------------===//
// Tests that may crash
//===----------------------------------------------------------------------===//

/// The test that runs, for a program that ends in it.
static char currentTest[1024];

static void reportCrash(int) {
  // Only what is allowed in a signal handler.
  auto print = [](const char *text, size_t size) {
    ssize_t written = write(STDOUT_FILENO, text, size);
    (void)written;
  };
  print("FAILED: ", 8);
  print(currentTest, strlen(currentTest));
  constexpr char reason[] = ": ended by a signal: memory outside a tensor?\n";
  print(reason, sizeof(reason) - 1);
  _exit(1);
}

void posenc::numerics::runGuarded(TestRun &run, const std::string &name,
                                  function_ref<std::string()> body) {
  strncpy(currentTest, name.c_str(), sizeof(currentTest) - 1);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    std::signal(signal, reportCrash);
  run.test(name, body);
}

const Emulator *posenc::numerics::getEmulator() {
  return emulator ? &*emulator : nullptr;
}

Expected<std::unique_ptr<NativeKernel>>
posenc::numerics::loadKernel(const CompiledKernel &kernel) {
  return emulator ? emulator->load(kernel) : NativeKernel::load(kernel);
}

const Platform &posenc::numerics::getTestedPlatform() {
  if (!emulator)
    return getHostPlatform();
  return getPlatform(*findInstructionSet("aarch64"));
}

bool posenc::numerics::canRun(const InstructionSet &isa) {
  static const uint64_t features =
      emulator ? emulator->getFeatures() : posenc_cpu_features();
  return (isa.features & ~features) == 0;
}

/// Those with or without such an instruction.
static std::vector<std::string> findSets(TestRun &run, bool multiplyPairs) {
  // Kernels are compiled for one instruction set each.
  unsetenv("POSENC_ISA");
  std::vector<std::string> found;
  for (const InstructionSet &line : getTestedPlatform().isas) {
    if ((line.pairKeys != 0) != multiplyPairs ||
        (!isaNames.empty() && !is_contained(isaNames, line.name)))
      continue;
    if (canRun(line))
      found.push_back(line.name.str());
    else
      run.skip(line.name, "this CPU cannot run it");
  }
  return found;
}

std::vector<std::string> posenc::numerics::findInstructionSets(TestRun &run) {
  return findSets(run, /*multiplyPairs=*/false);
}

std::optional<std::string> posenc::numerics::findPairSet(TestRun &run) {
  std::vector<std::string> found = findSets(run, /*multiplyPairs=*/true);
  return found.empty() ? std::nullopt : std::optional(found.front());
}
