// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times a kernel beside the same kernel without encoding and beside what the
// machine can do.
#include "Machine.h"

#include "posenc/Tools/CommandLine.h"
#include "posenc/Tools/OutputFiles.h"
#include "posenc/Tools/Spec.h"
#include "posenc/Tools/Workload.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace posenc;
namespace cl = llvm::cl;

namespace {
enum class Mode { Prefill, Decode };

struct Result {
  std::string mode, dtype, isa;
  int threads;
  int64_t batch, queryLen, keyLen;
  double secondsMin, secondsMedian, gflops, peakGflops, gbytesPerSecond,
      bandwidth, ratioToNoEncoding;
  /// Of a kernel with a state, whose work grows with its tokens alone: it has
  /// no pairs and no keys that are read again.
  std::optional<double> tokensPerSecond;
};
} // namespace

namespace {
struct Options {
  cl::OptionCategory category{"posenc-bench options"};
  SpecOptions spec{category, "kernel to time (default: the first of the file)"};
  IsaOption native{category};
  CacheOptions cache{category};
  WordOption<Mode> mode{
      "mode", cl::desc("sizes to start from:"), cl::init(Mode::Prefill),
      cl::values(clEnumValN(Mode::Prefill, "prefill",
                            "as many queries as keys (2048 unless said)"),
                 clEnumValN(Mode::Decode, "decode",
                            "one query against 4096 keys unless said")),
      cl::cat(category)};
  static constexpr InRange<long long> sizes{1, 1LL << 30},
      queries{0, 1LL << 30};
  NumberOption<long long> batch{
      "batch", cl::value_desc("B"),           cl::init(1),
      sizes,   cl::desc("batch entries (1)"), cl::cat(category)};
  NumbersOption<long long> queryLens{
      "lq",
      cl::CommaSeparated,
      cl::value_desc("N,..."),
      queries,
      cl::desc("numbers of queries, one result each; 0 times a call that has\n"
               "nothing to do"),
      cl::cat(category)};
  NumberOption<long long> keyLen{"lk",
                                 cl::value_desc("N"),
                                 cl::init(0),
                                 sizes,
                                 cl::desc("number of keys (prefill: as many as "
                                          "queries)"),
                                 cl::cat(category)};
  NumberOption<int> threads{
      "threads",       cl::value_desc("T"),     cl::init(1),
      InRange<int>{1}, cl::desc("threads (1)"), cl::cat(category)};
  cl::opt<std::string> dtype{
      "dtype", cl::value_desc("TYPE"),
      cl::desc("f32, bf16 or f16 for q, k, v and o (default: what the\n"
               "specification says)"),
      cl::cat(category)};
  NumberOption<long long> listedStride{
      "listed-every",
      cl::value_desc("N"),
      cl::init(1),
      sizes,
      cl::desc("of kernels with lists of blocks: each block of queries lists\n"
               "every Nth block of keys (1)"),
      cl::cat(category)};
  cl::list<std::string> tiles{
      "tiles", cl::CommaSeparated, cl::value_desc("T=SIZES,..."),
      cl::desc("sizes of tiles, as in posenc-compile --tiles"),
      cl::cat(category)};
  NumberOption<int> repetitions{"repetitions",
                                cl::value_desc("N"),
                                cl::init(7),
                                InRange<int>{1},
                                cl::desc("timed calls of each kernel (7)"),
                                cl::cat(category)};
  cl::opt<std::string> jsonFile{"json", cl::value_desc("OUT.json"),
                                cl::desc("also write the results there"),
                                cl::cat(category)};
};
} // namespace

static Options *flags;

static const char *const overview =
    R"(posenc: how fast a kernel is, and how much of the machine that is

GFLOP/s count pairs that lists of blocks and masks over indices show (other masks hide pairs that
count, so it may exceed the peak), and the peak is that of f32; tables are prepared
beforehand, the rotation of the keys is counted. Kernels with a state have tokens per
second instead. Peak and bandwidth are measured in the same run on the
same threads; times are the minimum (and median) of several calls, in turn with
the kernel without encoding.

EXAMPLES:
  posenc-bench specs/llama-2-7b.mlir
  posenc-bench specs/t5-small.mlir --kernel t5_small_encoder --lq 512,2048 --threads 2
  posenc-bench specs/bloom-7b1.mlir --mode=decode --lk 8192 --json bloom.json
  posenc-bench specs/llama-3-8b.mlir --dtype bf16
  posenc-bench specs/llama-3-8b.mlir --lq 0 --lk 4096
      what a call costs that has nothing to do
)";

