// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel of a specification on .npy arrays.
#include "Backend.h"

#include "posenc/Compiler/Compile.h"
#include "posenc/Reference/Reference.h"
#include "posenc/Tools/CommandLine.h"
#include "posenc/Tools/OutputFiles.h"
#include "posenc/Tools/Spec.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace posenc;
namespace cl = llvm::cl;

namespace {

struct Options {
  cl::OptionCategory category{"posenc-run options"};
  SpecOptions spec{category,
                   "the kernel to run (default: the first of the file)"};
  IsaOption native{category};
  CacheOptions cache{category};
  cl::opt<std::string> emulator{
      "emulator", cl::value_desc("COMMAND"),
      cl::desc("compile for AArch64 Linux, and run that by this emulator\n"
               "(\"qemu-aarch64 -cpu max\")"),
      cl::cat(category)};
  cl::opt<std::string> entry{
      "entry", cl::init("attention"), cl::value_desc("NAME"),
      cl::desc("what to run: attention (default), append_kv: what fills the\n"
               "cache of a kernel with keys(lengths), keys(paged) or\n"
               "keys(ring), or embed: a posenc.embed"),
      cl::cat(category)};
  cl::opt<std::string> backend{
      "backend", cl::init("native"), cl::value_desc("NAME"),
      cl::desc("native (default): the code that posenc-compile makes;\n"
               "reference: the meaning of the specification, in f64"),
      cl::cat(category)};
  cl::opt<bool> compare{
      "compare",
      cl::desc("run the reference too, print how far the results are from\n"
               "it, and fail if that is more than the kernel's arithmetic\n"
               "explains"),
      cl::cat(category)};
  cl::opt<std::string> queryFile{
      "q", cl::value_desc("Q.npy"),
      cl::desc("queries [B, H, Lq, D], packed [Tq, H, D]"), cl::cat(category)};
  cl::opt<std::string> keyFile{"k", cl::value_desc("K.npy"),
                               cl::desc("keys [B, Hkv, Lk, D], packed\n"
                                        "[Tk, Hkv, D], paged\n"
                                        "[pages, page_size, Hkv, D], in a\n"
                                        "ring [B, Hkv, capacity, D]; those\n"
                                        "to append [B, Hkv, Lq, D] or\n"
                                        "[Tq, Hkv, D]"),
                               cl::cat(category)};
  cl::opt<std::string> valueFile{"v", cl::value_desc("V.npy"),
                                 cl::desc("values, as the keys with Dv for D"),
                                 cl::cat(category)};
  cl::opt<std::string> inputFile{
      "x", cl::value_desc("X.npy"),
      cl::desc("the input embedding [B, L, dim], of --entry=embed"),
      cl::cat(category)};
  cl::list<std::string> operandFiles{
      "input", cl::value_desc("NAME=X.npy"),
      cl::desc("another tensor of the kernel, such as t5_bias.table,\n"
               "positions, key_lengths, page_table, cu_seqlens_q, or\n"
               "k_cache and v_cache of --entry=append_kv;\n"
               "posenc-compile --explain lists them"),
      cl::cat(category)};
  cl::opt<std::string> outputFile{"o", cl::value_desc("O.npy"),
                                  cl::desc("the output [B, H, Lq, Dv], or\n"
                                           "[B, L, dim] of an embedding, or\n"
                                           "the cache of keys after a call"),
                                  cl::cat(category)};
  cl::opt<std::string> valueCacheFile{
      "ov", cl::value_desc("V.npy"),
      cl::desc("the cache of values after a call of --entry=append_kv"),
      cl::cat(category)};
  cl::opt<std::string> keyScalesFile{
      "oks", cl::value_desc("S.npy"),
      cl::desc("the scales of the keys' cache after such a call, of a\n"
               "kernel with kv_scales(token)"),
      cl::cat(category)};
  cl::opt<std::string> valueScalesFile{
      "ovs", cl::value_desc("S.npy"), cl::desc("the same of the values' cache"),
      cl::cat(category)};
  cl::opt<std::string> stateFile{
      "ostate", cl::value_desc("S.npy"),
      cl::desc("the state [B, H, rows, Dv] behind the call, of a kernel with\n"
               "keys(state); that before it is --input state_in="),
      cl::cat(category)};
  cl::opt<std::string> sumsFile{
      "osums", cl::value_desc("Z.npy"),
      cl::desc("the same of the sums [B, H, rows] that divide its output;\n"
               "those before the call are --input sums_in="),
      cl::cat(category)};
  cl::opt<std::string> lseFile{
      "lse", cl::value_desc("LSE.npy"),
      cl::desc("the log-sum-exp of each row of scores [B, H, Lq],\n"
               "natural; -inf in a row that sees no key"),
      cl::cat(category)};
  cl::opt<std::string> scoresFile{
      "scores", cl::value_desc("S.npy"),
      cl::desc("what enters the softmax [B, H, Lq, Lk], masked pairs\n"
               "-inf (reference only)"),
      cl::cat(category)};
  cl::opt<std::string> maskFile{
      "dropout-mask", cl::value_desc("M.npy"),
      cl::desc("which weights a kernel with dropout keeps [B, H, Lq, Lk],\n"
               "u8"),
      cl::cat(category)};
  NumberOption<int32_t> threads{
      "threads",
      cl::init(0),
      cl::value_desc("N"),
      InRange<int32_t>{0},
      cl::desc("threads to use (default: one for each CPU); results do\n"
               "not depend on it"),
      cl::cat(category)};
  NumberOption<int32_t> firstHead{
      "first-head",
      cl::init(0),
      cl::value_desc("N"),
      InRange<int32_t>{0},
      cl::desc("the number in the kernel of the arrays' first head, when\n"
               "they hold only some of its heads (default: 0)"),
      cl::cat(category)};
  NumberOption<unsigned long long> seed{
      "seed", cl::init(0), cl::value_desc("N"),
      cl::desc("the key of the random numbers of dropout and of other draws\n"
               "of embeddings (default: 0)"),
      cl::cat(category)};
  NumberOption<unsigned long long> offset{
      "offset", cl::init(0), cl::value_desc("N"),
      cl::desc("how many random numbers calls before have used (default:\n"
               "0); attention drops other weights for each number"),
      cl::cat(category)};

