// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which names kernels may have in C.
#include "KernelNames.h"
#include "posenc/Compiler/Compile.h"
#include "posenc/IR/CNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace posenc;

/// LLVM knows the functions of the C library; the rest is what is no function
/// of one.
static bool isLibraryName(StringRef name) {
  static const llvm::TargetLibraryInfoImpl library(
      llvm::Triple("x86_64-unknown-linux-gnu"));
  static const llvm::StringSet<> others = {
      "main",   "EOF", "assert", "errno", "environ", "stdin", "stdout",
      "stderr", "j0",  "j1",     "jn",    "y0",      "y1",    "yn"};
  llvm::LibFunc function;
  return library.getLibFunc(name, function) || others.contains(name) ||
         name.starts_with("pthread_");
}

/// Why a program cannot declare a function of that name, or nothing.
static StringRef getConflict(StringRef name) {
  if (name.contains("__") ||
      (name.size() > 1 && name.front() == '_' && llvm::isUpper(name[1])))
    return "reserved for the compiler";
  if (name.front() == '_')
    return "reserved for the C library";
  if (name.starts_with_insensitive("posenc_"))
    return "kept for posenc's runtime";
  if (name.starts_with("DL") || name.starts_with("kDL"))
    return "kept for DLPack";
  if (name.ends_with("_t"))
    return "kept for types by POSIX";
  if (isReservedInC(name))
    return "a word of C or C++";
  if (isLibraryName(name))
    return "a name of the C library";
  return "";
}

LogicalResult posenc::checkKernelName(SymbolOpInterface kernel) {
  StringRef name = kernel.getName();
  if (!isCIdentifier(name))
    return kernel->emitError("expected the name of a compiled kernel to be a C "
                             "identifier, but got '")
           << name << "'";
  StringRef conflict = getConflict(name);
  if (conflict.empty())
    return success();
  return kernel->emitError("cannot compile a kernel named '")
         << name << "', which is " << conflict
         << "; rename it: the kernel becomes a C function of that name";
}

LogicalResult posenc::checkDerivedNames(ModuleOp module) {
  llvm::StringMap<Operation *> kernels;
  for (Operation &op : *module.getBody())
    if (isa<KernelOp, EmbedOp>(op))
      kernels[cast<SymbolOpInterface>(op).getName()] = &op;
  for (Operation &op : *module.getBody()) {
    auto kernel = dyn_cast<KernelOp>(op);
    if ((!kernel && !isa<EmbedOp>(op)) || (kernel && isOfAnotherKernel(kernel)))
      continue;
    StringRef name = cast<SymbolOpInterface>(op).getName();
    for (StringRef suffix :
         {"_args", "_prepare", "_prepared_bytes", "_scratch_bytes",
          "_append_kv", "_append_args", "_append_kv_scratch_bytes"}) {
      std::string derived = (name + suffix).str();
      auto other = kernels.find(derived);
      if (other == kernels.end() ||
          (kernel && findAppendKernel(kernel) == other->second))
        continue;
      InFlightDiagnostic diagnostic =
          other->second->emitError("cannot compile a kernel named '")
          << derived << "', which is declared in the header of the kernel '"
          << name << "'; rename one of the two";
      diagnostic.attachNote(op.getLoc()) << "the other kernel is here";
      return failure();
    }
  }
  return success();
}