[[noreturn]] static void die(const llvm::Twine &message) {
  llvm::errs() << "posenc-bench: error: " << message << "\n";
  exit(1);
}

static CompiledKernel compileFor(ModuleOp module, StringRef name,
                                 StringRef isa) {
  CompileOptions options;
  options.kernel = name.str();
  options.isas = {isa.str()};
  options.cacheDirectory = flags->cache.getDirectory();
  options.tiles = flags->tiles;
  FailureOr<std::vector<CompiledKernel>> kernels = compile(module, options);
  if (failed(kernels))
    exit(1);
  return std::move(kernels->front());
}

static std::unique_ptr<Workload> load(const CompiledKernel &kernel,
                                      KernelOp source, WorkloadSize size,
                                      posenc_pool *pool) {
  auto workload = Workload::create(kernel, source, size, pool);
  if (!workload)
    die(llvm::toString(workload.takeError()));
  return std::move(*workload);
}

/// Seconds of a call, over as many as a clock can tell from nothing.
static double timeCall(const Workload &workload) {
  constexpr double kLeastSeconds = 1e-4;
  double start = now(), passed = 0;
  int calls = 0;
  while (passed < kLeastSeconds) {
    if (llvm::Error error = workload.run())
      die(llvm::toString(std::move(error)));
    ++calls;
    passed = now() - start;
  }
  return passed / calls;
}

static Result measure(const Workload &workload, const Workload &plain,
                      KernelOp kernel, const std::string &isa,
                      WorkloadSize size) {
  timeCall(workload), timeCall(plain); // warm caches and pages
  std::vector<double> seconds;
  double plainSeconds = 1e30, peak = 0, bandwidth = 0;
  for (int i = 0; i < flags->repetitions; ++i) {
    peak = std::max(peak, measurePeak(isa, flags->threads));
    seconds.push_back(timeCall(workload));
    plainSeconds = std::min(plainSeconds, timeCall(plain));
  }
  for (int i = 0; i < 3; ++i)
    bandwidth = std::max(bandwidth, measureReadBandwidth(flags->threads));
  llvm::sort(seconds);

  int64_t headDim = kernel.getHeadDim(), valueDim = kernel.getValueSize();
  double flops = 2.0 * (headDim + valueDim) * kernel.getHeads() * size.batch *
                 countPairs(kernel, size);
  auto getBytes = [](Type type) { return type.getIntOrFloatBitWidth() / 8.0; };
  double bytes =
      (headDim + valueDim) * size.batch *
      (getBytes(kernel.getKeyElementType()) * kernel.getNumKvHeads() *
           size.keyLen +
       getBytes(kernel.getElementType()) * kernel.getHeads() * size.queryLen);
  Result result;
  result.mode = flags->mode == Mode::Prefill ? "prefill" : "decode";
  llvm::raw_string_ostream(result.dtype) << kernel.getElementType();
  result.isa = isa;
  result.threads = flags->threads;
  result.batch = size.batch;
  result.queryLen = size.queryLen;
  result.keyLen = size.keyLen;
  result.secondsMin = seconds.front();
  result.secondsMedian = seconds[seconds.size() / 2];
  result.gflops = flops / seconds.front() / 1e9;
  result.peakGflops = peak;
  result.gbytesPerSecond = bytes / seconds.front() / 1e9;
  result.bandwidth = bandwidth;
  result.ratioToNoEncoding = plainSeconds / seconds.front();
  if (kernel.hasState())
    result.tokensPerSecond = size.batch * size.queryLen / seconds.front();
  return result;
}

static void print(const Result &r) {
  bool isShort = r.secondsMin < 1e-3;
  llvm::outs() << llvm::formatv(
      "{0} {1} {2} threads={3} B={4} Lq={5} Lk={6}: {7:f3} {8}, ", r.mode,
      r.dtype, r.isa, r.threads, r.batch, r.queryLen, r.keyLen,
      r.secondsMin * (isShort ? 1e6 : 1e3), isShort ? "us" : "ms");
  if (r.queryLen == 0) {
    llvm::outs() << "nothing to do\n";
    return;
  }
  if (r.tokensPerSecond)
    llvm::outs() << llvm::formatv("{0:f0} tokens/s, ", *r.tokensPerSecond);
  else
    llvm::outs() << llvm::formatv(
        "{0:f1} GFLOP/s ({1:f1} % of peak {2:f1}), {3:f1} GB/s ({4:f1} % of "
        "{5:f1}), ",
        r.gflops, 100 * r.gflops / r.peakGflops, r.peakGflops,
        r.gbytesPerSecond, 100 * r.gbytesPerSecond / r.bandwidth, r.bandwidth);
  llvm::outs() << llvm::formatv("{0:f3} of no encoding\n", r.ratioToNoEncoding);
  llvm::outs().flush();
}

