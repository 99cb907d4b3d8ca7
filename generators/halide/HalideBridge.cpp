// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide's modules as objects in memory. The only place that catches what
// Halide throws: nothing between here and its calls is built without
// exceptions.
#include "TilePipeline.h"
#include "posenc/Halide/TileObjects.h"
#include "posenc/Machine/MachineCode.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace posenc;
using llvm::StringRef;

/// What a kernel library may ask of the C library.
static bool isAllowedImport(StringRef symbol) {
  static const llvm::StringSet<> allowed = {
      "memset", "memcpy", "memmove",
      // libm, in both precisions
      "ceil", "copysign", "cos", "erf", "exp", "exp2", "expm1", "floor", "fma",
      "fmax", "fmin", "log", "log1p", "log2", "pow", "sin", "sqrt", "tan",
      "tanh", "trunc", "ceilf", "copysignf", "cosf", "erff", "expf", "exp2f",
      "expm1f", "floorf", "fmaf", "fmaxf", "fminf", "logf", "log1pf", "log2f",
      "powf", "sinf", "sqrtf", "tanf", "tanhf", "truncf",
      // what LLVM makes of a sine and a cosine of one angle
      "sincos", "sincosf",
      // the same of Apple's libm, and its memset of zeros
      "__sincos_stret", "__sincosf_stret", "bzero"};
  return allowed.contains(symbol);
}

static llvm::Error checkImports(StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "tile function"));
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) ||
        (*flags & llvm::object::SymbolRef::SF_FormatSpecific))
      continue;
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    if ((*file)->isMachO())
      name->consume_front("_"); // of every C function
    if (!isAllowedImport(*name))
      return llvm::createStringError("the object needs the symbol '" + *name +
                                     "'");
  }
  return llvm::Error::success();
}

/// Halide writes files only, so it gets one in memory: no disk can be full, and
/// nothing is left behind however this process ends.
static llvm::Expected<std::string> write(const Halide::Module &module,
                                         Halide::OutputFileType type) {
  int file = memfd_create("posenc-tile", MFD_CLOEXEC);
  if (file < 0) {
    std::error_code error(errno, std::generic_category());
    return llvm::createStringError(error, "cannot create a file in memory: " +
                                              error.message());
  }
  llvm::scope_exit closeFile([&] { close(file); });
  std::string path = "/proc/self/fd/" + std::to_string(file);
  module.compile({{type, path}});
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "cannot read " + path + ": " +
                                       buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// Halide's code for another CPU than its target stands for, or for an object
/// format in which a symbol cannot be hidden afterwards.
static llvm::Expected<std::string> generateFor(const InstructionSet &target,
                                               const Platform &platform,
                                               StringRef bitcode,
                                               bool emitAssembly) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bitcode, "tile function"), context);
  if (!module)
    return module.takeError();
  for (llvm::Function &function : **module) {
    if (!function.isDeclaration())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    function.addFnAttr("target-cpu",
                       target.cpu.empty() ? platform.cpu : target.cpu);
    function.addFnAttr("target-features", target.cpuFeatures);
  }
  auto machine =
      createTargetMachine(platform, llvm::CodeGenOptLevel::Aggressive);
  if (!machine)
    return machine.takeError();
  return emitMachineCode(**module, **machine, emitAssembly);
}

static llvm::Expected<std::string> compile(const Halide::Module &module,
                                           const InstructionSet &target,
                                           const Platform &platform,
                                           bool emitAssembly) {
  using Halide::OutputFileType;
  if (target.cpu.empty() && llvm::Triple(platform.triple).isOSBinFormatELF())
    return write(module, emitAssembly ? OutputFileType::assembly
                                      : OutputFileType::object);
  llvm::Expected<std::string> bitcode = write(module, OutputFileType::bitcode);
  if (!bitcode)
    return bitcode.takeError();
  return generateFor(target, platform, *bitcode, emitAssembly);
}

static mlir::FailureOr<std::vector<TileObject>>
emitObjects(PlanOp plan, bool emitAssembly, const InstructionSet &target,
            const Platform &platform) {
  auto modules = buildTileModules(plan, target, platform);
  if (mlir::failed(modules))
    return mlir::failure();
  std::vector<TileObject> objects;
  for (const Halide::Module &module : *modules) {
    TileObject object;
    object.symbol = module.name();
    llvm::Expected<std::string> contents =
        compile(module, target, platform, emitAssembly);
    if (!contents)
      return plan.emitOpError(llvm::toString(contents.takeError()));
    object.bytes = std::move(*contents);
    if (!emitAssembly)
      if (llvm::Error error = checkImports(object.bytes))
        return plan.emitOpError("has a tile function '")
               << object.symbol << "' that does not stand alone: "
               << llvm::toString(std::move(error));
    objects.push_back(std::move(object));
  }
  return objects;
}

mlir::FailureOr<std::vector<TileObject>>
posenc::emitTileObjects(PlanOp plan, const Platform &platform,
                        bool emitAssembly) {
  const InstructionSet *target = findInstructionSet(plan.getIsa());
  if (!target) {
    // The same diagnostic as for any other user of the signature.
    (void)getTileShapes(plan);
    return mlir::failure();
  }
  try {
    return emitObjects(plan, emitAssembly, *target, platform);
  } catch (const Halide::Error &error) {
    return plan.emitOpError("cannot be generated: ")
           << StringRef(error.what()).trim();
  }
}
