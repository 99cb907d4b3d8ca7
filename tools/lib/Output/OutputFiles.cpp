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

namespace {
/// Files that are written but do not have their names yet; those that never get
/// them are removed, by a signal's handler too.
class StagedFiles {
public:
  ~StagedFiles() {
    for (auto &[file, path] : files)
      consumeError(file.discard());
  }

  Error add(StringRef path, StringRef contents) {
    // Renaming onto a directory would fail after other files have their names,
    // and onto a device would replace it.
    if (sys::fs::exists(path) && !sys::fs::is_regular_file(path))
      return fail(path, "it is not a regular file");
    auto temporary = sys::fs::TempFile::create(
        path + ".%%%%%%%%.tmp", sys::fs::all_read | sys::fs::owner_write);
    if (!temporary)
      return fail(path, toString(temporary.takeError()));
    raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
    files.emplace_back(std::move(*temporary), path.str());
    stream << contents;
    stream.flush();
    std::error_code error = stream.error();
    stream.clear_error(); // or its destructor ends the process
    return error ? fail(path, error.message()) : Error::success();
  }

  Error keepAll() {
    for (; !files.empty(); files.pop_back())
      if (Error error = files.back().first.keep(files.back().second))
        return fail(files.back().second, toString(std::move(error)));
    return Error::success();
  }

private:
  std::vector<std::pair<sys::fs::TempFile, std::string>> files;
};
} // namespace

/// With links and dots followed as far as files are there.
static std::string getRealPath(StringRef path) {
  SmallString<128> real;
  if (!sys::fs::real_path(path, real))
    return std::string(real);
  StringRef parent = sys::path::parent_path(path);
  if (sys::fs::real_path(parent.empty() ? "." : parent, real)) {
    real = parent;
    sys::fs::make_absolute(real);
    sys::path::remove_dots(real, /*remove_dot_dot=*/true);
  }
  sys::path::append(real, sys::path::filename(path));
  return std::string(real);
}

bool posenc::isSameFile(StringRef path, StringRef other) {
  return getRealPath(path) == getRealPath(other);
}

static Error writeAll(ArrayRef<std::pair<std::string, std::string>> files,
                      StringRef directory, StringRef source) {
  StagedFiles staged;
  for (const auto &[name, contents] : files) {
    SmallString<128> path(directory);
    sys::path::append(path, name);
    if (!source.empty() && isSameFile(path, source))
      return fail(path, "it is the specification");
    if (Error error = staged.add(path, contents))
      return error;
  }
  return staged.keepAll();
}

Error OutputFiles::write(StringRef directory) const {
  bool isNew = !sys::fs::exists(directory);
  if (std::error_code error =
          sys::fs::create_directories(directory, /*IgnoreExisting=*/true,
                                      static_cast<sys::fs::perms>(0777)))
    return fail(directory, error.message());
  Error error = writeAll(files, directory, source);
  if (error && isNew)
    sys::fs::remove(directory);
  return error;
}