static std::string toJson(StringRef kernel, ArrayRef<Result> results) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attribute("kernel", kernel);
    json.attribute("cpu", getCpuName());
    json.attributeArray("results", [&] {
      for (const Result &r : results)
        json.object([&] {
          json.attribute("mode", r.mode);
          json.attribute("dtype", r.dtype);
          json.attribute("isa", r.isa);
          json.attribute("threads", r.threads);
          json.attribute("batch", r.batch);
          json.attribute("lq", r.queryLen);
          json.attribute("lk", r.keyLen);
          json.attribute("seconds_min", r.secondsMin);
          json.attribute("seconds_median", r.secondsMedian);
          if (r.tokensPerSecond) {
            json.attribute("tokens_per_s", *r.tokensPerSecond);
          } else {
            json.attribute("gflops", r.gflops);
            json.attribute("peak_gflops", r.peakGflops);
            json.attribute("peak_fraction", r.gflops / r.peakGflops);
            json.attribute("gbytes_per_s", r.gbytesPerSecond);
            json.attribute("bandwidth_gbytes_per_s", r.bandwidth);
            json.attribute("bandwidth_fraction",
                           r.gbytesPerSecond / r.bandwidth);
          }
          json.attribute("ratio_to_no_encoding", r.ratioToNoEncoding);
        });
    });
  });
  stream << "\n";
  return text;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  prepareCommandLine("posenc-bench");
  Options parsed;
  flags = &parsed;
  cl::HideUnrelatedOptions(flags->category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (llvm::Error error = parsed.spec.check("posenc-bench"))
    die(llvm::toString(std::move(error)));
  if (!llvm::is_contained({"", "f32", "bf16", "f16"}, flags->dtype))
    die("expected --dtype=f32, bf16 or f16, found '" + flags->dtype + "'");
  if (!flags->jsonFile.empty() &&
      isSameFile(flags->jsonFile, flags->spec.inputFile))
    die("expected --json to be another file than the specification, but got '" +
        flags->jsonFile + "'");
  if (flags->queryLens.empty())
    flags->queryLens.push_back(flags->mode == Mode::Prefill ? 2048 : 1);

  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = loadSpec(context, sources, flags->spec.inputFile);
  if (failed(module))
    return 1;
  FailureOr<KernelOp> kernel = selectKernel(**module, flags->spec.kernel);
  if (failed(kernel))
    return 1;
  if (!flags->dtype.empty()) {
    kernel->setDtypeAttr(TypeAttr::get(parseType(flags->dtype, &context)));
    kernel->removeKvDtypeAttr();
    kernel->removeKvScalesAttr();
  }

  llvm::Expected<std::string> chosen = flags->native.choose();
  if (!chosen)
    die(llvm::toString(chosen.takeError()));
  std::string isa = *chosen;
  StringRef name = kernel->getSymName();
  OwningOpRef<ModuleOp> plainModule = withoutEncoding(*kernel);
  KernelOp plainKernel = *plainModule->getOps<KernelOp>().begin();
  CompiledKernel compiled = compileFor(**module, name, isa);
  CompiledKernel plainCompiled = compileFor(*plainModule, name, isa);
  posenc_pool *pool = nullptr;
  if (flags->threads > 1 &&
      posenc_pool_create(flags->threads, &pool) != POSENC_OK)
    die(posenc_last_error());

  llvm::outs() << name << " on " << getCpuName() << "\n";
  std::vector<Result> results;
  for (int64_t queryLen : flags->queryLens) {
    int64_t keys = flags->keyLen                 ? int64_t(flags->keyLen)
                   : flags->mode == Mode::Decode ? 4096
                                                 : queryLen;
    WorkloadSize size = {flags->batch, queryLen, keys, flags->listedStride};
    auto workload = load(compiled, *kernel, size, pool);
    auto plain = load(plainCompiled, plainKernel, size, pool);
    results.push_back(
        measure(*workload, *plain, *kernel, compiled.isas.front(), size));
    print(results.back());
  }
  posenc_pool_destroy(pool);

  if (!flags->jsonFile.empty()) {
    OutputFiles files;
    files.add(llvm::sys::path::filename(flags->jsonFile),
              toJson(name, results));
    StringRef directory = llvm::sys::path::parent_path(flags->jsonFile);
    if (llvm::Error error = files.write(directory.empty() ? "." : directory))
      die(llvm::toString(std::move(error)));
  }
  return 0;
}
