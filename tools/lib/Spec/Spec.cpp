// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a specification file and finding a kernel in it.
#include "posenc/Tools/Spec.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace posenc;

FailureOr<OwningOpRef<ModuleOp>> posenc::loadSpec(MLIRContext &context,
                                                  llvm::SourceMgr &sources,
                                                  StringRef path) {
  // Messages name what is wrong; the whole module is no help below them.
  context.printOpOnDiagnostic(false);
  // Devices such as /dev/zero may never end.
  llvm::sys::fs::file_status status;
  if (path != "-" && !llvm::sys::fs::status(path, status) &&
      status.type() == llvm::sys::fs::file_type::character_file) {
    emitError(FileLineColLoc::get(&context, path, 1, 1))
        << "expected a specification, found a device";
    return failure();
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    emitError(FileLineColLoc::get(&context, path, 1, 1))
        << "cannot read the specification: " << buffer.getError().message();
    return failure();
  }
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return failure();
  // What concerns the file as a whole is reported at its first line; the parser
  // gives a module that is not spelled out line 0.
  if (auto loc = dyn_cast<FileLineColLoc>(module->getLoc());
      loc && loc.getLine() == 0)
    (*module)->setLoc(FileLineColLoc::get(&context, path, 1, 1));
  return module;
}

template <typename Kernel>
static FailureOr<Kernel> select(ModuleOp module, StringRef name) {
  SmallVector<StringRef> names;
  for (Kernel kernel : module.getOps<Kernel>()) {
    if (name.empty() || kernel.getSymName() == name)
      return kernel;
    names.push_back(kernel.getSymName());
  }
  InFlightDiagnostic diagnostic = module.emitError("expected a ")
                                  << Kernel::getOperationName();
  if (!name.empty())
    diagnostic << " named '" << name << "'";
  diagnostic << ", found ";
  if (names.empty())
    diagnostic << "none";
  llvm::interleaveComma(names, diagnostic);
  return failure();
}

FailureOr<KernelOp> posenc::selectKernel(ModuleOp module, StringRef name) {
  return select<KernelOp>(module, name);
}
FailureOr<EmbedOp> posenc::selectEmbed(ModuleOp module, StringRef name) {
  return select<EmbedOp>(module, name);
}
