// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// posenc inside the stock mlir-opt:
//   mlir-opt --load-dialect-plugin=PosencPlugin.so
//   --load-pass-plugin=PosencPlugin.so
//            --pass-pipeline='builtin.module(posenc-expand-encodings)'
#include "posenc/IR/Posenc.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static void registerDialect(mlir::DialectRegistry *registry) {
  registry->insert<posenc::PosencDialect>();
}

static void registerPasses() {
  posenc::registerPosencPasses();
  posenc::registerPosencPipelines();
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "posenc", LLVM_VERSION_STRING,
          registerDialect};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "posenc", LLVM_VERSION_STRING,
          registerPasses};
}
