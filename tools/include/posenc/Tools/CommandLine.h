// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command lines of the tools have in common.
#ifndef POSENC_TOOLS_COMMANDLINE_H
#define POSENC_TOOLS_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace posenc {

/// FILE and --kernel. Options are members rather than globals: LLVM's own, some
/// of the same names, are taken away before these are made.
struct SpecOptions {
  /// `kernelHelp` says what --kernel chooses, and its default.
  SpecOptions(llvm::cl::OptionCategory &category, const char *kernelHelp);

  /// Fails without a FILE.
  llvm::Error check(llvm::StringRef tool) const;

  llvm::cl::opt<std::string> inputFile;
  llvm::cl::opt<std::string> kernel;
};

/// --isa: the one instruction set that a tool runs code of.
struct IsaOption {
  explicit IsaOption(llvm::cl::OptionCategory &category);

  /// What the user asks for, else $POSENC_ISA, else the best of this CPU. Fails
  /// when this CPU cannot run it.
  llvm::Expected<std::string> choose() const;

  std::string help; // of the option, which keeps a reference
  llvm::cl::opt<std::string> isa;
};

/// --cache-dir and --no-cache: where compiled functions are kept.
struct CacheOptions {
  explicit CacheOptions(llvm::cl::OptionCategory &category);

  /// As posenc::CompileOptions takes it: empty for no cache.
  std::string getDirectory() const;

  llvm::cl::opt<std::string> directory;
  llvm::cl::opt<bool> none;
};

/// Forgets the options of LLVM's libraries, which have names of their own for
/// things that no user of a tool wants, and makes a write beyond the limit on
/// the size of files fail as on a full disk, instead of ending the process.
/// Call after llvm::InitLLVM.
void prepareCommandLine();

} // namespace posenc

#endif // POSENC_TOOLS_COMMANDLINE_H