  /// Options that contradict each other or ask for what does not exist.
  llvm::Error check() const;
  llvm::Error checkEntry() const;
  /// Results that would replace each other or what the run reads.
  llvm::Error checkOutputs() const;
  /// Whether a result is what the call makes of that input.
  bool isUpdate(const cl::opt<std::string> &result, StringRef input) const;
  /// The files of the inputs by name.
  llvm::Expected<llvm::StringMap<std::string>> collectFiles() const;
};

} // namespace

static const char *const overview =
    R"help(posenc: attention kernels with fused position encodings

Runs a kernel of a specification on arrays in NumPy's .npy format. Arrays of 3
axes are one batch entry, arrays of 2 axes one head of it; the results have as
many axes as q. Numbers may be f16, f32, f64 or bf16 (as the u16 of its bits) and are
rounded to the kernel's element type; positions, lengths and tables may be
integers. Codes of keys and values are i8, or u8 for the bits of f8E4M3FN, and their
scales are --input k_scales= and v_scales=.
Results are f32 with --backend=native, rounded to the kernel's type, and f64 with
--backend=reference.

EXAMPLES:
  python3 -c "import numpy as n; r = n.random.default_rng(0); \
      [n.save(x, r.standard_normal((1, 32, 64, 128))) for x in 'qkv']"
  posenc-run specs/llama-2-7b.mlir --q q.npy --k k.npy --v v.npy -o o.npy
      compiles the kernel for this machine (a second run finds it compiled) and
      runs it on all CPUs
  posenc-run specs/llama-2-7b.mlir --compare --q q.npy --k k.npy --v v.npy \
      -o o.npy
      also checks the results against the reference
  posenc-run specs/llama-2-7b.mlir --backend=reference --q q.npy --k k.npy \
      --v v.npy -o wanted.npy --lse lse.npy --scores s.npy
      the same in double precision, with the scores
  python3 -c "import numpy as n; r = n.random.default_rng(0); \
      [n.save(x, r.standard_normal((8, 64, 64))) for x in 'qkv']; \
      n.save('table', r.standard_normal((32, 8)))"
  posenc-run specs/t5-small.mlir --kernel t5_small_encoder \
      --input t5_bias.table=table.npy --q q.npy --k k.npy --v v.npy -o o.npy
      one batch entry of a kernel that takes a table
)help";

