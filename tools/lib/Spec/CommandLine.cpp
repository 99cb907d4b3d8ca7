// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command lines of the tools have in common.
#include "posenc/Tools/CommandLine.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Compiler/Compile.h"
#include "posenc/posenc.h"

#include <csignal>
#include <cstdlib>

using namespace posenc;
namespace cl = llvm::cl;

SpecOptions::SpecOptions(cl::OptionCategory &category, const char *kernelHelp)
    : inputFile(cl::Positional, cl::desc("FILE"), cl::cat(category)),
      kernel("kernel", cl::value_desc("NAME"), cl::desc(kernelHelp),
             cl::cat(category)) {}

llvm::Error SpecOptions::check(llvm::StringRef tool) const {
  if (!inputFile.empty())
    return llvm::Error::success();
  return llvm::createStringError("expected a specification FILE; see " + tool +
                                 " --help");
}

IsaOption::IsaOption(cl::OptionCategory &category)
    : help("instruction set: " + listInstructionSets() +
           "\n(default: $POSENC_ISA, or the best of this CPU)"),
      isa("isa", cl::value_desc("NAME"), cl::desc(help), cl::cat(category)) {}

llvm::Expected<std::string> IsaOption::choose() const {
  const InstructionSet &best = getBestInstructionSet(posenc_cpu_features());
  std::string wanted = isa;
  if (const char *forced = std::getenv("POSENC_ISA"); forced && wanted.empty())
    wanted = forced;
  if (wanted.empty())
    return best.name.str();
  const InstructionSet *found = findInstructionSet(wanted);
  if (!found)
    return llvm::createStringError("unknown instruction set '" + wanted +
                                   "'; expected one of " +
                                   listInstructionSets());
  if (found < &best)
    return llvm::createStringError("this CPU does not have '" + wanted +
                                   "'; its best is " + best.name);
  return wanted;
}

CacheOptions::CacheOptions(cl::OptionCategory &category)
    : directory("cache-dir", cl::value_desc("DIR"),
                cl::desc("where compiled functions are kept between runs "
                         "(default:\n$POSENC_CACHE_DIR, or posenc/kernels in "
                         "the user's cache)"),
                cl::cat(category)),
      none("no-cache", cl::desc("neither read nor write that cache"),
           cl::cat(category)) {}

std::string CacheOptions::getDirectory() const {
  if (none)
    return "";
  return directory.empty() ? getDefaultCacheDirectory() : directory.getValue();
}

void posenc::prepareCommandLine() {
  cl::ResetCommandLineParser();
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "posenc " << POSENC_VERSION_MAJOR << '.' << POSENC_VERSION_MINOR
       << '.' << POSENC_VERSION_PATCH << "\n";
  });
  std::signal(SIGXFSZ, SIG_IGN);
}
