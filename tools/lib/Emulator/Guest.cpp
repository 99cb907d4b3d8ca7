// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Guest.h"

#include "../../posenc-guest/protocol.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Program.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace posenc;

/// Where shared memory begins on both sides: no system puts anything there by
/// itself. The file is as large as all that could be asked for, and holds what
/// was written.
static char *const kBegin = reinterpret_cast<char *>(uintptr_t{1} << 45);
static constexpr off_t kFileBytes = off_t{1} << 40;
static constexpr size_t kWordBytes = 1 << 16;

static Error makeError(const Twine &what) {
  return createStringError(what + ": " + sys::StrError());
}

/// The process that runs tests has nothing to go on with.
[[noreturn]] static void reportEnd(int process) {
  int status = 0;
  waitpid(process, &status, 0);
  std::string how =
      WIFSIGNALED(status)
          ? std::string("a signal (") + strsignal(WTERMSIG(status)) + ")"
          : "exit code " + std::to_string(WEXITSTATUS(status));
  errs() << "the emulated program ended by " << how << "\n";
  // For those who name the test that was running.
  std::raise(SIGSEGV);
  std::abort();
}

Expected<std::shared_ptr<Guest>> Guest::start(ArrayRef<std::string> command) {
  std::shared_ptr<Guest> guest(new Guest());
  guest->file = memfd_create("posenc-guest", 0);
  if (guest->file < 0 || ftruncate(guest->file, kFileBytes))
    return makeError("cannot create shared memory");
  guest->next = kBegin;
  if (Error error = guest->spawn(command))
    return error;
  guest->words = static_cast<char *>(guest->allocate(kWordBytes));
  return guest;
}

Error Guest::spawn(ArrayRef<std::string> command) {
  auto program = sys::findProgramByName(command.front());
  if (!program)
    return createStringError("cannot find the emulator '" + command.front() +
                             "': " + program.getError().message());
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
    return makeError("cannot create a pipe");
  std::string number = std::to_string(file);
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(number.data());
  words.push_back(nullptr);
  // A guest that ended shows as the end of its answers.
  std::signal(SIGPIPE, SIG_IGN);
  process = fork();
  if (process < 0)
    return makeError("cannot start the emulator");
  if (process == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execv(program->c_str(), words.data());
    _exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  requests = in[1];
  answers = out[0];
  return Error::success();
}

Guest::~Guest() {
  if (requests >= 0)
    ::close(requests);
  if (process > 0)
    waitpid(process, nullptr, 0);
  if (answers >= 0)
    ::close(answers);
  for (auto &[memory, block] : blocks)
    munmap(memory, block.bytes);
  if (file >= 0)
    ::close(file);
}

void Guest::tell(uint64_t kind, ArrayRef<uint64_t> arguments) {
  posenc_guest_request request = {kind, {}};
  llvm::copy(arguments, request.arguments);
  if (write(requests, &request, sizeof(request)) != sizeof(request))
    reportEnd(process);
}

uint64_t Guest::ask(uint64_t kind, ArrayRef<uint64_t> arguments) {
  tell(kind, arguments);
  uint64_t answer = 0;
  ssize_t got;
  do
    got = read(answers, &answer, sizeof(answer));
  while (got < 0 && errno == EINTR);
  if (got != sizeof(answer))
    reportEnd(process);
  return answer;
}

static uint64_t toNumber(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

void *Guest::allocate(size_t bytes) {
  auto held = lock();
  size_t page = sysconf(_SC_PAGESIZE);
  bytes = alignTo(std::max<size_t>(bytes, 1), page);
  void *memory = mmap(next, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED_NOREPLACE, file, next - kBegin);
  if (memory != next)
    report_fatal_error("no memory that the emulated program could share");
  next += bytes + page;
  blocks[static_cast<char *>(memory)] = {bytes, false};
  return memory;
}

void Guest::release(void *memory) {
  auto held = lock();
  auto found = blocks.find(static_cast<char *>(memory));
  auto [place, block] = *found;
  if (block.isSeen)
    tell(POSENC_GUEST_UNMAP, {toNumber(place), block.bytes});
  madvise(place, block.bytes, MADV_REMOVE);
  munmap(place, block.bytes);
  blocks.erase(found);
}

bool Guest::isShared(const void *memory) const {
  return memory >= kBegin && memory < next;
}

uint64_t Guest::call(uint64_t function, const void *a, const void *b,
                     uint64_t c) {
  for (auto &[memory, block] : blocks) {
    if (!block.isSeen)
      tell(POSENC_GUEST_MAP, {toNumber(memory), block.bytes,
                              static_cast<uint64_t>(memory - kBegin)});
    block.isSeen = true;
  }
  return ask(POSENC_GUEST_CALL, {function, toNumber(a), toNumber(b), c});
}

/// Writes a text where the guest sees it.
uint64_t Guest::say(StringRef text) {
  Block &block = blocks[words];
  if (!block.isSeen)
    tell(POSENC_GUEST_MAP,
         {toNumber(words), block.bytes, static_cast<uint64_t>(words - kBegin)});
  block.isSeen = true;
  text = text.take_front(kWordBytes - 1);
  std::memcpy(words, text.data(), text.size());
  words[text.size()] = '\0';
  return toNumber(words);
}

std::string Guest::getError(bool ofCall) {
  ask(POSENC_GUEST_ERROR, {say(""), kWordBytes, ofCall});
  return words;
}

std::string Guest::getLastError() { return getError(/*ofCall=*/true); }

Expected<uint64_t> Guest::open(StringRef path) {
  if (uint64_t library = ask(POSENC_GUEST_OPEN, {say(path)}))
    return library;
  return createStringError(getError(/*ofCall=*/false));
}

void Guest::close(uint64_t library) { tell(POSENC_GUEST_CLOSE, {library}); }

Expected<uint64_t> Guest::find(uint64_t library, StringRef name) {
  if (uint64_t address = ask(POSENC_GUEST_SYMBOL, {library, say(name)}))
    return address;
  return createStringError(getError(/*ofCall=*/false));
}

Expected<posenc_pool *> Guest::getPool(int32_t threads) {
  posenc_pool *&pool = pools[threads];
  if (pool)
    return pool;
  Expected<uint64_t> create = find(0, "posenc_pool_create");
  if (!create)
    return create.takeError();
  say("");
  // The first argument is a number, not an address.
  const auto *count =
      reinterpret_cast<const void *>(static_cast<uintptr_t>(threads));
  if (call(*create, count, words))
    return createStringError(getLastError());
  pool = *reinterpret_cast<posenc_pool **>(words);
  return pool;
}