/// Prints one error and returns the exit code.
static int fail(const llvm::Twine &message) {
  llvm::errs() << "posenc-run: error: " << message << "\n";
  return 1;
}

/// An empty message: the error has been printed as a diagnostic.
static int fail(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  return message.empty() ? 1 : fail(message);
}

static std::string getName(const cl::Option &option) {
  return ((option.ArgStr.size() == 1 ? "-" : "--") + option.ArgStr).str();
}

/// What not all of the entries have.
llvm::Error Options::checkEntry() const {
  struct Use {
    const cl::Option *option;
    llvm::SmallVector<StringRef, 2> entries;
  };
  const Use uses[] = {{&queryFile, {"attention"}},
                      {&keyFile, {"attention", "append_kv"}},
                      {&valueFile, {"attention", "append_kv"}},
                      {&lseFile, {"attention"}},
                      {&stateFile, {"attention"}},
                      {&sumsFile, {"attention"}},
                      {&scoresFile, {"attention"}},
                      {&maskFile, {"attention"}},
                      {&firstHead, {"attention", "append_kv"}},
                      {&valueCacheFile, {"append_kv"}},
                      {&keyScalesFile, {"append_kv"}},
                      {&valueScalesFile, {"append_kv"}},
                      {&inputFile, {"embed"}},
                      {&seed, {"attention", "embed"}},
                      {&offset, {"attention", "embed"}}};
  for (const Use &use : uses)
    if (use.option->getNumOccurrences() &&
        !llvm::is_contained(use.entries, StringRef(entry)))
      return llvm::createStringError("--" + use.option->ArgStr +
                                     " is an option of --entry=" +
                                     llvm::join(use.entries, " and --entry="));
  if (entry == "append_kv" && valueCacheFile.empty())
    return llvm::createStringError("expected --ov V.npy, but got none");
  return llvm::Error::success();
}

llvm::Error Options::check() const {
  if (llvm::Error error = spec.check("posenc-run"))
    return error;
  if (!llvm::is_contained({"attention", "append_kv", "embed"}, entry))
    return llvm::createStringError("expected --entry to be attention, "
                                   "append_kv or embed, but got '" +
                                   entry + "'");
  if (llvm::Error error = checkEntry())
    return error;
  if (!llvm::is_contained({"native", "reference"}, backend))
    return llvm::createStringError(
        "expected --backend to be native or reference, but got '" + backend +
        "'");
  if (backend == "native" && !scoresFile.empty())
    return llvm::createStringError(
        "--scores needs --backend=reference: native kernels never hold the "
        "scores");
  if (backend == "reference" && !native.isa.empty())
    return llvm::createStringError(
        "--isa needs --backend=native: the reference is not compiled");
  if (backend == "reference" && !emulator.empty())
    return llvm::createStringError(
        "--emulator needs --backend=native: the reference is not compiled");
  if (backend == "reference" && compare)
    return llvm::createStringError(
        "--compare needs --backend=native: it compares with the reference");
  if (outputFile.empty())
    return llvm::createStringError("expected -o O.npy, but got none");
  return checkOutputs();
}

