// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command lines of the tools have in common.
#include "posenc/Tools/CommandLine.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Compiler/Compile.h"
#include "posenc/posenc.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <new>
#include <unistd.h>

using namespace posenc;
namespace cl = llvm::cl;

static llvm::StringLiteral toolName = "posenc";

bool posenc::refuseValue(const cl::Option &option, const llvm::Twine &expected,
                         llvm::StringRef found) {
  llvm::errs() << toolName << ": error: expected "
               << (option.ArgStr.size() == 1 ? "-" : "--") << option.ArgStr
               << " to be " << expected << ", but got '" << found << "'\n";
  return true;
}

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
    : help("instruction set: " + listInstructionSets(getHostPlatform()) +
           "\n(default: $POSENC_ISA, or the best of this CPU)"),
      isa("isa", cl::value_desc("NAME"), cl::desc(help), cl::cat(category)) {}

llvm::Expected<std::string> IsaOption::choose() const {
  return choose(getHostPlatform(), posenc_cpu_features());
}

llvm::Expected<std::string> IsaOption::choose(const Platform &platform,
                                              uint64_t features) const {
  const InstructionSet &best = getBestInstructionSet(platform, features);
  std::string wanted = isa;
  if (const char *forced = std::getenv("POSENC_ISA"); forced && wanted.empty())
    wanted = forced;
  if (wanted.empty())
    return best.name.str();
  const InstructionSet *found = findInstructionSet(wanted);
  if (!found || &getPlatform(*found) != &platform)
    return llvm::createStringError("unknown instruction set '" + wanted +
                                   "'; expected one of " +
                                   listInstructionSets(platform));
  if (found->features & ~features)
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
  if (none || isUnusable)
    return "";
  std::string place =
      directory.empty() ? getDefaultCacheDirectory() : directory.getValue();
  bool isNamed = !directory.empty() || std::getenv("POSENC_CACHE_DIR");
  if (place.empty() || !isNamed)
    return place;
  std::error_code error = llvm::sys::fs::create_directories(place);
  if (!error && !llvm::sys::fs::is_directory(place))
    error = std::make_error_code(std::errc::not_a_directory);
  if (!error)
    return place;
  llvm::errs() << toolName << ": warning: no compiled function is kept, since '"
               << place << "' is no place for them: " << error.message()
               << "\n";
  isUnusable = true;
  return "";
}

/// Nothing here may ask for memory.
[[noreturn]] static void endWithoutMemory() {
  for (llvm::StringRef part :
       {llvm::StringRef(toolName), llvm::StringRef(": error: out of memory\n")})
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0)
      break;
  llvm::sys::RunInterruptHandlers(); // removes files that are half written
  std::_Exit(1);
}

void posenc::prepareCommandLine(llvm::StringLiteral tool) {
  toolName = tool;
  // LLVM's own prints a stack and asks for a report.
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWithoutMemory(); });
  cl::ResetCommandLineParser();
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "posenc " << POSENC_VERSION_MAJOR << '.' << POSENC_VERSION_MINOR
       << '.' << POSENC_VERSION_PATCH << "\n";
  });
  std::signal(SIGXFSZ, SIG_IGN);
}
