// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of another architecture, run by an emulator beside this process.
#include "posenc/Tools/Emulator.h"

#include "Guest.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <cstring>

using namespace llvm;
using namespace posenc;

/// Of the runtime, which this program links: what its last error is.
extern "C" posenc_status posenc_fail(posenc_status status, const char *format,
                                     ...);

namespace {
/// Memory of one call that both sides see: what lies in other memory is copied
/// there, and back if the call may write it.
class CallMemory {
public:
  explicit CallMemory(Guest &guest) : guest(guest) {}
  ~CallMemory() {
    for (const Copy &copy : copies)
      guest.release(copy.shared);
  }

  /// The copy of [begin, begin + bytes).
  void *addBytes(void *begin, size_t bytes, bool isWritten) {
    if (!begin || guest.isShared(begin))
      return begin;
    for (const Copy &copy : copies)
      if (copy.original == begin && copy.bytes >= bytes)
        return copy.shared;
    copies.push_back({begin, guest.allocate(bytes), bytes, isWritten});
    std::memcpy(copies.back().shared, begin, bytes);
    return copies.back().shared;
  }
  template <typename T>
  T *add(const T *elements, size_t count) {
    return static_cast<T *>(addBytes(const_cast<T *>(elements),
                                     count * sizeof(T), /*isWritten=*/false));
  }
  /// Something that lives as long as this.
  template <typename T>
  T *keep(ArrayRef<T> elements) {
    auto *place = static_cast<T *>(guest.allocate(elements.size() * sizeof(T)));
    copies.push_back({nullptr, place, 0, /*isWritten=*/false});
    llvm::copy(elements, place);
    return place;
  }
  void copyBack() {
    for (const Copy &copy : copies)
      if (copy.isWritten)
        std::memcpy(copy.original, copy.shared, copy.bytes);
  }

private:
  struct Copy {
    void *original, *shared;
    size_t bytes;
    bool isWritten;
  };
  Guest &guest;
  SmallVector<Copy> copies;
};

class EmulatedKernel : public NativeKernel {
public:
  EmulatedKernel(std::shared_ptr<Guest> guest, uint64_t library)
      : guest(std::move(guest)), library(library) {}
  ~EmulatedKernel() override {
    auto held = guest->lock();
    guest->close(library);
  }

  Error findEntries(const CompiledKernel &kernel);

  posenc_status run(const Arguments &args,
                    const posenc_call *call) const override {
    return callEntry(runEntry, args, call);
  }
  posenc_status prepare(const Arguments &args, void *buffer,
                        size_t size) const override;
  size_t preparedBytes(const Arguments &args) const override {
    return measure(preparedBytesEntry, args, nullptr);
  }
  size_t scratchBytes(const Arguments &args,
                      const posenc_call *call) const override {
    return measure(scratchBytesEntry, args, call);
  }
  posenc_status append(const Arguments &args,
                       const posenc_call *call) const override {
    return callEntry(appendEntry, args, call);
  }
  size_t appendScratchBytes(const Arguments &args,
                            const posenc_call *call) const override {
    return measure(appendScratchBytesEntry, args, call);
  }

private:
  posenc_status callEntry(uint64_t entry, const Arguments &args,
                          const posenc_call *call) const;
  size_t measure(uint64_t entry, const Arguments &args,
                 const posenc_call *call) const;
  posenc_status finish(uint64_t result) const;
  const void *share(CallMemory &memory, const Arguments &args) const;
  const void *share(CallMemory &memory, const posenc_call *call,
                    size_t preparedBytes) const;

  std::shared_ptr<Guest> guest;
  uint64_t library;
  uint64_t runEntry = 0, prepareEntry = 0, preparedBytesEntry = 0,
           scratchBytesEntry = 0, appendEntry = 0, appendScratchBytesEntry = 0;
};
} // namespace

