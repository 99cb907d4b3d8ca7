// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compiler SPEC DIRECTORY: posenc-compile in a few lines, with the installed
// headers and libraries alone.

#include "posenc/Compiler/Compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <fstream>
#include <iostream>

static bool writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  return !file.fail();
}

static bool writeKernel(const posenc::CompiledKernel &kernel,
                        const std::string &directory) {
  llvm::Expected<std::string> archive = posenc::makeArchive(kernel.objects);
  if (!archive) {
    std::cerr << llvm::toString(archive.takeError()) << "\n";
    return false;
  }
  std::string path = directory + "/" + kernel.name;
  return writeFile(directory + "/lib" + kernel.name + ".a", *archive) &&
         writeFile(path + ".h", kernel.header) &&
         writeFile(path + ".json", kernel.manifest);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mlir::DialectRegistry registry;
  posenc::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  // What cannot be compiled is a diagnostic and a failure, not the end.
  posenc::CompileOptions wrong;
  wrong.kernel = "missing";
  if (mlir::succeeded(posenc::compile(*module, wrong)))
    return 3;

  posenc::CompileOptions options;
  options.isas = {"x86-64", "x86-64-avx2"};
  mlir::FailureOr<std::vector<posenc::CompiledKernel>> kernels =
      posenc::compile(*module, options);
  if (mlir::failed(kernels) || kernels->empty())
    return 1;
  for (const posenc::CompiledKernel &kernel : *kernels)
    if (!writeKernel(kernel, argv[2]))
      return 1;
  return 0;
}
