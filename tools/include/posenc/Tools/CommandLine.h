// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command lines of the tools have in common.
#ifndef POSENC_TOOLS_COMMANDLINE_H
#define POSENC_TOOLS_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <limits>
#include <string>

namespace posenc {

struct Platform;

/// Prints that an option of the command line must be `expected`, and is
/// `found`. Always true, which is how parsers of options say so.
bool refuseValue(const llvm::cl::Option &option, const llvm::Twine &expected,
                 llvm::StringRef found);

/// A whole number from `least` to `most`; of the types that LLVM lets derive
/// from, int, long long and unsigned long long among them.
template <typename T>
class NumberParser : public llvm::cl::parser<T> {
public:
  using llvm::cl::parser<T>::parser;

  void setRange(T newLeast, T newMost) {
    least = newLeast;
    most = newMost;
  }
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             T &value) {
    T number;
    if (text.getAsInteger(0, number) || number < least || number > most)
      return refuseValue(option,
                         "a whole number from " + llvm::Twine(least) + " to " +
                             llvm::Twine(most),
                         text);
    value = number;
    return false;
  }

private:
  T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
};

template <typename T>
using NumberOption = llvm::cl::opt<T, false, NumberParser<T>>;
template <typename T>
using NumbersOption = llvm::cl::list<T, bool, NumberParser<T>>;

/// What a number may be, among the other properties of its option.
template <typename T>
struct InRange {
  T least, most = std::numeric_limits<T>::max();

  template <typename OptionT>
  void apply(OptionT &option) const {
    option.getParser().setRange(least, most);
  }
};

/// One of the words that the option lists.
template <typename T>
class WordParser : public llvm::cl::parser<T> {
public:
  using llvm::cl::parser<T>::parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             T &value) {
    std::string words;
    for (const auto &known : this->Values) {
      if (known.Name == text) {
        value = known.V.getValue();
        return false;
      }
      words += (words.empty() ? "" : ", ") + known.Name.str();
    }
    return refuseValue(option, "one of " + words, text);
  }
};

template <typename T>
using WordOption = llvm::cl::opt<T, false, WordParser<T>>;

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
  /// The same of another CPU.
  llvm::Expected<std::string> choose(const Platform &platform,
                                     uint64_t features) const;

  std::string help; // of the option, which keeps a reference
  llvm::cl::opt<std::string> isa;
};

/// --cache-dir and --no-cache: where compiled functions are kept.
struct CacheOptions {
  explicit CacheOptions(llvm::cl::OptionCategory &category);

  /// As posenc::CompileOptions takes it: empty for no cache. A place that the
  /// user names and that cannot be one is said, once, and the tool goes on
  /// without.
  std::string getDirectory() const;

  llvm::cl::opt<std::string> directory;
  llvm::cl::opt<bool> none;

private:
  mutable bool isUnusable = false;
};

/// Forgets the options of LLVM's libraries, which have names of their own for
/// things that no user of a tool wants, and makes a write beyond the limit on
/// the size of files fail as on a full disk, instead of ending the process.
/// Without memory the process ends with one sentence, and no file is left half
/// written. Call after llvm::InitLLVM with the tool's name, for messages.
void prepareCommandLine(llvm::StringLiteral tool);

} // namespace posenc

#endif // POSENC_TOOLS_COMMANDLINE_H
