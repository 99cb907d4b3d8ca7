// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a specification to the files that a program links.
#ifndef POSENC_COMPILER_COMPILE_H
#define POSENC_COMPILER_COMPILE_H

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Analysis/KernelTensors.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace posenc {

struct CompileOptions {
  /// The kernel to compile; empty for every kernel of the module.
  std::string kernel;
  /// Targets of one platform, as posenc/Analysis/InstructionSets.h names them,
  /// best first or not: they are sorted. Empty for all of the host's. For an
  /// instruction set that brings a kernel nothing the kernel has the code of
  /// the next.
  std::vector<std::string> isas;
  /// Compiled functions are kept here, by the content of their plan and the
  /// identity of the compiler. Empty: nothing is kept.
  std::string cacheDirectory;
  /// Assembly text instead of object files.
  bool emitAssembly = false;
  /// Sizes of tiles in the place of the predicted ones, each an instruction set
  /// and TileSizes of posenc/Analysis/CostModel.h: "x86-64-avx2=24+16x256".
  std::vector<std::string> tiles;
  /// Whether they were measured, for the manifest.
  bool areTilesMeasured = false;
};

/// The tiles of a compiled kernel on one instruction set.
struct CompiledTiles {
  std::string isa;
  std::string sizes;  // "48+32x256"
  std::string source; // "predicted", "given" or "measured"
};

/// A file of a compiled kernel.
struct CompiledObject {
  std::string name; // "bloom_driver.o"
  std::string bytes;
};

struct CompiledKernel {
  std::string name;
  /// An input embedding: has no NAME_prepare and NAME_prepared_bytes.
  bool isEmbed = false;
  std::string platform;
  std::vector<std::string> isas; // best first
  /// The tensors of NAME_args, in order.
  std::vector<KernelTensor> tensors;
  /// Those of NAME_append_args; none without a cache that NAME_append_kv fills.
  std::vector<KernelTensor> appendTensors;
  /// Of calls with many queries.
  std::vector<CompiledTiles> tiles;
  std::vector<CompiledObject> objects;
  /// The C header of the entry points.
  std::string header;
  /// What was compiled and how, as JSON.
  std::string manifest;
};

/// An unknown name among targets, or two platforms, is an error at the module.
mlir::FailureOr<Target> findTarget(mlir::ModuleOp module,
                                   llvm::ArrayRef<std::string> names);

/// The default place of the cache: $POSENC_CACHE_DIR, or posenc/kernels in the
/// user's cache directory.
std::string getDefaultCacheDirectory();

/// Registers the dialects that compilation uses and their translation to LLVM.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Compiles kernels and embeddings of `module`, which is not changed. Errors
/// are diagnostics at the specification's locations. Equal input gives equal
/// bytes.
mlir::FailureOr<std::vector<CompiledKernel>>
compile(mlir::ModuleOp module, const CompileOptions &options);

/// The kernel of the same module that fills a kernel's cache; null if there is
/// none yet.
KernelOp findAppendKernel(KernelOp kernel);

/// Whether a kernel fills the cache of another one of its module, with which it
/// is compiled.
bool isOfAnotherKernel(KernelOp kernel);

/// A module with one kernel, expanded and simplified (level 2), and the one
/// that fills its cache if it has one.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToLevel2(KernelOp kernel);

/// A module with one embedding, expanded (level 2).
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerToLevel2(EmbedOp embed);

/// A module with the same kernels of level 2, each followed by its plans (level
/// 3). `tiles` are those of CompileOptions.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToPlans(KernelOp kernel, llvm::ArrayRef<std::string> isas,
             llvm::ArrayRef<std::string> tiles = {});

/// The object files of a kernel as a static library. Always the same bytes for
/// the same objects.
llvm::Expected<std::string> makeArchive(llvm::ArrayRef<CompiledObject> objects);

} // namespace posenc

#endif // POSENC_COMPILER_COMPILE_H
