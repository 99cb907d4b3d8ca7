// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled functions kept on disk by the content of what they came from.
#include "KernelCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace posenc;

std::string posenc::getDefaultCacheDirectory() {
  if (std::optional<std::string> directory =
          sys::Process::GetEnv("POSENC_CACHE_DIR"))
    return *directory;
  // A relative path, or none, is no place for a cache.
  SmallString<128> path;
  if (!sys::path::cache_directory(path) || !sys::path::is_absolute(path))
    return "";
  sys::path::append(path, "posenc", "kernels");
  return std::string(path);
}

/// An entry is the hash of its archive, then the archive: what the disk or a
/// crash has damaged is compiled again.
static std::string hashOf(StringRef bytes) {
  return toHex(SHA256::hash(arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

std::string KernelCache::getPath(StringRef key) const {
  SmallString<128> path(directory);
  // The prefix that LLVM's cache pruning looks for.
  sys::path::append(path, "llvmcache-" + hashOf(key));
  return std::string(path);
}

std::optional<std::vector<CompiledObject>>
KernelCache::load(StringRef key) const {
  if (directory.empty())
    return std::nullopt;
  auto buffer = MemoryBuffer::getFile(getPath(key));
  if (!buffer)
    return std::nullopt;
  StringRef bytes = (*buffer)->getBuffer();
  StringRef hash = bytes.take_front(64);
  bytes = bytes.drop_front(hash.size());
  if (hash != hashOf(bytes))
    return std::nullopt;
  auto archive = object::Archive::create(MemoryBufferRef(bytes, "cache"));
  if (!archive) {
    consumeError(archive.takeError());
    return std::nullopt;
  }
  std::vector<CompiledObject> objects;
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<StringRef> name = child.getName();
    Expected<StringRef> bytes = child.getBuffer();
    if (!name || !bytes) {
      consumeError(name.takeError());
      consumeError(bytes.takeError());
      consumeError(std::move(error));
      return std::nullopt;
    }
    objects.push_back({name->str(), bytes->str()});
  }
  if (error) {
    consumeError(std::move(error));
    return std::nullopt;
  }
  return objects;
}

void KernelCache::store(StringRef key,
                        const std::vector<CompiledObject> &objects) const {
  if (directory.empty() || sys::fs::create_directories(directory))
    return;
  Expected<std::string> archive = makeArchive(objects);
  if (!archive) {
    consumeError(archive.takeError());
    return;
  }
  // Atomic, so that another process never reads half a file. A stream that
  // dies with an error of its own ends the program, as on a full disk.
  consumeError(writeToOutput(getPath(key), [&](raw_ostream &stream) {
    stream << hashOf(*archive) << *archive;
    stream.flush();
    // What writeToOutput makes for a path; the class has no cast.
    auto &file = static_cast<raw_fd_ostream &>(stream);
    std::error_code error = file.error();
    file.clear_error();
    return errorCodeToError(error);
  }));
  pruneCache(directory, CachePruningPolicy());
}
