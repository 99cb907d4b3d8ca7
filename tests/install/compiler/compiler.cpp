// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the dialect from the installed headers and libraries.

#include "posenc/IR/Posenc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::MLIRContext context;
  context.loadDialect<posenc::PosencDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  return !module || module->getBody()->empty();
}
