// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles the kernels of a specification to libraries with C headers.
#include "Tune.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Compiler/Compile.h"
#include "posenc/Tools/CommandLine.h"
#include "posenc/Tools/OutputFiles.h"
#include "posenc/Tools/Spec.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace posenc;
namespace cl = llvm::cl;

namespace {
enum class Emit { Library, Object, Assembly, Ptx, Plan, Level2 };
} // namespace

namespace {
struct Options {
  cl::OptionCategory category{"posenc-compile options"};
  SpecOptions spec{
      category, "compile this kernel only (default: every kernel of the file)"};
  cl::opt<std::string> outputDirectory{
      "o", cl::Required, cl::value_desc("DIR"),
      cl::desc("directory for the results; made if it is not there"),
      cl::cat(category)};
  std::string targetHelp =
      "platform to compile for (all its instruction sets, one of which is "
      "chosen at run time by what the CPU has), or instruction sets of one "
      "platform; --target=help lists them (default: " +
      getHostPlatform().name.str() + ")";
  cl::list<std::string> targets{"target", cl::CommaSeparated,
                                cl::value_desc("T,..."), cl::desc(targetHelp),
                                cl::cat(category)};
  WordOption<Emit> emitKind{
      "emit", cl::desc("what to write:"), cl::init(Emit::Library),
      cl::values(
          clEnumValN(Emit::Library, "library",
                     "lib<kernel>.a, <kernel>.h and <kernel>.json (default)"),
          clEnumValN(Emit::Object, "object", "the library's object files"),
          clEnumValN(Emit::Assembly, "asm", "the same as assembly text"),
          clEnumValN(Emit::Ptx, "ptx", "PTX of GPU targets"),
          clEnumValN(
              Emit::Plan, "plan",
              "<kernel>.plan.mlir: where each term is computed (level 3)"),
          clEnumValN(Emit::Level2, "level2",
                     "<kernel>.level2.mlir: what the numbers are (level 2)")),
      cl::cat(category)};
  cl::opt<bool> explain{
      "explain",
      cl::desc("print the decisions of the compiler and the kernel's tensors"),
      cl::cat(category)};
  cl::list<std::string> tiles{
      "tiles", cl::CommaSeparated, cl::value_desc("T=SIZES,..."),
      cl::desc(
          "heights of tiles and keys of a block for a target, in the place "
          "of the\npredicted ones, as manifests give them: "
          "x86-64-avx2=24+16x256"),
      cl::cat(category)};
  cl::opt<bool> tune{
      "tune",
      cl::desc("time the best predicted tiles on this machine and take the "
               "fastest; the\nmanifest says which those are"),
      cl::cat(category)};
  CacheOptions cache{category};
};
} // namespace

static Options *flags;

static const char *const overview =
    R"(posenc: attention kernels with fused position encodings

Compiles each kernel of a specification to a static library that needs nothing
but libposenc_runtime.a, libm and the C library, and a C header to call it with.

EXAMPLES:
  posenc-compile specs/llama-2-7b.mlir -o build
      build/libllama_2_7b.a, build/llama_2_7b.h, build/llama_2_7b.json; link with
      -Lbuild -lllama_2_7b -lposenc_runtime -lm -pthread
  posenc-compile specs/t5-small.mlir --kernel t5_small_encoder --target=x86-64-avx2 -o build
  posenc-compile specs/bloom-7b1.mlir --explain -o build
      also prints where each term is computed and which tensors the kernel takes
  posenc-compile specs/bloom-7b1.mlir --emit=plan -o build
  posenc-compile specs/bloom-7b1.mlir --tune --target=x86-64-avx2 -o build
      also tries tiles of other sizes; "tiles" of build/bloom_7b1.json has the choice
  posenc-compile specs/bloom-7b1.mlir --tiles=x86-64-avx2=24x128 -o build
  posenc-compile specs/bloom-7b1.mlir --target=aarch64-linux -o build
      a library for 64-bit ARM, with no ARM toolchain
)";

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