llvm::Error Options::checkOutputs() const {
  llvm::SmallVector<const cl::opt<std::string> *> results;
  for (const cl::opt<std::string> *file :
       {&outputFile, &valueCacheFile, &keyScalesFile, &valueScalesFile,
        &lseFile, &scoresFile, &stateFile, &sumsFile, &maskFile}) {
    if (file->empty())
      continue;
    for (const cl::opt<std::string> *other : results)
      if (isSameFile(*file, *other))
        return llvm::createStringError(
            "expected a file for each result, but got '" + *file +
            "' for both " + getName(*other) + " and " + getName(*file));
    results.push_back(file);
  }
  llvm::Expected<llvm::StringMap<std::string>> inputs = collectFiles();
  if (!inputs)
    return inputs.takeError();
  for (const cl::opt<std::string> *file : results) {
    if (isSameFile(*file, spec.inputFile))
      return llvm::createStringError("expected " + getName(*file) +
                                     " to be another file than the "
                                     "specification, but got '" +
                                     *file + "'");
    for (const auto &[name, path] : *inputs)
      if (!isUpdate(*file, name) && isSameFile(*file, path))
        return llvm::createStringError(
            "expected " + getName(*file) +
            " to be another file than that of '" + name +
            "', which it would replace, but got '" + *file + "'");
  }
  return llvm::Error::success();
}

bool Options::isUpdate(const cl::opt<std::string> &result,
                       StringRef input) const {
  return llvm::is_contained({std::pair(&outputFile, StringRef("k_cache")),
                             {&valueCacheFile, "v_cache"},
                             {&keyScalesFile, "k_scales"},
                             {&valueScalesFile, "v_scales"},
                             {&stateFile, "state_in"},
                             {&sumsFile, "sums_in"}},
                            std::pair(&result, input));
}

llvm::Expected<llvm::StringMap<std::string>> Options::collectFiles() const {
  llvm::StringMap<std::string> files;
  auto add = [&](StringRef name, StringRef path) -> llvm::Error {
    if (!files.try_emplace(name, path.str()).second)
      return llvm::createStringError("expected one file for '" + name +
                                     "', but got two");
    return llvm::Error::success();
  };
  for (auto [name, path] : {std::pair("q", &queryFile),
                            {"k", &keyFile},
                            {"v", &valueFile},
                            {"x", &inputFile}})
    if (!path->empty())
      if (llvm::Error error = add(name, *path))
        return error;
  for (StringRef operand : operandFiles) {
    auto [name, path] = operand.split('=');
    if (name.empty() || path.empty())
      return llvm::createStringError("expected --input NAME=X.npy, but got '" +
                                     operand + "'");
    if (llvm::Error error = add(name, path))
      return error;
  }
  return files;
}

/// The files of scales, exactly where the call writes some.
static llvm::Error checkScales(const Options &command,
                               llvm::ArrayRef<KernelTensor> tensors) {
  for (auto [name, file] : {std::pair("k_scales", &command.keyScalesFile),
                            {"v_scales", &command.valueScalesFile}}) {
    bool areWritten = false;
    for (const KernelTensor &tensor : tensors)
      areWritten |= tensor.isCache && tensor.name == name;
    if (areWritten && file->empty())
      return llvm::createStringError("expected --" + file->ArgStr +
                                     " S.npy, but got none: the call writes "
                                     "the scales of new tokens");
    if (!areWritten && !file->empty())
      return llvm::createStringError(
          "expected no --" + file->ArgStr +
          ", since the call writes no scales: that is what append_kv of a "
          "kernel with kv_scales(token) does");
  }
  return llvm::Error::success();
}

/// What a call leaves is asked for where it leaves it.
static llvm::Error checkState(const Options &command,
                              llvm::ArrayRef<KernelTensor> tensors) {
  for (auto [name, file] : {std::pair("state_out", &command.stateFile),
                            {"sums_out", &command.sumsFile}}) {
    bool isThere = false;
    for (const KernelTensor &tensor : tensors)
      isThere |= tensor.name == name;
    if (!isThere && !file->empty())
      return llvm::createStringError(
          "expected no --" + file->ArgStr + ", since the kernel has no " +
          name + ": that is what keys(state) gives" +
          (StringRef(name) == "sums_out" ? " beside sums that divide" : ""));
  }
  return llvm::Error::success();
}

