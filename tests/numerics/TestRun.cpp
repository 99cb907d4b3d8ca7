// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts tests and prints those that fail.
#include "TestRun.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace posenc::numerics;

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
