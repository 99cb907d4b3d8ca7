// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated program: its memory, its functions, its end.
#ifndef POSENC_TOOLS_EMULATOR_GUEST_H
#define POSENC_TOOLS_EMULATOR_GUEST_H

#include "posenc/posenc.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace posenc {

class Guest {
public:
  static llvm::Expected<std::shared_ptr<Guest>>
  start(llvm::ArrayRef<std::string> command);
  ~Guest();
  Guest(const Guest &) = delete;
  Guest &operator=(const Guest &) = delete;

  /// Held while a request and what belongs to it are under way.
  std::unique_lock<std::recursive_mutex> lock() {
    return std::unique_lock<std::recursive_mutex>(mutex);
  }

  /// Pages of zeros at the same address on both sides.
  void *allocate(size_t bytes);
  void release(void *memory);
  bool isShared(const void *memory) const;

  llvm::Expected<uint64_t> open(llvm::StringRef path);
  void close(uint64_t library);
  /// In a library, or with 0 in the guest.
  llvm::Expected<uint64_t> find(uint64_t library, llvm::StringRef name);
  /// Memory that is shared is there for the call.
  uint64_t call(uint64_t function, const void *a, const void *b = nullptr,
                uint64_t c = 0);
  /// The runtime's sentence about the call that failed.
  std::string getLastError();
  /// One with that many threads.
  llvm::Expected<posenc_pool *> getPool(int32_t threads);

private:
  Guest() = default;
  llvm::Error spawn(llvm::ArrayRef<std::string> command);
  void tell(uint64_t kind, llvm::ArrayRef<uint64_t> arguments);
  uint64_t ask(uint64_t kind, llvm::ArrayRef<uint64_t> arguments);
  uint64_t say(llvm::StringRef text);
  std::string getError(bool ofCall);

  struct Block {
    size_t bytes;
    bool isSeen; // by the guest
  };
  std::recursive_mutex mutex;
  int file = -1, requests = -1, answers = -1, process = -1;
  std::map<char *, Block> blocks;
  char *next = nullptr;
  /// For words in either direction.
  char *words = nullptr;
  std::map<int32_t, posenc_pool *> pools;
};

} // namespace posenc

#endif // POSENC_TOOLS_EMULATOR_GUEST_H
