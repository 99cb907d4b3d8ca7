// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads encodings.txt: kernels that together state every encoding.
#ifndef POSENC_TESTS_SUPPORT_ENCODINGLIST_H
#define POSENC_TESTS_SUPPORT_ENCODINGLIST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace posenc {

/// The clauses of each line of the file.
inline std::vector<std::string> readEncodingList(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    llvm::report_fatal_error("cannot read " + path);
  std::vector<std::string> lines;
  llvm::StringRef text = (*buffer)->getBuffer();
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.trim();
    if (!line.empty() && !line.starts_with("#"))
      lines.push_back(line.str());
  }
  return lines;
}

} // namespace posenc

#endif // POSENC_TESTS_SUPPORT_ENCODINGLIST_H
