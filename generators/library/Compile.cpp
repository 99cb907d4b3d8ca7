// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a specification to the files that a program links.
#include "Header.h"
#include "HostObject.h"
#include "KernelCache.h"
#include "KernelNames.h"
#include "StripObject.h"

#include "posenc/Analysis/CostModel.h"
#include "posenc/Analysis/EmbedBody.h"
#include "posenc/Analysis/PairProducts.h"
#include "posenc/Halide/TileObjects.h"
#include "posenc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace posenc;

void posenc::registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<PosencDialect, arith::ArithDialect, func::FuncDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

FailureOr<Target> posenc::findTarget(ModuleOp module,
                                     ArrayRef<std::string> names) {
  llvm::Expected<Target> target = parseTargets(names);
  if (!target)
    return module.emitError() << llvm::toString(target.takeError());
  return *target;
}

static std::vector<std::string>
getInstructionSetNames(Operation *op, ArrayRef<std::string> requested) {
  std::vector<std::string> names;
  for (const InstructionSet *isa : selectInstructionSets(op, requested))
    names.push_back(isa->name.str());
  return names;
}

/// The machine code of one plan, from the cache or from the generator.
static FailureOr<std::vector<CompiledObject>>
compilePlan(PlanOp plan, const Platform &platform, const KernelCache &cache,
            bool emitAssembly) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << getCompilerIdentity() << (emitAssembly ? " asm " : " obj ")
         << platform.name << " ";
  plan->print(stream, OpPrintingFlags().useLocalScope());
  if (std::optional<std::vector<CompiledObject>> cached = cache.load(key))
    return *cached;

  auto tiles = emitTileObjects(plan, platform, emitAssembly);
  if (failed(tiles))
    return failure();
  std::vector<CompiledObject> objects;
  for (TileObject &tile : *tiles) {
    if (emitAssembly) {
      objects.push_back({tile.symbol + ".s", std::move(tile.bytes)});
      continue;
    }
    auto stripped = stripObject(tile.bytes, tile.symbol);
    if (!stripped)
      return plan.emitError("cannot strip the object file of '")
             << tile.symbol << "': " << llvm::toString(stripped.takeError());
    objects.push_back({tile.symbol + ".o", std::move(*stripped)});
  }
  cache.store(key, objects);
  return objects;
}

static CompiledTiles describeTiles(PlanOp plan, const CompileOptions &options) {
  std::string isa = plan.getIsa().str();
  bool isPredicted = llvm::none_of(options.tiles, [&](StringRef choice) {
    return choice.split('=').first == isa;
  });
  return {isa, getTileSizes(plan).str(),
          isPredicted                ? "predicted"
          : options.areTilesMeasured ? "measured"
                                     : "given"};
}

static FailureOr<CompiledKernel> compileKernel(KernelOp source,
                                               const Target &target,
                                               const CompileOptions &options) {
  if (failed(checkKernelName(source)))
    return failure();
  if (source.isAppend())
    return source.emitError("cannot compile a kernel that fills a cache by "
                            "itself; expected it beside that whose cache it "
                            "fills, and to be named after it");
  FailureOr<OwningOpRef<ModuleOp>> module =
      lowerToPlans(source, target.isas, options.tiles);
  if (failed(module))
    return failure();
  KernelOp kernel = *(*module)->getOps<KernelOp>().begin();

  CompiledKernel compiled;
  compiled.name = kernel.getSymName().str();
  compiled.platform = target.platform->name.str();
  compiled.isas = getInstructionSetNames(source, target.isas);
  compiled.tensors = getKernelTensors(kernel);
  KernelOp append = findAppendKernel(kernel);
  if (append)
    compiled.appendTensors = getKernelTensors(append);

  KernelCache cache(options.cacheDirectory);
  for (PlanOp plan : (*module)->getOps<PlanOp>()) {
    auto objects =
        compilePlan(plan, *target.platform, cache, options.emitAssembly);
    if (failed(objects))
      return failure();
    llvm::append_range(compiled.objects, *objects);
    if (!plan.getPacked() && !plan.getAppend())
      compiled.tiles.push_back(describeTiles(plan, options));
  }
  // The kernels are erased with the driver's lowering, so this comes before.
  StringRef extension = options.emitAssembly ? ".s" : ".o";
  std::string driverName = compiled.name + "_driver" + extension.str();
  compiled.objects.push_back({driverName, ""});
  compiled.header = makeHeader(kernel, append, compiled);
  compiled.manifest = makeManifest(kernel, compiled);

  FailureOr<std::string> driver =
      emitHostObject(**module, createPosencLowerDriver(), *target.platform,
                     options.emitAssembly);
  if (failed(driver))
    return failure();
  if (options.emitAssembly) {
    compiled.objects.back().bytes = std::move(*driver);
    return compiled;
  }
  auto stripped = stripObject(*driver, "");
  if (!stripped)
    return source.emitError("cannot strip the driver's object file: ")
           << llvm::toString(stripped.takeError());
  compiled.objects.back().bytes = std::move(*stripped);
  return compiled;
}