/// Prints the remarks of the passes, one line each, while it lives.
namespace {
class RemarkPrinter : ScopedDiagnosticHandler {
public:
  explicit RemarkPrinter(MLIRContext *context)
      : ScopedDiagnosticHandler(context, [](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
            return failure();
          // [Passed] Name | Category:... | Remark="text"
          std::string text = diagnostic.str();
          auto [kind, rest] = StringRef(text).split("] ");
          StringRef name = rest.split(" |").first;
          bool isMissed = kind == "[Missed" || kind == "[Failure";
          StringRef remark = StringRef(text).split("Remark=\"").second;
          remark.consume_back("\"");
          llvm::outs() << "  " << name.lower() << (isMissed ? " (not): " : ": ")
                       << (remark.empty() ? StringRef(text) : remark) << "\n";
          return success();
        }) {}
};
} // namespace

/// Makes the passes' decisions visible.
static LogicalResult enableRemarks(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = "posenc.*";
  return remark::enableOptimizationRemarks(
      context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
      categories, /*printAsEmitRemarks=*/true);
}

static void printTensors(llvm::ArrayRef<KernelTensor> tensors) {
  for (const KernelTensor &tensor : tensors) {
    bool isOperand = !llvm::is_contained(
        {"q", "k", "v", "o", "lse", "x", "y", "k_cache", "v_cache"},
        tensor.name);
    llvm::outs() << "  " << (isOperand ? "operand " : "tensor ") << tensor.name
                 << ": " << tensor.getTypeString() << "  " << tensor.comment
                 << "\n";
  }
}

/// Those of the append function are none where there is no such function.
static void printExplanation(bool isEmbed, StringRef name,
                             llvm::ArrayRef<KernelTensor> tensors,
                             llvm::ArrayRef<KernelTensor> appendTensors) {
  llvm::outs() << (isEmbed ? "embedding " : "kernel ") << name << "\n";
  printTensors(tensors);
  if (appendTensors.empty())
    return;
  llvm::outs() << "append function " << name << "_append_kv\n";
  printTensors(appendTensors);
}

/// Of a level that has not been compiled.
static void printExplanation(ModuleOp level) {
  for (EmbedOp embed : level.getOps<EmbedOp>())
    printExplanation(/*isEmbed=*/true, embed.getSymName(),
                     getKernelTensors(embed), {});
  for (KernelOp kernel : level.getOps<KernelOp>()) {
    if (isOfAnotherKernel(kernel))
      continue;
    KernelOp append = findAppendKernel(kernel);
    printExplanation(
        /*isEmbed=*/false, kernel.getSymName(), getKernelTensors(kernel),
        append ? getKernelTensors(append) : std::vector<KernelTensor>());
  }
}

/// The kernels and embeddings that the command line asks for.
static FailureOr<SmallVector<Operation *>> selectKernels(ModuleOp module) {
  SmallVector<Operation *> kernels;
  const std::string &name = flags->spec.kernel;
  for (Operation &op : *module.getBody()) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel && !isa<EmbedOp>(op))
      continue;
    bool isWanted = name.empty()
                        ? !(kernel && isOfAnotherKernel(kernel))
                        : cast<SymbolOpInterface>(op).getName() == name;
    if (isWanted)
      kernels.push_back(&op);
  }
  if (!kernels.empty())
    return kernels;
  // Says which there are.
  if (failed(selectKernel(module, name)))
    return failure();
  return kernels;
}

/// One kernel or embedding, with the tiles that are fastest if they are to be
/// measured.
static FailureOr<CompiledKernel> compileOne(ModuleOp module, Operation *op) {
  CompileOptions options;
  options.kernel = cast<SymbolOpInterface>(op).getName().str();
  options.isas = flags->targets;
  options.emitAssembly = flags->emitKind == Emit::Assembly;
  options.cacheDirectory = flags->cache.getDirectory();
  options.tiles = flags->tiles;
  if (auto kernel = dyn_cast<KernelOp>(op); kernel && flags->tune) {
    FailureOr<Target> target = findTarget(module, options.isas);
    if (failed(target) || failed(tuneTiles(kernel, *target, options)))
      return failure();
    options.areTilesMeasured = true;
  }
  FailureOr<std::vector<CompiledKernel>> kernels = compile(module, options);
  if (failed(kernels))
    return failure();
  return std::move(kernels->front());
}