/// Writes all results or none, without the axes that the inputs left out.
static llvm::Error writeResults(RunResults &results, const Options &command,
                                size_t leftOut) {
  std::vector<NpyFile> files;
  auto add = [&](NpyArray &array, const std::string &path) {
    array.shape.erase(array.shape.begin(), array.shape.begin() + leftOut);
    files.push_back({path, &array});
  };
  add(results.o, command.outputFile);
  if (results.valueCache)
    add(*results.valueCache, command.valueCacheFile);
  if (results.keyScales)
    add(*results.keyScales, command.keyScalesFile);
  if (results.valueScales)
    add(*results.valueScales, command.valueScalesFile);
  if (results.state)
    add(*results.state, command.stateFile);
  if (results.sums)
    add(*results.sums, command.sumsFile);
  if (results.lse)
    add(*results.lse, command.lseFile);
  if (results.scores)
    add(*results.scores, command.scoresFile);
  if (results.mask)
    add(*results.mask, command.maskFile);
  return writeNpyFiles(files);
}

static llvm::Expected<RunOptions> makeRunOptions(const Options &command) {
  RunOptions options;
  options.wantLse = !command.lseFile.empty();
  options.wantScores = !command.scoresFile.empty();
  options.wantMask = !command.maskFile.empty();
  options.wantState = !command.stateFile.empty();
  options.wantSums = !command.sumsFile.empty();
  options.threads = command.threads;
  options.firstHead = command.firstHead;
  options.seed = command.seed;
  options.offset = command.offset;
  if (command.backend != "native")
    return options;
  if (!command.emulator.empty()) {
    llvm::Expected<Emulator> emulator = Emulator::start(command.emulator);
    if (!emulator)
      return emulator.takeError();
    options.emulator = std::move(*emulator);
  }
  llvm::Expected<std::string> isa =
      options.emulator
          ? command.native.choose(getPlatform(*findInstructionSet("aarch64")),
                                  options.emulator->getFeatures())
          : command.native.choose();
  if (!isa)
    return isa.takeError();
  options.isa = *isa;
  options.cacheDirectory = command.cache.getDirectory();
  return options;
}

/// Reads the inputs, runs, compares and writes.
template <typename Kernel, typename RunNative>
static int run(const Options &command, Kernel kernel, const RunOptions &options,
               RunNative runNative) {
  llvm::Expected<llvm::StringMap<std::string>> files = command.collectFiles();
  if (!files)
    return fail(files.takeError());
  std::vector<KernelTensor> tensors = getKernelTensors(kernel);
  if (llvm::Error error = checkScales(command, tensors))
    return fail(std::move(error));
  if (llvm::Error error = checkState(command, tensors))
    return fail(std::move(error));
  llvm::Expected<InputArrays> inputs = readInputs(tensors, *files);
  if (!inputs)
    return fail(inputs.takeError());
  llvm::Expected<RunResults> results =
      command.backend == "reference" ? runReference(kernel, *inputs, options)
                                     : runNative(*inputs);
  if (!results)
    return fail(results.takeError());
  if (command.compare)
    if (llvm::Error error =
            compareWithReference(kernel, *inputs, options, *results))
      return fail(std::move(error));
  // Results have as many axes as what they are made of.
  size_t fullRank = llvm::find_if(tensors, [](auto &tensor) {
                      return tensor.isOutput;
                    })->extents.size();
  size_t rank = std::min(inputs->resultRank, fullRank);
  if (llvm::Error error = writeResults(*results, command, fullRank - rank))
    return fail(std::move(error));
  return 0;
}