static FailureOr<CompiledKernel> compileEmbed(EmbedOp source,
                                              const Target &target,
                                              const CompileOptions &options) {
  if (failed(checkKernelName(source)))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> module = lowerToLevel2(source);
  if (failed(module))
    return failure();
  EmbedOp embed = *(*module)->getOps<EmbedOp>().begin();
  if (llvm::Error error = checkEmbedBody(embed))
    return source.emitError() << llvm::toString(std::move(error));

  CompiledKernel compiled;
  compiled.name = embed.getSymName().str();
  compiled.isEmbed = true;
  compiled.platform = target.platform->name.str();
  compiled.isas = getInstructionSetNames(source, target.isas);
  compiled.tensors = getKernelTensors(embed);
  StringRef extension = options.emitAssembly ? ".s" : ".o";
  compiled.objects.push_back({compiled.name + "_embed" + extension.str(), ""});
  compiled.header = makeHeader(embed, compiled);
  compiled.manifest = makeManifest(embed, compiled);

  PosencLowerEmbedOptions lowering;
  lowering.isa.assign(compiled.isas.begin(), compiled.isas.end());
  FailureOr<std::string> object =
      emitHostObject(**module, createPosencLowerEmbed(lowering),
                     *target.platform, options.emitAssembly);
  if (failed(object))
    return failure();
  if (options.emitAssembly) {
    compiled.objects.back().bytes = std::move(*object);
    return compiled;
  }
  auto stripped = stripObject(*object, "");
  if (!stripped)
    return source.emitError("cannot strip the embedding's object file: ")
           << llvm::toString(stripped.takeError());
  compiled.objects.back().bytes = std::move(*stripped);
  return compiled;
}

FailureOr<std::vector<CompiledKernel>>
posenc::compile(ModuleOp module, const CompileOptions &options) {
  FailureOr<Target> target = findTarget(module, options.isas);
  if (failed(target) || failed(checkDerivedNames(module)))
    return failure();
  std::vector<CompiledKernel> kernels;
  for (Operation &op : *module.getBody()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || !isa<KernelOp, EmbedOp>(op) ||
        (!options.kernel.empty() && symbol.getName() != options.kernel))
      continue;
    auto kernel = dyn_cast<KernelOp>(op);
    // Compiled with the one whose cache it fills.
    if (options.kernel.empty() && kernel && isOfAnotherKernel(kernel))
      continue;
    FailureOr<CompiledKernel> compiled =
        kernel ? compileKernel(kernel, *target, options)
               : compileEmbed(cast<EmbedOp>(op), *target, options);
    if (failed(compiled))
      return failure();
    kernels.push_back(std::move(*compiled));
  }
  if (kernels.empty())
    return module.emitError("expected a kernel")
           << (options.kernel.empty() ? "" : " named '" + options.kernel + "'")
           << ", found none";
  return kernels;
}
