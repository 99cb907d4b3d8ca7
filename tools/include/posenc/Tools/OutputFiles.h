// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes several files so that all of them appear or none.
#ifndef POSENC_TOOLS_OUTPUTFILES_H
#define POSENC_TOOLS_OUTPUTFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace posenc {

/// Whether two paths, of files that need not be there, name the same one: also
/// through `..` or symbolic links.
bool isSameFile(llvm::StringRef path, llvm::StringRef other);

/// Files of one directory. Contents go to temporary files first; only when all
/// are written, full disk and all, do they take their names. An earlier file
/// of that name is replaced in one step.
class OutputFiles {
public:
  void add(llvm::StringRef name, std::string contents) {
    files.emplace_back(name.str(), std::move(contents));
  }
  /// The file that the contents come from, which is not to be replaced.
  void setSource(llvm::StringRef path) { source = path.str(); }
  /// Creates the directory if needed, and removes it if that was for nothing.
  /// Errors name the file.
  llvm::Error write(llvm::StringRef directory) const;

private:
  /// Names and contents.
  std::vector<std::pair<std::string, std::string>> files;
  std::string source;
};

} // namespace posenc

#endif // POSENC_TOOLS_OUTPUTFILES_H