static LogicalResult emitLibraries(ModuleOp module, OutputFiles &files) {
  FailureOr<SmallVector<Operation *>> selected = selectKernels(module);
  if (failed(selected))
    return failure();
  for (Operation *op : *selected) {
    FailureOr<CompiledKernel> compiled = compileOne(module, op);
    if (failed(compiled))
      return failure();
    CompiledKernel &kernel = *compiled;
    if (flags->explain)
      printExplanation(kernel.isEmbed, kernel.name, kernel.tensors,
                       kernel.appendTensors);
    if (flags->emitKind != Emit::Library) {
      for (CompiledObject &object : kernel.objects)
        files.add(object.name, std::move(object.bytes));
      continue;
    }
    llvm::Expected<std::string> archive = makeArchive(kernel.objects);
    if (!archive)
      return module.emitError("cannot make the library of '")
             << kernel.name << "': " << llvm::toString(archive.takeError());
    files.add("lib" + kernel.name + ".a", std::move(*archive));
    files.add(kernel.name + ".h", std::move(kernel.header));
    files.add(kernel.name + ".json", std::move(kernel.manifest));
  }
  return success();
}

static LogicalResult emitLevels(ModuleOp module, OutputFiles &files) {
  FailureOr<SmallVector<Operation *>> kernels = selectKernels(module);
  if (failed(kernels))
    return failure();
  FailureOr<Target> target =
      findTarget(module, std::vector<std::string>(flags->targets));
  if (failed(target))
    return failure();
  bool isPlan = flags->emitKind == Emit::Plan;
  for (Operation *op : *kernels) {
    StringRef name = cast<SymbolOpInterface>(op).getName();
    if (name != llvm::sys::path::filename(name))
      return op->emitError(
                 "expected the name of a kernel to be a file name, but got '")
             << name << "'";
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel && isPlan) {
      if (flags->spec.kernel.empty())
        continue;
      return op->emitError("--emit=plan: '")
             << name << "' is an input embedding, which has no plan";
    }
    FailureOr<OwningOpRef<ModuleOp>> result =
        !kernel  ? lowerToLevel2(cast<EmbedOp>(op))
        : isPlan ? lowerToPlans(kernel, target->isas,
                                std::vector<std::string>(flags->tiles))
                 : lowerToLevel2(kernel);
    if (failed(result))
      return failure();
    if (flags->explain)
      printExplanation(**result);
    files.add((name + (isPlan ? ".plan" : ".level2") + ".mlir").str(),
              print(**result));
  }
  return success();
}

static LogicalResult runTool(MLIRContext &context, ModuleOp module) {
  OutputFiles files;
  files.setSource(flags->spec.inputFile);
  if (flags->emitKind == Emit::Ptx)
    return module.emitError("--emit=ptx: this posenc has no GPU target");
  if (flags->tune && (!flags->tiles.empty() || flags->emitKind == Emit::Plan ||
                      flags->emitKind == Emit::Level2))
    return module.emitError(
        "--tune: expected neither --tiles nor --emit=plan or level2 beside it");
  // Fails with the list of kernels if there is none of that name.
  if (failed(selectKernels(module)))
    return failure();
  bool isLevel =
      flags->emitKind == Emit::Plan || flags->emitKind == Emit::Level2;
  if (failed(isLevel ? emitLevels(module, files)
                     : emitLibraries(module, files)))
    return failure();
  if (llvm::Error error = files.write(flags->outputDirectory)) {
    llvm::errs() << "posenc-compile: error: "
                 << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  return success();
}

/// Like --help, this needs no other argument.
static bool wantsTargets(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    if (argument == "--target=help" || argument == "-target=help" ||
        ((argument == "--target" || argument == "-target") && i + 1 < argc &&
         llvm::StringRef(argv[i + 1]) == "help"))
      return true;
  }
  return false;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  prepareCommandLine("posenc-compile");
  Options parsed;
  flags = &parsed;
  cl::HideUnrelatedOptions(flags->category);
  if (wantsTargets(argc, argv)) {
    llvm::outs() << describeTargets();
    return 0;
  }
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (llvm::Error error = parsed.spec.check("posenc-compile")) {
    llvm::errs() << "posenc-compile: error: "
                 << llvm::toString(std::move(error)) << "\n";
    return 1;
  }

  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  std::optional<RemarkPrinter> printer;
  if (flags->explain) {
    if (failed(enableRemarks(context)))
      return 1;
    printer.emplace(&context);
  }
  FailureOr<OwningOpRef<ModuleOp>> module =
      loadSpec(context, sources, flags->spec.inputFile);
  if (failed(module))
    return 1;
  return failed(runTool(context, **module));
}
