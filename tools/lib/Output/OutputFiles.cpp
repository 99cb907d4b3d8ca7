// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes several files so that all of them appear or none.
#include "posenc/Tools/OutputFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace posenc;

static Error fail(const Twine &path, const Twine &reason) {
  return createStringError("cannot write '" + path + "': " + reason);
}

Error OutputFiles::write(StringRef directory) const {
  if (std::error_code error =
          sys::fs::create_directories(directory, /*IgnoreExisting=*/true,
                                      static_cast<sys::fs::perms>(0777)))
    return fail(directory, error.message());
  std::vector<std::pair<sys::fs::TempFile, std::string>> written;
  auto discardAll = [&] {
    for (auto &[file, path] : written)
      consumeError(file.discard());
  };
  for (const File &file : files) {
    SmallString<128> path(directory);
    sys::path::append(path, file.name);
    // Renaming onto a directory would fail after other files have their names,
    // and onto a device would replace it.
    if (sys::fs::exists(path) && !sys::fs::is_regular_file(path)) {
      discardAll();
      return fail(path, "it is not a regular file");
    }
    auto temporary = sys::fs::TempFile::create(
        path + ".%%%%%%%%.tmp", sys::fs::all_read | sys::fs::owner_write);
    if (!temporary) {
      discardAll();
      return fail(path, toString(temporary.takeError()));
    }
    raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
    stream << file.contents;
    stream.flush();
    std::error_code error = stream.error();
    stream.clear_error();
    written.emplace_back(std::move(*temporary), std::string(path));
    if (error) {
      discardAll();
      return fail(path, error.message());
    }
  }
  Error result = Error::success();
  for (auto &[file, path] : written) {
    if (Error error = file.keep(path)) {
      consumeError(file.discard());
      result =
          joinErrors(std::move(result), fail(path, toString(std::move(error))));
    }
  }
  return result;
}
