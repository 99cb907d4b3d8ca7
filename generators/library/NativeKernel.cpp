// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads the object files of a compiled kernel into this process.
#include "posenc/Compiler/NativeKernel.h"

#include "posenc/kernel_abi.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>

using namespace llvm;
using namespace posenc;

NativeKernel::NativeKernel() = default;
NativeKernel::~NativeKernel() = default;

NativeKernel::Arguments::Arguments(size_t tensorCount)
    : storage(tensorCount + 1, 0) {
  static_assert(sizeof(size_t) == sizeof(uintptr_t) &&
                    sizeof(void *) == sizeof(uintptr_t),
                "the argument struct is a size and pointers of one width");
  storage[0] = storage.size() * sizeof(uintptr_t);
}

void NativeKernel::Arguments::set(size_t index, const DLTensor *tensor) {
  storage[index + 1] = reinterpret_cast<uintptr_t>(tensor);
}

/// The runtime is linked into this program, not into a library that a symbol
/// search would find.
static orc::SymbolMap getRuntimeSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Callable};
  };
#define POSENC_ADD(name) add(#name, &(name))
  POSENC_ADD(posenc_kernel_enter);
  POSENC_ADD(posenc_kernel_enter_prepare);
  POSENC_ADD(posenc_kernel_scratch_bytes);
  POSENC_ADD(posenc_kernel_scratch);
  POSENC_ADD(posenc_kernel_parallel);
  POSENC_ADD(posenc_kernel_leave);
  POSENC_ADD(posenc_prepared_total_bytes);
  POSENC_ADD(posenc_prepared_begin);
  POSENC_ADD(posenc_prepared_finish);
  POSENC_ADD(posenc_kernel_dropout);
  POSENC_ADD(posenc_kernel_next_listed);
  POSENC_ADD(posenc_kernel_tile_failed);
  POSENC_ADD(posenc_kernel_sequence);
  POSENC_ADD(posenc_kernel_position_failed);
  POSENC_ADD(posenc_kernel_append);
  POSENC_ADD(posenc_kernel_load_state);
  POSENC_ADD(posenc_kernel_store_state);
#undef POSENC_ADD
  return symbols;
}

Expected<std::unique_ptr<NativeKernel>>
NativeKernel::load(const CompiledKernel &compiled) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  orc::JITDylib &library = (*jit)->getMainJITDylib();
  if (Error error =
          library.define(orc::absoluteSymbols(getRuntimeSymbols(**jit))))
    return error;
  // memset and libm, as in the program that links the kernel.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  for (const CompiledObject &object : compiled.objects)
    if (Error error = (*jit)->addObjectFile(
            MemoryBuffer::getMemBufferCopy(object.bytes, object.name)))
      return error;

  std::unique_ptr<NativeKernel> kernel(new NativeKernel());
  auto find = [&](StringRef suffix, auto &entry) -> Error {
    auto address = (*jit)->lookup(compiled.name + suffix.str());
    if (!address)
      return address.takeError();
    entry = address->toPtr<std::remove_reference_t<decltype(entry)>>();
    return Error::success();
  };
  if (Error error = find("", kernel->runEntry))
    return error;
  if (!compiled.isEmbed) {
    if (Error error = find("_prepare", kernel->prepareEntry))
      return error;
    if (Error error = find("_prepared_bytes", kernel->preparedBytesEntry))
      return error;
  }
  if (Error error = find("_scratch_bytes", kernel->scratchBytesEntry))
    return error;
  if (!compiled.appendTensors.empty()) {
    if (Error error = find("_append_kv", kernel->appendEntry))
      return error;
    if (Error error =
            find("_append_kv_scratch_bytes", kernel->appendScratchBytesEntry))
      return error;
  }
  kernel->jit = std::move(*jit);
  return kernel;
}

posenc_status NativeKernel::run(const Arguments &args,
                                const posenc_call *call) const {
  return runEntry(args.get(), call);
}
posenc_status NativeKernel::prepare(const Arguments &args, void *buffer,
                                    size_t size) const {
  return prepareEntry(args.get(), buffer, size);
}
size_t NativeKernel::preparedBytes(const Arguments &args) const {
  return preparedBytesEntry(args.get());
}
size_t NativeKernel::scratchBytes(const Arguments &args,
                                  const posenc_call *call) const {
  return scratchBytesEntry(args.get(), call);
}
posenc_status NativeKernel::append(const Arguments &args,
                                   const posenc_call *call) const {
  return appendEntry(args.get(), call);
}
size_t NativeKernel::appendScratchBytes(const Arguments &args,
                                        const posenc_call *call) const {
  return appendScratchBytesEntry(args.get(), call);
}