Error EmulatedKernel::findEntries(const CompiledKernel &kernel) {
  bool isAttention = !kernel.isEmbed, hasCache = !kernel.appendTensors.empty();
  struct {
    const char *suffix;
    bool isThere;
    uint64_t &entry;
  } entries[] = {
      {"", true, runEntry},
      {"_prepare", isAttention, prepareEntry},
      {"_prepared_bytes", isAttention, preparedBytesEntry},
      {"_scratch_bytes", true, scratchBytesEntry},
      {"_append_kv", hasCache, appendEntry},
      {"_append_kv_scratch_bytes", hasCache, appendScratchBytesEntry},
  };
  for (auto &[suffix, isThere, entry] : entries) {
    if (!isThere)
      continue;
    Expected<uint64_t> found = guest->find(library, kernel.name + suffix);
    if (!found)
      return found.takeError();
    entry = *found;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The bytes of a tensor's elements, from its first to its last in memory.
static std::pair<int64_t, int64_t> getSpan(const DLTensor &tensor) {
  int64_t first = 0, last = 0, stride = 1;
  for (int axis = tensor.ndim; axis-- > 0;) {
    int64_t extent = tensor.shape[axis];
    if (extent <= 0)
      return {0, 0};
    int64_t reach =
        (extent - 1) * (tensor.strides ? tensor.strides[axis] : stride);
    (reach < 0 ? first : last) += reach;
    stride *= extent;
  }
  int64_t bytes = tensor.dtype.bits / 8,
          offset = static_cast<int64_t>(tensor.byte_offset);
  return {offset + first * bytes, offset + (last + 1) * bytes};
}

const void *EmulatedKernel::share(CallMemory &memory,
                                  const Arguments &args) const {
  ArrayRef<uintptr_t> words = args.getWords();
  std::vector<uintptr_t> shared(words.begin(), words.end());
  for (uintptr_t &word : MutableArrayRef(shared).drop_front()) {
    auto *original = reinterpret_cast<const DLTensor *>(word);
    if (!original)
      continue;
    DLTensor tensor = *original;
    auto [first, last] = getSpan(tensor);
    // Elements may lie before the one that is pointed to.
    auto *data = static_cast<char *>(tensor.data);
    if (data && !guest->isShared(data))
      tensor.data = static_cast<char *>(memory.addBytes(
                        data + first, last - first, /*isWritten=*/true)) -
                    first;
    tensor.shape = memory.add(tensor.shape, tensor.ndim);
    tensor.strides = memory.add(tensor.strides, tensor.ndim);
    word = reinterpret_cast<uintptr_t>(memory.keep(ArrayRef(tensor)));
  }
  return memory.keep(ArrayRef(shared));
}

/// The prepared buffer, whose size only the kernel knows, has `preparedBytes`.
const void *EmulatedKernel::share(CallMemory &memory, const posenc_call *call,
                                  size_t preparedBytes) const {
  if (!call)
    return nullptr;
  posenc_call shared = *call;
  shared.prepared =
      memory.add(static_cast<const char *>(call->prepared), preparedBytes);
  shared.scratch = memory.addBytes(call->scratch, call->scratch_bytes,
                                   /*isWritten=*/true);
  if (call->pool)
    shared.pool = cantFail(guest->getPool(posenc_pool_threads(call->pool)));
  return memory.keep(ArrayRef(shared));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

posenc_status EmulatedKernel::finish(uint64_t result) const {
  auto status = static_cast<posenc_status>(static_cast<int32_t>(result));
  if (status)
    posenc_fail(status, "%s", guest->getLastError().c_str());
  return status;
}

posenc_status EmulatedKernel::callEntry(uint64_t entry, const Arguments &args,
                                        const posenc_call *call) const {
  auto held = guest->lock();
  size_t prepared = 0;
  if (call && call->prepared && !guest->isShared(call->prepared))
    prepared = preparedBytes(args);
  CallMemory memory(*guest);
  const void *sharedArgs = share(memory, args);
  posenc_status status =
      finish(guest->call(entry, sharedArgs, share(memory, call, prepared)));
  memory.copyBack();
  return status;
}

size_t EmulatedKernel::measure(uint64_t entry, const Arguments &args,
                               const posenc_call *call) const {
  auto held = guest->lock();
  CallMemory memory(*guest);
  const void *sharedArgs = share(memory, args);
  // Whether there is a prepared buffer counts, not what it holds.
  return guest->call(entry, sharedArgs, share(memory, call, 0));
}

posenc_status EmulatedKernel::prepare(const Arguments &args, void *buffer,
                                      size_t size) const {
  auto held = guest->lock();
  CallMemory memory(*guest);
  const void *sharedArgs = share(memory, args);
  void *shared = memory.addBytes(buffer, size, /*isWritten=*/true);
  posenc_status status =
      finish(guest->call(prepareEntry, sharedArgs, shared, size));
  memory.copyBack();
  return status;
}

//===----------------------------------------------------------------------===//
// Emulator
//===----------------------------------------------------------------------===//

Expected<Emulator> Emulator::start(StringRef command) {
  SmallVector<StringRef> parts;
  SplitString(command, parts);
  if (parts.empty())
    return createStringError("expected the command of an emulator, but got '" +
                             command + "'");
  std::vector<std::string> words(parts.begin(), parts.end());
  std::optional<std::string> program = sys::Process::GetEnv("POSENC_GUEST");
  words.push_back(program.value_or(POSENC_GUEST));
  if (!sys::fs::exists(words.back()))
    return createStringError("found no program to emulate, '" + words.back() +
                             "'; it is built where an AArch64 compiler is "
                             "installed, and POSENC_GUEST names another");
  Expected<std::shared_ptr<Guest>> guest = Guest::start(words);
  if (!guest)
    return guest.takeError();
  return Emulator(std::move(*guest));
}

uint64_t Emulator::getFeatures() const {
  auto held = guest->lock();
  return guest->call(cantFail(guest->find(0, "posenc_cpu_features")), nullptr);
}

void *Emulator::allocate(size_t bytes) const { return guest->allocate(bytes); }
void Emulator::release(void *memory) const { guest->release(memory); }

/// A file that goes with this object.
static Expected<sys::fs::TempFile> writeTemporary(StringRef suffix,
                                                  StringRef bytes) {
  SmallString<128> model;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, model);
  sys::path::append(model, "posenc-%%%%%%%%" + suffix);
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(model);
  if (!file)
    return file.takeError();
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << bytes;
  return file;
}

Expected<std::unique_ptr<NativeKernel>>
Emulator::load(const CompiledKernel &kernel) const {
  auto linker = sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = sys::findProgramByName("ld.lld");
  if (!linker)
    return createStringError("found no linker: expected ld.lld in the PATH");
  Expected<std::string> archive = makeArchive(kernel.objects);
  if (!archive)
    return archive.takeError();
  auto input = writeTemporary(".a", *archive);
  if (!input)
    return input.takeError();
  scope_exit removeInput([&] { consumeError(input->discard()); });
  auto library = writeTemporary(".so", "");
  if (!library)
    return library.takeError();
  scope_exit removeLibrary([&] { consumeError(library->discard()); });
  StringRef words[] = {*linker,        "-shared", "--whole-archive",
                       input->TmpName, "-o",      library->TmpName};
  std::string error;
  if (sys::ExecuteAndWait(*linker, words, std::nullopt, {}, 0, 0, &error))
    return createStringError("cannot link '" + kernel.name +
                             "' as a shared library: " + error);
  auto held = guest->lock();
  Expected<uint64_t> opened = guest->open(library->TmpName);
  if (!opened)
    return opened.takeError();
  auto loaded = std::make_unique<EmulatedKernel>(guest, *opened);
  if (Error error = loaded->findEntries(kernel))
    return error;
  return loaded;
}