/// What is wrong with other kernels of the file is no matter of this run.
static void keepOnly(ModuleOp module, StringRef name) {
  std::string append = (name + "_append_kv").str();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (auto symbol = dyn_cast<SymbolOpInterface>(op);
        symbol && symbol.getName() != name && symbol.getName() != append)
      op.erase();
}

static int runEmbed(const Options &command, ModuleOp module) {
  FailureOr<EmbedOp> selected = selectEmbed(module, command.spec.kernel);
  if (failed(selected))
    return 1;
  std::string name = selected->getSymName().str();
  keepOnly(module, name);
  llvm::Expected<OwningOpRef<ModuleOp>> expanded = cloneExpanded(module);
  if (!expanded)
    return fail(expanded.takeError());
  llvm::Expected<RunOptions> options = makeRunOptions(command);
  if (!options)
    return fail(options.takeError());
  return run(command, *selectEmbed(**expanded, name), *options,
             [&](const InputArrays &inputs) {
               return runNativeEmbed(module, name, inputs, *options);
             });
}

/// `kernel` is the one whose cache is filled.
static int runAppend(const Options &command, ModuleOp module, KernelOp kernel,
                     const RunOptions &options) {
  std::string name = kernel.getSymName().str();
  KernelOp append = findAppendKernel(kernel);
  if (!append)
    return fail(
        "the kernel '" + llvm::Twine(name) +
        "' has no cache: expected keys(lengths), keys(paged) or keys(ring)");
  return run(command, append, options, [&](const InputArrays &inputs) {
    return runNativeAppend(module, name, inputs, options);
  });
}

static int runTool(const Options &command, MLIRContext &context,
                   llvm::SourceMgr &sources) {
  FailureOr<OwningOpRef<ModuleOp>> module =
      loadSpec(context, sources, command.spec.inputFile);
  if (failed(module))
    return 1;
  if (command.entry == "embed")
    return runEmbed(command, **module);
  FailureOr<KernelOp> selected = selectKernel(**module, command.spec.kernel);
  if (failed(selected))
    return 1;
  std::string name = selected->getSymName().str();
  keepOnly(**module, name);
  llvm::Expected<OwningOpRef<ModuleOp>> expanded = cloneExpanded(**module);
  if (!expanded)
    return fail(expanded.takeError());
  KernelOp kernel = *selectKernel(**expanded, name);
  llvm::Expected<RunOptions> options = makeRunOptions(command);
  if (!options)
    return fail(options.takeError());
  if (kernel.isAppend())
    return fail("the kernel '" + llvm::Twine(name) +
                "' fills the cache of another one: expected --entry=append_kv "
                "with that one");
  if (command.entry == "append_kv")
    return runAppend(command, **module, kernel, *options);
  if (options->wantLse && !kernel.exportsLse())
    return fail(
        "--lse: the kernel '" + llvm::Twine(name) + "' " +
        (kernel.getNoLse()
             ? "says no_lse; expected one without that"
             : "has rows without a log-sum-exp; expected one whose weights are "
               "exponentials of scores, such as a softmax's"));
  if (options->wantMask && getDropout(kernel) == 0)
    return fail("--dropout-mask: the kernel '" + llvm::Twine(name) +
                "' drops no weights; expected one with dropout(p), p above 0");
  return run(command, kernel, *options,
             [&](const InputArrays &inputs) -> llvm::Expected<RunResults> {
               auto results = runNative(**module, name, inputs, *options);
               if (!results || !options->wantMask)
                 return results;
               auto mask = makeDropoutMask(kernel, inputs, *options);
               if (!mask)
                 return mask.takeError();
               results->mask = std::move(*mask);
               return results;
             });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  prepareCommandLine("posenc-run");
  Options command;
  cl::HideUnrelatedOptions(command.category);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &stream)) {
    StringRef line = StringRef(problem).split('\n').first;
    line.consume_front("posenc-run: ");
    // What is wrong with a value has been printed already.
    return line.empty() ? 1 : fail(line);
  }
  if (llvm::Error error = command.check())
    return fail(std::move(error));

  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  return runTool(command, context, sources);
}
